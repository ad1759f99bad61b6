// SPDX-License-Identifier: MIT
//
// checkpoint_conformance: what a store has to do at `begin`, `load`, `advance`, `commit`, `rollback`,
// and at `reset`, if it has that.
//
// A part of conformance.hpp, for a store that has checkpoints and nothing else.

#ifndef WAYBILL_TESTING_CHECKPOINT_CONFORMANCE_HPP
#define WAYBILL_TESTING_CHECKPOINT_CONFORMANCE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

namespace detail {

/// Resets in a transaction of its own; true if that took effect.
template <class S>
bool put_back(trial& t, S& s, const partition_key& key, const position& from, std::uint64_t epoch)
{
    auto tx = t.open(s);
    if (!tx) return false;
    const auto a = s.reset(*tx, key, from, epoch);
    if (!a || *a != advance_outcome::applied) return false;
    return trial::committed(*tx);
}

/// The rules of `reset`.
template <class Make, class Again>
void reset_conformance(trial& t, Make& make, Again& again)
{
    const partition_key key = key_of("orders", "billing", "0");
    const partition_key other_key = key_of("orders", "billing", "1");
    const position zero{0, "0@a"};
    const position five{5, "5@a"};
    const auto none = std::optional<position>();
    {
        auto s = make();
        t.holds(!put_back(t, s, key, five, 1), "reset: from something where nothing is stored is refused");
        t.holds(t.stands(s, key, {}), "reset: what is refused leaves nothing");
    }
    {
        auto s = make();
        (void)t.set(s, key, none, five, 3);
        (void)t.set(s, other_key, none, five, 9);
        t.holds(!put_back(t, s, key, position{4, ""}, 3), "reset: from something else than what is stored is refused");
        t.holds(!put_back(t, s, key, five, 2), "reset: a lower epoch than the stored one is refused");
        t.holds(t.stands(s, key, checkpoint{five, 3}), "reset: what is refused changes nothing");
        if (auto tx = t.open(s)) {
            (void)s.reset(*tx, key, five, 3);
            tx->rollback();
            t.holds(t.stands(s, key, checkpoint{five, 3}), "reset: a rollback brings the checkpoint back");
        }
        t.holds(put_back(t, s, key, position{5, "an offset"}, 4), "reset: works from what is stored, whatever its offset");
        t.holds(t.stands(s, key, {}), "reset: leaves no checkpoint to load");
        t.holds(t.stands(s, other_key, checkpoint{five, 9}), "reset: other keys are left alone");
        t.holds(!put_back(t, s, key, five, 4), "reset: a second one finds nothing to reset");
        t.holds(!t.set(s, key, five, position{6, ""}, 4), "reset: what stood there before is no `from` any more");
        t.holds(!t.set(s, key, none, zero, 3), "reset: the epoch goes on guarding against lower ones");
        t.holds(t.set(s, key, none, zero, 4) && t.stands(s, key, checkpoint{zero, 4}),
                "reset: advance from absent works under its epoch, and to 0 as well");
        t.holds(put_back(t, s, key, zero, 7) && t.set(s, key, none, five, 8) &&
                    t.stands(s, key, checkpoint{five, 8}),
                "reset: works at 0, and advance from absent under a higher epoch");
    }
    if constexpr (!std::is_same_v<Again, no_second>) {
        auto s = make();
        (void)t.set(s, key, none, five, 1);
        (void)put_back(t, s, key, five, 1);
        decltype(auto) other = again(s);
        t.holds(t.stands(other, key, {}), "reset: is seen by everybody");
        t.holds(!t.set(other, key, none, zero, 0), "reset: guards against others");
    }
}

}  // namespace detail

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
        if (auto ended = t.open(s)) {
            ended->rollback();
            if (auto tx = t.open(s)) {
                (void)s.advance(*tx, key, none, five, 1);
                *tx = *std::move(ended);
                t.holds(!t.committed(*tx) && t.stands(s, key, {}) && t.set(s, key, none, five, 1),
                        "a transaction that is assigned over is rolled back, and in nobody's way");
            }
        }
        // Not every store has two at once.
        auto mine = s.begin();
        auto theirs = s.begin();
        if (mine && theirs) {
            const partition_key other_key = detail::key_of("orders", "billing", "1");
            const auto first = s.advance(*mine, key, five, nine, 1);
            const auto second = s.advance(*theirs, other_key, none, nine, 1);
            *mine = *std::move(theirs);
            const bool committed = t.committed(*mine);
            t.holds(!first || !second || (committed && t.stands(s, other_key, checkpoint{nine, 1}) &&
                        t.stands(s, key, checkpoint{five, 1})),
                    "a transaction that is assigned over is rolled back, and the one assigned goes on");
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
        std::vector<partition_key> keys = detail::neighbours(key);
        keys.push_back(key);
        bool alone = true;
        for (const partition_key& k : keys) alone = t.set(s, k, none, five, 1) && alone;
        for (std::size_t i = 0; i != keys.size(); ++i) {
            alone = t.set(s, keys[i], five, nine, 1) && t.stands(s, keys[i], checkpoint{nine, 1}) && alone;
            for (std::size_t after = i + 1; after != keys.size(); ++after) {
                alone = t.stands(s, keys[after], checkpoint{five, 1}) && alone;
            }
        }
        t.holds(alone, "advance: other keys are left alone, where they stand at the same as well");
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
    if constexpr (checkpoint_reset<std::remove_cvref_t<std::invoke_result_t<Make&>>>) {
        detail::reset_conformance(t, make, again);
    }
    return std::move(t.broken);
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_CHECKPOINT_CONFORMANCE_HPP
