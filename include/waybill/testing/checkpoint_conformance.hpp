// SPDX-License-Identifier: MIT
//
// checkpoint_conformance: what a store has to do at `begin`, `load`, `advance`, `commit`, `rollback`.
//
// A part of conformance.hpp, for a store that has checkpoints and nothing else.

#ifndef WAYBILL_TESTING_CHECKPOINT_CONFORMANCE_HPP
#define WAYBILL_TESTING_CHECKPOINT_CONFORMANCE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

/// The rules of `begin`, `load`, `advance`, `commit` and `rollback`.
template <class Make, class Again = no_second>
[[nodiscard]] std::vector<std::string> checkpoint_conformance(Make make, Again again = {})
{
    detail::trial t;
    const partition_key key = detail::key_of("orders", "billing", "0");
    const position five{5, "5@a"};
    const position nine{9, "9@a"};
    const auto none = std::optional<position>();

    {
        auto s = make();
        t.holds(t.stands(s, key, {}), "load: a checkpoint that was never written is absent");
        t.holds(!t.set(s, key, five, nine, 1), "advance: from something where nothing is stored is refused");
        t.holds(t.stands(s, key, {}), "advance: what is refused leaves nothing");
    }
    {
        auto s = make();
        t.holds(t.set(s, key, none, five, 1), "advance: from absent works where nothing is stored");
        t.holds(t.stands(s, key, checkpoint{five, 1}),
                "load: answers what was committed, sequence, offset and epoch");

        t.holds(!t.set(s, key, position{3, ""}, nine, 1),
                "advance: from something earlier than what is stored is refused, though it leads forward");
        t.holds(!t.set(s, key, position{7, ""}, nine, 1),
                "advance: from something later than what is stored is refused");
        t.holds(!t.set(s, key, none, nine, 1), "advance: from absent is refused where something is stored");
        t.holds(t.stands(s, key, checkpoint{five, 1}), "advance: what is refused changes nothing");
        t.holds(t.set(s, key, position{5, "an offset"}, nine, 1), "advance: offsets are not compared");
        t.holds(t.stands(s, key, checkpoint{nine, 1}), "advance: replaces what is stored");
    }
    {
        auto s = make();
        (void)t.set(s, key, none, nine, 1);
        t.holds(t.set(s, key, nine, five, 1) && t.stands(s, key, checkpoint{five, 1}),
                "advance: leads back as well, if `from` is what is stored");
    }
    {
        auto s = make();
        (void)t.set(s, key, none, five, 7);
        t.holds(!t.set(s, key, five, nine, 6), "advance: a lower epoch than the stored one is refused");
        t.holds(t.stands(s, key, checkpoint{five, 7}), "advance: a lower epoch changes nothing");
        t.holds(t.set(s, key, five, nine, 7), "advance: the same epoch is taken");
        t.holds(t.set(s, key, nine, position{12, ""}, 8), "advance: a higher epoch is taken");
        t.holds(t.stands(s, key, checkpoint{position{12, ""}, 8}), "advance: stores the epoch");
        t.holds(!t.set(s, key, five, nine, 9), "advance: a higher epoch does not excuse another `from`");
        t.holds(t.set(s, key, position{12, ""}, position{13, ""}, detail::largest) &&
                    t.stands(s, key, checkpoint{position{13, ""}, detail::largest}),
                "advance: takes every 64-bit epoch");
    }
    {
        auto s = make();
        {
            auto tx = t.open(s);
            if (tx) (void)s.advance(*tx, key, none, five, 1);
        }
        t.holds(t.stands(s, key, {}), "a transaction that goes out of scope is rolled back");
        if (auto tx = t.open(s)) {
            (void)s.advance(*tx, key, none, five, 1);
            tx->rollback();
            t.holds(t.stands(s, key, {}), "rollback removes what was written");
            t.holds(!t.committed(*tx) && t.stands(s, key, {}), "a commit after a rollback does nothing");
        }
        if (auto tx = t.open(s)) {
            (void)s.advance(*tx, key, none, five, 1);
            auto taken = *std::move(tx);
            t.holds(!t.committed(*tx), "a transaction that was moved from commits nothing");
            tx.reset();
            t.holds(t.committed(taken) && t.stands(s, key, checkpoint{five, 1}),
                    "a transaction survives being moved");
        }
        if (auto tx = t.open(s)) {
            tx->rollback();
            if (auto other = t.open(s)) {
                (void)s.advance(*other, key, five, nine, 1);
                *tx = *std::move(other);
                other.reset();
                t.holds(t.committed(*tx) && t.stands(s, key, checkpoint{nine, 1}),
                        "a transaction survives being assigned");
            }
        }
    }
    {
        auto s = make();
        const std::vector<partition_key> keys = detail::similar_keys();
        bool set = true;
        for (std::uint64_t i = 0; i != keys.size(); ++i) {
            set = t.set(s, keys[i], none, position{i, "of this key"}, i) && set;
        }
        for (std::uint64_t i = 0; i != keys.size(); ++i) {
            set = t.stands(s, keys[i], checkpoint{position{i, "of this key"}, i}) && set;
        }
        t.holds(set, "checkpoints of different keys are independent, whatever characters are in them");
    }
    {
        auto s = make();
        const std::uint64_t high = std::uint64_t{1} << 63U;
        const std::uint64_t steps[] = {0, 1, (std::uint64_t{1} << 53U) + 1, high - 1, high, detail::largest};
        std::optional<position> from;
        for (const std::uint64_t n : steps) {
            const position to{n, ""};
            t.holds(t.set(s, key, from, to, 1) && t.stands(s, key, checkpoint{to, 1}),
                    "sequence numbers are 64 bits wide, from 0 to the largest");
            t.holds(!t.set(s, key, none, nine, 1), "a checkpoint at 0 is not an absent one");
            from = to;
        }
    }
    if constexpr (!std::is_same_v<Again, no_second>) {
        {
            auto s = make();
            decltype(auto) other = again(s);
            if (auto tx = t.open(s)) {
                (void)s.advance(*tx, key, none, five, 1);
                const auto seen = other.load(key);
                t.holds(!seen || !*seen, "a checkpoint is seen by nobody before it is committed");
                (void)tx->commit();
            }
            t.holds(t.stands(other, key, checkpoint{five, 1}), "a committed checkpoint is seen by everybody");
        }
        // Some stores refuse the second begin, some the second advance, some the second commit.
        for (const bool second_first : {false, true}) {
            auto s = make();
            decltype(auto) other = again(s);
            const position to[] = {{5, "first"}, {6, "second"}};
            bool won[] = {false, false};
            {
                auto mine = s.begin();
                bool ready = false;
                if (mine) {
                    const auto a = s.advance(*mine, key, none, to[0], 1);
                    ready = a && *a == advance_outcome::applied;
                }
                auto theirs = other.begin();
                bool theirs_ready = false;
                if (theirs) {
                    const auto a = other.advance(*theirs, key, none, to[1], 1);
                    theirs_ready = a && *a == advance_outcome::applied;
                }
                if (second_first && theirs_ready) won[1] = t.committed(*theirs);
                if (ready) won[0] = t.committed(*mine);
                if (!second_first && theirs_ready) won[1] = t.committed(*theirs);
            }
            t.holds(!(won[0] && won[1]), "of two transactions with the same `from` at most one takes effect");
            const int winner = won[0] ? 0 : 1;
            const bool any = won[0] || won[1];
            t.holds(any ? t.stands(s, key, checkpoint{to[winner], 1}) : t.stands(s, key, {}),
                    "of two transactions that race the one that says so took effect");
            t.holds(any || t.set(s, key, none, five, 1), "after a race that nobody won the next one works");
        }
    }
    return std::move(t.broken);
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_CHECKPOINT_CONFORMANCE_HPP
