// SPDX-License-Identifier: MIT
//
// outage_rules: the rules of a store that cannot be reached, for outage_conformance.

#ifndef WAYBILL_TESTING_DETAIL_OUTAGE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_OUTAGE_RULES_HPP

#include <optional>

#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// The calls of the suite to a store that cannot be reached.
template <class S>
class outage_trial {
public:
    outage_trial(S& s, trial& t) : store_(s), trial_(t) {}

    /// True if the result is an error. An error of the kind `ownership_lost` or `cancelled` breaks
    /// a rule.
    template <class R>
    [[nodiscard]] bool fails(const R& r)
    {
        if (r) return false;
        const fault_kind kind = r.error().kind;
        trial_.holds(kind != fault_kind::ownership_lost && kind != fault_kind::cancelled,
                     "a store that cannot be reached returns neither ownership_lost nor cancelled: "
                     "its partition would be given up");
        return true;
    }
    /// True if the transaction cannot be begun or committed, or if write(transaction) fails.
    template <class Write>
    [[nodiscard]] bool not_committed(Write write)
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
    outage_trial<S> outage(s, t);
    const position to{stored.sequence + 4, "9@a"};
    t.holds(outage.fails(s.load(key)) && outage.fails(s.load(neighbours(key).front())),
            "load: while the store cannot be reached, the result is an error, not an absent "
            "checkpoint");
    bool any_conflict = false;
    const auto writes = [&](const result<advance_outcome>& r) {
        any_conflict = any_conflict || (r && *r != advance_outcome::applied);
        return !outage.fails(r);
    };
    bool refused = true;
    for (const std::optional<position>& from : {std::optional(stored), std::optional<position>()}) {
        const auto advances = [&](auto& tx) { return writes(s.advance(tx, key, from, to, 1)); };
        refused = outage.not_committed(advances) && refused;
    }
    t.holds(!any_conflict,
            "advance: while the store cannot be reached, the result is an error, not a conflict");
    t.holds(refused, "advance: is not committed to a store that cannot be reached");
    if constexpr (checkpoint_reset<S>) {
        any_conflict = false;
        const auto resets = [&](auto& tx) { return writes(s.reset(tx, key, stored, 1)); };
        t.holds(outage.not_committed(resets),
                "reset: is not committed to a store that cannot be reached");
        t.holds(!any_conflict,
                "reset: while the store cannot be reached, the result is an error, not a conflict");
    }
}

template <class S>
void letter_outage_rules(S& s, trial& t, const dead_letter& stored)
{
    outage_trial<S> outage(s, t);
    t.holds(
        outage.fails(s.find(stored.key, stored.at.sequence)) &&
            outage.fails(s.find(stored.key, stored.at.sequence + 1)),
        "find: while the store cannot be reached, the result is an error, not an absent letter");
    t.holds(outage.not_committed([&](auto& tx) { return !outage.fails(s.put(tx, stored)); }),
            "put: is not committed to a store that cannot be reached");
    if constexpr (dead_letter_queue<S>) {
        t.holds(outage.fails(s.list(stored.key, {}, 10)),
                "list: while the store cannot be reached, the result is an error, and not empty");
        bool absent = false;
        const bool refused = outage.not_committed([&](auto& tx) {
            const auto r = s.remove(tx, stored.key, stored.at.sequence);
            absent = r && !*r;
            return !outage.fails(r);
        });
        t.holds(!absent,
                "remove: while the store cannot be reached, the result is an error, not an absent "
                "letter");
        t.holds(refused, "remove: is not committed to a store that cannot be reached");
    }
}

template <class S>
void crash_record_outage_rules(S& s, trial& t, const partition_key& key, const crash_record& stored)
{
    outage_trial<S> outage(s, t);
    t.holds(outage.fails(s.load_crash_record(key)) &&
                outage.fails(s.load_crash_record(neighbours(key).front())),
            "load_crash_record: while the store cannot be reached, the result is an error, not an "
            "absent row");
    t.holds(outage.not_committed([&](auto& tx) {
        return !outage.fails(s.store_crash_record(tx, key, stored));
    }) && outage.not_committed([&](auto& tx) {
        return !outage.fails(s.clear_crash_record(tx, key));
    }),
            "store_crash_record and clear_crash_record: are not committed to a store that cannot "
            "be reached");
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_OUTAGE_RULES_HPP
