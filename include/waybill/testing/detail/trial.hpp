// SPDX-License-Identifier: MIT
//
// trial: calls one store of a conformance suite, and collects the rules that it breaks.

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

template <class Connect>
inline constexpr bool has_second = !std::is_same_v<std::remove_cvref_t<Connect>, no_second>;
template <class Race>
inline constexpr bool has_race = !std::is_same_v<std::remove_cvref_t<Race>, no_race>;

inline constexpr std::string_view second_connection = "a second connection";
inline constexpr std::string_view two_threads = "two threads";
inline constexpr std::string_view threads_and_connections = "a second connection and two threads";

/// The report of a suite, and the calls to a store that several groups of rules need.
class trial {
public:
    /// Reports `rule` as broken if `condition` is false.
    void holds(bool condition, std::string_view rule)
    {
        if (!condition) add(report.broken, std::string(rule));
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
        holds(begun.has_value(), "begin opens a transaction if no other is open");
        if (!begun) return {};
        return *std::move(begun);
    }

    /// Advances a checkpoint in a separate transaction. Returns whether the advance was committed.
    template <class S>
    bool advance(S& s, const partition_key& key, const std::optional<position>& from,
                 const position& to, std::uint64_t epoch)
    {
        auto tx = open(s);
        if (!tx) return false;
        const auto a = s.advance(*tx, key, from, to, epoch);
        if (!a || *a != advance_outcome::applied) return false;
        return committed(*tx);
    }

    /// Stores a dead letter in a separate transaction. Returns whether the write was committed.
    template <class S>
    bool put(S& s, const dead_letter& letter)
    {
        auto tx = open(s);
        return tx && s.put(*tx, letter) && committed(*tx);
    }

    /// Commits. Returns whether the commit was applied.
    template <class Tx>
    static bool committed(Tx& tx)
    {
        const auto c = tx.commit();
        return c && *c == commit_outcome::applied;
    }

    template <class S>
    static bool checkpoint_is(S& s, const partition_key& key,
                              const std::optional<checkpoint>& expected)
    {
        const auto r = s.load(key);
        return r && *r == expected;
    }

    /// True if the store returns exactly this dead letter.
    template <class S>
    static bool has(S& s, const dead_letter& letter)
    {
        const auto r = s.find(letter.key, letter.at.sequence);
        return r && *r && **r == letter;
    }

    /// True if the store has no dead letter of this event.
    template <class S>
    static bool missing(S& s, const dead_letter& letter)
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
