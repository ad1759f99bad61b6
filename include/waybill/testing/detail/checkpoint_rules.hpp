// SPDX-License-Identifier: MIT
//
// checkpoint_rules: the rules of the checkpoints of a store (`load`, `advance`, `reset`).
//
// A part of conformance.hpp. The rules of `reset` apply only to a store that has this call.

#ifndef WAYBILL_TESTING_DETAIL_CHECKPOINT_RULES_HPP
#define WAYBILL_TESTING_DETAIL_CHECKPOINT_RULES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// Resets in a separate transaction. Returns whether the reset was committed.
template <class S>
bool reset_checkpoint(trial& t, S& s, const partition_key& key, const position& from,
                      std::uint64_t epoch)
{
    auto tx = t.open(s);
    if (!tx) return false;
    const auto a = s.reset(*tx, key, from, epoch);
    if (!a || *a != advance_outcome::applied) return false;
    return trial::committed(*tx);
}

/// The rules of `reset`.
template <class S>
void reset_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "0");
    const partition_key other_key = key_of("orders", "billing", "1");
    const position zero{0, "0@a"};
    const position five{5, "5@a"};
    const std::optional<position> none;
    t.holds(!reset_checkpoint(t, s, key, five, 1) && !reset_checkpoint(t, s, key, zero, 1),
            "reset: a `from` is refused if no checkpoint is stored");
    t.holds(t.checkpoint_is(s, key, {}), "reset: a refused one stores nothing");
    (void)t.advance(s, key, none, five, 3);
    (void)t.advance(s, other_key, none, five, 9);
    t.holds(!reset_checkpoint(t, s, key, position{4, ""}, 3),
            "reset: a `from` that is not the stored checkpoint is refused");
    t.holds(!reset_checkpoint(t, s, key, five, 2),
            "reset: a lower epoch than the stored one is refused");
    t.holds(t.checkpoint_is(s, key, checkpoint{five, 3}), "reset: a refused one changes nothing");
    t.holds(reset_checkpoint(t, s, key, position{5, "an offset"}, 4),
            "reset: compares the sequence of `from`, not its offset");
    t.holds(t.checkpoint_is(s, key, {}), "reset: the checkpoint is absent after it");
    t.holds(t.checkpoint_is(s, other_key, checkpoint{five, 9}), "reset: other keys do not change");
    t.holds(!reset_checkpoint(t, s, key, five, 4), "reset: a second one is refused");
    t.holds(!t.advance(s, key, five, position{6, ""}, 4),
            "reset: the earlier checkpoint is no valid `from` after it");
    t.holds(!t.advance(s, key, zero, position{6, ""}, 4),
            "reset: the checkpoint is absent after it, not 0");
    t.holds(!t.advance(s, key, none, zero, 3), "reset: lower epochs are still refused after it");
    t.holds(t.advance(s, key, none, zero, 4) && t.checkpoint_is(s, key, checkpoint{zero, 4}),
            "reset: advance from absent works under its epoch, and to 0 as well");
    t.holds(reset_checkpoint(t, s, key, zero, 7) && t.advance(s, key, none, five, 8) &&
                t.checkpoint_is(s, key, checkpoint{five, 8}),
            "reset: works at 0, and advance from absent under a higher epoch");
}

/// `reset` compares sequence numbers and epochs that become equal if a store truncates them.
template <class S>
void wide_reset_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "wide");
    bool refused = true;
    bool accepted = true;
    for (const std::uint64_t n : numbers_of_64_bits) {
        const position at{n, ""};
        accepted = t.advance(s, key, {}, at, n) && accepted;
        for (const std::uint64_t other : numbers_of_64_bits) {
            if (other != n)
                refused = !reset_checkpoint(t, s, key, position{other, ""}, n) && refused;
            if (other < n) refused = !reset_checkpoint(t, s, key, at, other) && refused;
        }
        refused = t.checkpoint_is(s, key, checkpoint{at, n}) && refused;
        accepted = reset_checkpoint(t, s, key, at, n) && accepted;
    }
    t.holds(accepted, "reset: takes every sequence and epoch of 64 bits");
    t.holds(refused, "reset: `from` and epoch are compared in all 64 bits");
}

/// `advance` compares `from` with the stored checkpoint.
template <class S>
void advance_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "0");
    const position five{5, "5@a"};
    const position nine{9, "9@a"};
    const std::optional<position> none;
    t.holds(t.checkpoint_is(s, key, {}), "load: a checkpoint that was never written is absent");
    const partition_key empty_key = key_of("orders", "billing", "absent");
    t.holds(!t.advance(s, empty_key, five, nine, 1),
            "advance: a `from` is refused if no checkpoint is stored");
    t.holds(!t.advance(s, empty_key, position{0, ""}, nine, 1),
            "advance: from 0 is refused if no checkpoint is stored");
    t.holds(t.checkpoint_is(s, empty_key, {}), "advance: a refused one stores nothing");
    t.holds(t.advance(s, key, none, five, 1),
            "advance: an absent `from` is applied if no checkpoint is stored");
    t.holds(t.checkpoint_is(s, key, checkpoint{five, 1}),
            "load: returns sequence, offset and epoch as committed");
    t.holds(!t.advance(s, key, position{3, ""}, nine, 1),
            "advance: a `from` before the stored checkpoint is refused, even if `to` is after it");
    t.holds(!t.advance(s, key, position{7, ""}, nine, 1),
            "advance: a `from` after the stored checkpoint is refused");
    t.holds(!t.advance(s, key, none, nine, 1),
            "advance: an absent `from` is refused if a checkpoint is stored");
    t.holds(t.checkpoint_is(s, key, checkpoint{five, 1}), "advance: a refused one changes nothing");
    t.holds(t.advance(s, key, position{5, "an offset"}, nine, 1),
            "advance: offsets are not compared");
    t.holds(t.checkpoint_is(s, key, checkpoint{nine, 1}),
            "advance: replaces the stored checkpoint");
    t.holds(t.advance(s, key, nine, nine, 1) && t.checkpoint_is(s, key, checkpoint{nine, 1}),
            "advance: to the position that is stored already is applied");
    t.holds(t.advance(s, key, nine, five, 1) && t.checkpoint_is(s, key, checkpoint{five, 1}),
            "advance: may go back if `from` is the stored checkpoint");
}

template <class S>
void epoch_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "1");
    const position five{5, "5@a"};
    const position nine{9, "9@a"};
    (void)t.advance(s, key, {}, five, 7);
    t.holds(!t.advance(s, key, five, nine, 6),
            "advance: a lower epoch than the stored one is refused");
    t.holds(t.checkpoint_is(s, key, checkpoint{five, 7}), "advance: a lower epoch changes nothing");
    t.holds(t.advance(s, key, five, nine, 7), "advance: the same epoch is accepted");
    t.holds(t.advance(s, key, nine, position{12, ""}, 8), "advance: a higher epoch is accepted");
    t.holds(t.checkpoint_is(s, key, checkpoint{position{12, ""}, 8}), "advance: stores the epoch");
    t.holds(!t.advance(s, key, five, nine, 9),
            "advance: a higher epoch with another `from` is refused");

    const partition_key other = key_of("orders", "billing", "other");
    (void)t.advance(s, other, {}, five, 3);
    t.holds(t.advance(s, other, five, nine, 3),
            "advance: the epoch of another partition is not compared");
    if (auto tx = t.open(s)) {
        (void)s.advance(*tx, other, nine, five, 9);
        tx->rollback();
    }
    t.holds(t.advance(s, other, nine, five, 3), "rollback reverts a higher epoch");
}

template <class S>
void wide_epoch_rules(trial& t, S& s)
{
    const position nine{9, "9@a"};
    const partition_key wide = key_of("orders", "billing", "2");
    std::optional<position> from;
    for (const std::uint64_t epoch : numbers_of_64_bits) {
        const position to{epoch, ""};
        t.holds(
            t.advance(s, wide, from, to, epoch) && t.checkpoint_is(s, wide, checkpoint{to, epoch}),
            "advance: accepts every 64-bit epoch");
        from = to;
        bool refused = true;
        for (const std::uint64_t lower : numbers_of_64_bits) {
            if (lower < epoch) refused = !t.advance(s, wide, from, nine, lower) && refused;
        }
        t.holds(refused && t.checkpoint_is(s, wide, checkpoint{to, epoch}),
                "advance: epochs are compared in all 64 bits, without a sign");
    }
}

/// `advance` compares sequence numbers that become equal if a store truncates them.
template <class S>
void sequence_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "3");
    const position nine{9, "9@a"};
    std::optional<position> from;
    for (const std::uint64_t n : numbers_of_64_bits) {
        const position to{n, ""};
        t.holds(t.advance(s, key, from, to, 1) && t.checkpoint_is(s, key, checkpoint{to, 1}),
                "sequence numbers are 64 bits wide, from 0 to the largest");
        t.holds(!t.advance(s, key, {}, nine, 1), "a checkpoint at 0 is not an absent one");
        bool refused = true;
        for (const std::uint64_t other : numbers_of_64_bits) {
            if (other != n) refused = !t.advance(s, key, position{other, ""}, nine, 1) && refused;
        }
        t.holds(refused, "advance: `from` is compared in all 64 bits");
        from = to;
    }
}

/// The outcome of a refused `advance`. If a store finds the conflict only at the commit, the commit
/// returns `not_applied`.
template <class S>
void refusal_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "4");
    const position five{5, "5@a"};
    const auto refuses = [&](const std::optional<position>& from, std::uint64_t epoch,
                             advance_outcome expected) {
        auto tx = t.open(s);
        if (!tx) return false;
        const auto a = s.advance(*tx, key, from, position{9, ""}, epoch);
        if (!a || *a != advance_outcome::applied) return a && *a == expected;
        const auto c = tx->commit();
        return c && *c == commit_outcome::not_applied;
    };
    const std::string_view conflict =
        "advance: a `from` that is not the stored checkpoint is a conflict, not an error";
    t.holds(refuses(five, 1, advance_outcome::conflict), conflict);
    (void)t.advance(s, key, {}, five, 3);
    t.holds(refuses(position{4, ""}, 3, advance_outcome::conflict) &&
                refuses({}, 3, advance_outcome::conflict),
            conflict);
    t.holds(refuses(five, 2, advance_outcome::stale_epoch),
            "advance: a lower epoch returns stale_epoch, not an error");
}

/// An offset may contain any bytes. A store keeps an offset of up to 1,024 bytes unchanged. A
/// longer offset may be refused, but not changed.
template <class S>
void offset_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "5");
    std::optional<position> from;
    // Returns whether the store kept the offset unchanged. Empty if it refused the offset.
    const auto keeps = [&](const std::string& offset) {
        const position to{from ? from->sequence + 1 : 0, offset};
        if (!t.advance(s, key, from, to, 1)) return std::optional<bool>();
        from = to;
        return std::optional(t.checkpoint_is(s, key, checkpoint{to, 1}));
    };
    bool kept = true;
    for (const std::string& offset : odd_texts()) kept = keeps(offset).value_or(false) && kept;
    t.holds(kept, "advance: keeps any bytes of an offset as they are");
    bool unchanged = true;
    for (const std::uint64_t size : {127U, 128U, 255U, 256U, 511U, 512U, 1'024U}) {
        unchanged = keeps(varied_bytes(size, size)).value_or(false) && unchanged;
    }
    t.holds(unchanged, "advance: keeps an offset of up to 1,024 bytes whole");
    bool whole_or_refused = true;
    for (const std::uint64_t size : {4'097U, 70'000U})
        whole_or_refused = keeps(varied_bytes(size, size)).value_or(true) && whole_or_refused;
    t.holds(whole_or_refused, "advance: keeps an offset of 70,000 bytes whole, or refuses it");
}

/// An UPDATE whose condition lacks a part of the key would change rows of other keys.
template <class S>
void neighbour_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "6");
    const position five{5, "5@a"};
    const position nine{9, "9@a"};
    std::vector<partition_key> keys = neighbours(key);
    keys.push_back(key);
    bool apart = true;
    for (const partition_key& k : keys) apart = t.advance(s, k, {}, five, 1) && apart;
    for (std::size_t i = 0; i != keys.size(); ++i) {
        apart = t.advance(s, keys[i], five, nine, 1) &&
                t.checkpoint_is(s, keys[i], checkpoint{nine, 1}) && apart;
        for (std::size_t after = i + 1; after != keys.size(); ++after) {
            apart = t.checkpoint_is(s, keys[after], checkpoint{five, 1}) && apart;
        }
    }
    t.holds(apart, "advance: other keys do not change, even if they have the same checkpoint");
}

/// The rules of `load` and `advance`, without those of 64 bits and of offsets.
template <class S>
void checkpoint_rules(trial& t, S& s)
{
    advance_rules(t, s);
    epoch_rules(t, s);
    refusal_rules(t, s);
    neighbour_rules(t, s);
}

template <class S>
void wide_rules(trial& t, S& s)
{
    wide_epoch_rules(t, s);
    sequence_rules(t, s);
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_CHECKPOINT_RULES_HPP
