// SPDX-License-Identifier: MIT
//
// trial: calls one store of a conformance suite, and collects the rules that it breaks. `run_rules`
// runs the list of rules of a suite.

#ifndef WAYBILL_TESTING_DETAIL_TRIAL_HPP
#define WAYBILL_TESTING_DETAIL_TRIAL_HPP

#include <array>
#include <cstdint>
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
inline constexpr std::string_view stored_reasons =
    "a function that returns the reasons of dead letters";

/// The report of a suite, and the calls to a store that several groups of rules need.
class trial {
public:
    /// Reports `rule` as broken if `condition` is false. Returns the condition.
    bool holds(bool condition, std::string_view rule)
    {
        if (!condition) add(report.broken, std::string(rule) + std::string(calls));
        return condition;
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
    std::string_view calls{};  ///< Added to broken rules: the way in which calls are made.

private:
    static void add(std::vector<std::string>& rules, std::string rule)
    {
        for (const std::string& known : rules) {
            if (known == rule) return;
        }
        rules.push_back(std::move(rule));
    }
};

/// The ways in which the runner makes the calls of a rule.
enum class way : std::uint8_t {
    plain,     ///< All calls use one connection.
    reopened,  ///< Each call uses a new connection, which is closed after the call.
    repeated,  ///< Calls that may be repeated after an error are made twice.
};

[[nodiscard]] constexpr std::string_view text_of(way how) noexcept
{
    constexpr std::string_view texts[] = {"", "; if each call uses a new connection",
                                          "; if each call is made twice"};
    return texts[static_cast<int>(how)];
}

/// A rule of a suite. `X` has a new store for each run of `body`.
template <class X>
struct rule {
    std::string_view promise;
    void (*body)(X&);
    std::string_view needs{};  ///< The argument that the caller omitted. Then the rule is untested.
    /// Not 0: the rule uses two connections by itself, and is run this number of times in
    /// one way. If its result depends on chance, the number is more than 1.
    int rounds = 0;
};

/// The way of a suite whose messages belong to the connection that has received them.
inline constexpr std::array<way, 1> one_way{way::plain};

/// The ways of a suite whose calls may use different connections.
template <class Again>
inline constexpr std::array<way, has_second<Again> ? 3 : 2> ways_with = [] {
    if constexpr (has_second<Again>) return std::array{way::plain, way::repeated, way::reopened};
    else return std::array{way::plain, way::repeated};
}();

/// Runs each rule in all ways. `with_new(how, body)` calls `body` with a new store. A rule that is
/// broken in one way is not tried in the next one.
template <class Rules, class Ways, class F>
void run_rules(trial& t, const Rules& rules, const Ways& ways, F with_new)
{
    for (const auto& r : rules) {
        if (!r.needs.empty()) {
            t.untested(r.promise, r.needs);
            continue;
        }
        for (const way how : ways) {
            const auto broken = t.report.broken.size();
            t.calls = text_of(how);
            for (int n = 0; n < (r.rounds == 0 ? 1 : r.rounds); ++n) with_new(how, r.body);
            t.calls = {};
            if (t.report.broken.size() != broken || r.rounds != 0) break;
        }
    }
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_TRIAL_HPP
