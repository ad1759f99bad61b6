// SPDX-License-Identifier: MIT
//
// outage_conformance: checks that a store returns errors if it cannot be reached.
//
// If a store reports an outage as an absent checkpoint, the consumer begins again at the first
// event. If it reports a conflict, the consumer gives up its partition. The second argument makes
// the database unusable:
//
//     const auto report = waybill::testing::outage_conformance(
//         [&] { return my_store(new_empty_database()); },
//         [&](my_store& s) { drop_the_tables_of(s.path()); });
//     for (const auto& rule : report.broken) log(rule);

#ifndef WAYBILL_TESTING_OUTAGE_CONFORMANCE_HPP
#define WAYBILL_TESTING_OUTAGE_CONFORMANCE_HPP

#include <optional>
#include <type_traits>
#include <utility>

#include <waybill/testing/trial.hpp>
#include <waybill/testing/trial_values.hpp>

namespace waybill::inline v0_2::testing {

namespace detail {

/// The calls of the suite to a store that cannot be reached.
template <class S>
class outage_trial {
public:
    outage_trial(S& s, trial& t) : store_(s), trial_(t) {}

    /// Whether the call returns an error. An error of class `ownership_lost` or `cancelled` also
    /// breaks a rule.
    template <class R>
    [[nodiscard]] bool fails(const R& r)
    {
        if (r) return false;
        const fault_kind kind = r.error().kind;
        trial_.holds(kind != fault_kind::ownership_lost && kind != fault_kind::cancelled,
                     "a store that cannot be reached answers neither ownership_lost nor cancelled: "
                     "its partition would be given up");
        return true;
    }
    /// Whether the writes of write(transaction) fail at once or at the commit.
    template <class Write>
    [[nodiscard]] bool never(Write write)
    {
        auto tx = store_.begin();
        return fails(tx) || !write(*tx) || !trial::committed(*tx);
    }

private:
    S& store_;
    trial& trial_;
};

template <class S>
void checkpoint_outage_rules(S& s, trial& t, const partition_key& key, const position& stored)
{
    outage_trial<S> on(s, t);
    const position to{stored.sequence + 4, "9@a"};
    t.holds(on.fails(s.load(key)) && on.fails(s.load(neighbours(key).front())),
            "load: a store that cannot be reached is an error, not an absent checkpoint");
    bool answered = false;
    const auto writes = [&](const result<advance_outcome>& r) {
        answered = answered || (r && *r != advance_outcome::applied);
        return !on.fails(r);
    };
    bool refused = true;
    for (const std::optional<position>& from : {std::optional(stored), std::optional<position>()}) {
        const auto advances = [&](auto& tx) { return writes(s.advance(tx, key, from, to, 1)); };
        refused = on.never(advances) && refused;
    }
    t.holds(!answered, "advance: a store that cannot be reached is an error, not a conflict");
    t.holds(refused, "advance: is not committed to a store that cannot be reached");
    if constexpr (checkpoint_reset<S>) {
        answered = false;
        const auto resets = [&](auto& tx) { return writes(s.reset(tx, key, stored, 1)); };
        t.holds(on.never(resets), "reset: is not committed to a store that cannot be reached");
        t.holds(!answered, "reset: a store that cannot be reached is an error, not a conflict");
    }
}

template <class S>
void letter_outage_rules(S& s, trial& t, const dead_letter& stored)
{
    outage_trial<S> on(s, t);
    t.holds(on.fails(s.find(stored.key, stored.at.sequence)) &&
                on.fails(s.find(stored.key, stored.at.sequence + 1)),
            "find: a store that cannot be reached is an error, not an absent letter");
    t.holds(on.never([&](auto& tx) { return !on.fails(s.put(tx, stored)); }),
            "put: is not committed to a store that cannot be reached");
    if constexpr (dead_letter_queue<S>) {
        t.holds(on.fails(s.list(stored.key, {}, 10)),
                "list: a store that cannot be reached is an error, and not empty");
        bool answered = false;
        const bool refused = on.never([&](auto& tx) {
            const auto r = s.remove(tx, stored.key, stored.at.sequence);
            answered = r && !*r;
            return !on.fails(r);
        });
        t.holds(!answered,
                "remove: a store that cannot be reached is an error, not an absent letter");
        t.holds(refused, "remove: is not committed to a store that cannot be reached");
    }
}

template <class S>
void attempt_outage_rules(S& s, trial& t, const partition_key& key, const crash_record& stored)
{
    outage_trial<S> on(s, t);
    t.holds(on.fails(s.attempted(key)) && on.fails(s.attempted(neighbours(key).front())),
            "attempted: a store that cannot be reached is an error, not an absent row");
    t.holds(on.never([&](auto& tx) { return !on.fails(s.note(tx, key, stored)); }) &&
                on.never([&](auto& tx) { return !on.fails(s.forget(tx, key)); }),
            "note and forget: are not committed to a store that cannot be reached");
}

}  // namespace detail

/// Tries the rules of an outage. `make()` returns a new, empty store. `breaks(store)` makes it
/// unreachable after some rows have been written.
template <class Make, class Break>
[[nodiscard]] conformance_report outage_conformance(Make make, Break breaks)
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    detail::trial t;
    const partition_key key = detail::key_of("orders", "billing", "0");
    const position five{5, "5@a"};
    const dead_letter letter = detail::letter_of(key, 1, "first");
    const crash_record row{17, 100, 2, 3};

    auto s = make();
    bool ready = true;
    if constexpr (checkpoint_store<store>) ready = t.set(s, key, {}, five, 1) && ready;
    if constexpr (dead_letter_store<store>) ready = t.park(s, letter) && ready;
    if constexpr (attempt_store<store>) {
        auto tx = t.open(s);
        ready = tx && s.note(*tx, key, row) && t.committed(*tx) && ready;
    }
    t.holds(ready, "a store that can be reached takes what is written");
    breaks(s);
    if constexpr (checkpoint_store<store>) detail::checkpoint_outage_rules(s, t, key, five);
    if constexpr (dead_letter_store<store>) detail::letter_outage_rules(s, t, letter);
    if constexpr (attempt_store<store>) detail::attempt_outage_rules(s, t, key, row);
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_OUTAGE_CONFORMANCE_HPP
