// SPDX-License-Identifier: MIT
//
// trial: calls one store of a conformance suite, and collects the rules that it breaks. `run_rules`
// runs the list of rules of a suite.

#ifndef WAYBILL_TESTING_DETAIL_TRIAL_HPP
#define WAYBILL_TESTING_DETAIL_TRIAL_HPP

#include <cstdint>
#include <initializer_list>
#include <memory>
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
inline constexpr std::string_view no_broken_rule = "no broken rule before it";
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
    plain,        ///< All calls use one connection.
    repeated,     ///< Calls that may be repeated after an error are made twice.
    alternating,  ///< Calls use two connections in turn.
    reopened,     ///< Each call uses a new connection, which is closed after the call.
};

[[nodiscard]] constexpr std::string_view text_of(way how) noexcept
{
    constexpr std::string_view texts[] = {"", "; if each call is made twice",
                                          "; if two connections are used in turn",
                                          "; if each call uses a new connection"};
    return texts[static_cast<int>(how)];
}

/// A new store, and the connections to it that a way needs.
template <class Make, class Again>
class connections {
public:
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;

    connections(Make& make, Again& again, way how)
        : how_(how), again_(again), first_(make()), second_(again(first_))
    {
    }

    /// Calls f with the store, through a connection of the way.
    template <class F>
    auto through(F f)
    {
        if (how_ == way::reopened) {
            decltype(auto) other = again_(first_);
            return f(other);
        }
        in_turn_ = !in_turn_;
        return how_ == way::alternating && in_turn_ ? f(second_) : f(first_);
    }
    /// A connection of the way. A new one is closed with the last copy of the result.
    [[nodiscard]] std::shared_ptr<store> kept()
    {
        using again_t = std::invoke_result_t<Again&, store&>;
        if constexpr (!std::is_reference_v<again_t>) {
            if (how_ == way::reopened) return std::shared_ptr<store>(new store(again_(first_)));
        }
        in_turn_ = !in_turn_;
        store* const used = how_ == way::alternating && in_turn_ ? &second_ : &first_;
        return std::shared_ptr<store>(std::shared_ptr<store>(), used);
    }
    /// Calls f with the store and a second connection.
    template <class F>
    void with_two(F f)
    {
        f(first_, second_);
    }
    [[nodiscard]] bool repeats() const noexcept { return how_ == way::repeated; }

private:
    way how_;
    Again& again_;
    store first_;
    std::invoke_result_t<Again&, store&> second_;
    bool in_turn_ = false;
};

/// A rule of a suite. `X` has a new store for each run of `body`.
template <class X>
struct rule {
    std::string_view promise;
    void (*body)(X&);
    std::string_view needs{};  ///< The argument that the caller omitted. Then the rule is untested.
    /// Not 0: the rule uses two connections by itself, and is run this number of times in
    /// one way. If its result depends on chance, the number is more than 1.
    int rounds = 0;
    bool large = false;  ///< Many rows or long values: untested if a rule before it is broken.
};

/// Runs all rules in the first way, `plain`. If none is broken, runs them in the other ways, until
/// one is broken. `with_new(how, body)` calls `body` with a new store. A way that is not run is
/// untested.
template <class Again, class Rules, class F>
void run_rules(trial& t, const Rules& rules, std::initializer_list<way> ways, F with_new)
{
    const auto run = [&](const auto& r, way how) {
        if (!r.needs.empty()) return t.untested(r.promise, r.needs);
        if (r.large && !t.report.broken.empty()) return t.untested(r.promise, no_broken_rule);
        for (int n = 0; n < (r.rounds == 0 ? 1 : r.rounds); ++n) with_new(how, r.body);
    };
    for (const way how : ways) {
        t.calls = text_of(how);
        const bool connected = has_second<Again> || how < way::alternating;
        if (how != way::plain && (!connected || !t.report.broken.empty())) {
            t.untested("each rule" + std::string(t.calls),
                       connected ? no_broken_rule : second_connection);
            continue;
        }
        for (const auto& r : rules) {
            if (how == way::plain || (r.rounds == 0 && r.needs.empty())) run(r, how);
        }
    }
    t.calls = {};
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_TRIAL_HPP
