// SPDX-License-Identifier: MIT
//
// trial: the calls that all parts of a conformance suite share, and their report.

#ifndef WAYBILL_TESTING_DETAIL_TRIAL_HPP
#define WAYBILL_TESTING_DETAIL_TRIAL_HPP

#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/consume/stores.hpp>
#include <waybill/testing/conformance_report.hpp>

namespace waybill::inline v0_2::testing::detail {

template <class Again>
inline constexpr bool has_second = !std::is_same_v<std::remove_cvref_t<Again>, no_second>;
template <class Race>
inline constexpr bool has_race = !std::is_same_v<std::remove_cvref_t<Race>, in_turn>;

inline constexpr std::string_view second_connection = "a second connection";
inline constexpr std::string_view two_threads = "two threads";
inline constexpr std::string_view threads_and_connections = "a second connection and two threads";

/// The calls that all parts of a suite share, and their report.
class trial {
public:
    /// Reports `rule` as broken if `it_does` is false.
    void holds(bool it_does, std::string_view rule)
    {
        if (!it_does) add(report.broken, std::string(rule));
    }
    /// Reports `rule` as not tried. `needs` is the missing requirement.
    void untested(std::string_view rule, std::string_view needs)
    {
        add(report.untested, std::string(rule) + " (needs " + std::string(needs) + ")");
    }

    template <class S>
    std::optional<typename S::transaction> open(S& s)
    {
        auto begun = s.begin();
        holds(begun.has_value(), "begin opens a transaction where no other is open");
        if (!begun) return {};
        return *std::move(begun);
    }

    /// Advances in a separate transaction. Returns whether it was committed.
    template <class S>
    bool set(S& s, const partition_key& key, const std::optional<position>& from,
             const position& to, std::uint64_t epoch)
    {
        auto tx = open(s);
        if (!tx) return false;
        const auto a = s.advance(*tx, key, from, to, epoch);
        if (!a || *a != advance_outcome::applied) return false;
        return committed(*tx);
    }

    template <class S>
    bool park(S& s, const dead_letter& letter)
    {
        auto tx = open(s);
        return tx && s.put(*tx, letter) && committed(*tx);
    }

    template <class Tx>
    static bool committed(Tx& tx)
    {
        const auto c = tx.commit();
        return c && *c == commit_outcome::applied;
    }

    template <class S>
    static bool stands(S& s, const partition_key& key, const std::optional<checkpoint>& at)
    {
        const auto r = s.load(key);
        return r && *r == at;
    }

    template <class S>
    static bool has(S& s, const dead_letter& letter)
    {
        const auto r = s.find(letter.key, letter.at.sequence);
        return r && *r && **r == letter;
    }

    template <class S>
    static bool lacks(S& s, const dead_letter& letter)
    {
        const auto r = s.find(letter.key, letter.at.sequence);
        return r && !*r;
    }

    conformance_report report;

private:
    static void add(std::vector<std::string>& rules, std::string rule)
    {
        for (const std::string& known : rules) {
            if (known == rule) return;
        }
        rules.push_back(std::move(rule));
    }
};

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_TRIAL_HPP
