// SPDX-License-Identifier: MIT
//
// dead_letter_queue_rules: the rules of `remove` and `list` of a store's dead letters.
//
// A part of conformance.hpp, for a store whose dead letters can be processed again.

#ifndef WAYBILL_TESTING_DETAIL_DEAD_LETTER_QUEUE_RULES_HPP
#define WAYBILL_TESTING_DETAIL_DEAD_LETTER_QUEUE_RULES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/testing/detail/trial.hpp>
#include <waybill/testing/detail/trial_values.hpp>

namespace waybill::inline v0_2::testing::detail {

/// The result of `remove`: whether the dead letter existed. Empty after an error.
template <class S, class Tx>
[[nodiscard]] std::optional<bool> removed(S& s, Tx& tx, const dead_letter& d)
{
    const auto r = s.remove(tx, d.key, d.at.sequence);
    return r ? std::optional(*r) : std::nullopt;
}

template <class S>
void one_remove_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "0");
    const dead_letter a = letter_of(key, 1, "first");
    const dead_letter b = letter_of(key, 2, "second");
    (void)(t.put(s, a) && t.put(s, b));
    if (auto tx = t.open(s)) {
        t.holds(removed(s, *tx, a) == true, "remove: returns true if the letter exists");
        tx->rollback();
    }
    t.holds(t.has(s, a), "remove: a rollback restores the letter");
    if (auto tx = t.open(s)) {
        t.holds(removed(s, *tx, a) == true && t.committed(*tx) && t.missing(s, a) && t.has(s, b),
                "remove: removes only this letter");
    }
    if (auto tx = t.open(s)) {
        t.holds(removed(s, *tx, a) == false,
                "remove: returns false if the letter does not exist, not an error");
        t.holds(t.committed(*tx) && t.missing(s, a),
                "remove: a transaction continues after the removal of an absent letter");
    }
}

/// A removal takes the earlier writes of its transaction into account.
template <class S>
void remove_order_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "1");
    const dead_letter a = letter_of(key, 1, "first");
    const dead_letter b = letter_of(key, 2, "second");
    dead_letter again_b = b;
    again_b.reason = "failed again";
    again_b.tries = 9;
    (void)t.put(s, b);
    if (auto tx = t.open(s)) {
        const bool done = removed(s, *tx, b) == true && s.put(*tx, again_b) && t.committed(*tx);
        t.holds(done && t.has(s, again_b),
                "remove: the same letter can be put in the same transaction");
    }
    if (auto tx = t.open(s)) {
        const bool done = s.put(*tx, a) && removed(s, *tx, a) == true && t.committed(*tx);
        t.holds(done && t.missing(s, a),
                "remove: removes a letter that the same transaction has put");
    }
    if (auto tx = t.open(s)) {
        const bool once =
            removed(s, *tx, b) == true && removed(s, *tx, b) == false && t.committed(*tx);
        t.holds(once && t.missing(s, b), "remove: within a transaction a letter is there once");
    }
}

template <class S>
void remove_neighbour_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "2");
    const dead_letter a = letter_of(key, 1, "first");
    (void)t.put(s, a);
    bool others_kept = true;
    for (const partition_key& k : neighbours(key))
        (void)t.put(s, letter_of(k, 1, "of a neighbour"));
    for (const partition_key& k : neighbours(key)) {
        const dead_letter other = letter_of(k, 1, "of a neighbour");
        others_kept = t.has(s, other) && others_kept;
        if (auto tx = t.open(s))
            others_kept = removed(s, *tx, other) == true && t.committed(*tx) && others_kept;
        others_kept = t.missing(s, other) && t.has(s, a) && others_kept;
    }
    t.holds(others_kept, "remove: letters of other keys stay");
}

template <class S>
void remove_rules(trial& t, S& s)
{
    one_remove_rules(t, s);
    remove_order_rules(t, s);
    remove_neighbour_rules(t, s);
}

/// Dead letters whose sequences become equal if a store truncates them.
template <class S>
void remove_64_bit_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "wide");
    const auto letter = [&](std::uint64_t n) { return letter_of(key, n, "first"); };
    for (const std::uint64_t n : numbers_of_64_bits) (void)t.put(s, letter(n));
    bool only_removed = true;
    for (const std::uint64_t removed_sequence : numbers_of_64_bits) {
        auto tx = t.open(s);
        only_removed = tx && removed(s, *tx, letter(removed_sequence)) == true &&
                       t.committed(*tx) && only_removed;
        for (const std::uint64_t n : numbers_of_64_bits) {
            only_removed = (n > removed_sequence ? t.has(s, letter(n)) : t.missing(s, letter(n))) &&
                           only_removed;
        }
    }
    t.holds(only_removed, "remove: sequences are compared in all 64 bits");
}

using sequences = std::vector<std::uint64_t>;

/// True if `list` returns exactly the dead letters with these sequences, in this order.
template <class S>
[[nodiscard]] bool lists(S& s, const partition_key& key, const std::optional<std::uint64_t>& after,
                         std::uint64_t max_count, const sequences& expected)
{
    const auto r = s.list(key, after, max_count);
    if (!r) return false;
    sequences found;
    for (const dead_letter& d : *r) {
        if (d.key != key) return false;
        found.push_back(d.at.sequence);
    }
    return found == expected;
}

template <class S>
void list_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "0");
    t.holds(lists(s, key, {}, 10, {}), "list: is empty without letters");
    const std::uint64_t high = std::uint64_t{1} << 63U;
    const sequences all{0,        1,    9,      10, 11, 100, (std::uint64_t{1} << 53U) + 1,
                        high - 1, high, largest};
    for (const std::size_t i : {4U, 0U, 9U, 2U, 7U, 1U, 8U, 3U, 6U, 5U}) {
        (void)t.put(s, letter_of(key, all[i], "x"));
    }
    for (const partition_key& k : similar_keys()) (void)t.put(s, letter_of(k, 5, "y"));
    for (const partition_key& k : neighbours(key)) (void)t.put(s, letter_of(k, 5, "z"));
    t.holds(lists(s, key, {}, 100, all),
            "list: all letters of the key, by their sequence in all 64 bits");
    bool only_after = true;
    for (std::size_t i = 0; i != all.size(); ++i) {
        const sequences rest(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end());
        only_after = lists(s, key, all[i], largest, rest) && only_after;
    }
    t.holds(only_after, "list: returns only letters after `after`");
    t.holds(lists(s, key, 2, 3, {9, 10, 11}),
            "list: `after` need not exist; at most `max_count` letters are returned");
    t.holds(lists(s, key, {}, 0, {}), "list: at most 0 is none");
    const auto whole = s.list(key, 8, 1);
    t.holds(whole && whole->size() == 1 && whole->front() == letter_of(key, 9, "x"),
            "list: returns letters unchanged");
}

/// `dead_letter_keys` is optional. It returns the keys in any order.
template <class S>
void key_list_rules(trial& t, S& s)
{
    if constexpr (requires { s.dead_letter_keys(); }) {
        const auto keys = [&](std::vector<partition_key> expected) {
            const auto r = s.dead_letter_keys();
            if (!r) return false;
            std::vector<partition_key> found(r->begin(), r->end());
            std::sort(found.begin(), found.end());
            std::sort(expected.begin(), expected.end());
            return found == expected;
        };
        t.holds(keys({}), "dead_letter_keys: is empty without letters");
        std::vector<partition_key> all = similar_keys();
        for (const partition_key& k : all) (void)(t.put(s, letter_of(k, 5, "x")));
        (void)t.put(s, letter_of(all.front(), 6, "y"));
        t.holds(keys(all), "dead_letter_keys: returns each key with letters once");
        if (auto tx = t.open(s)) {
            const bool done =
                removed(s, *tx, letter_of(all.back(), 5, "x")) == true && t.committed(*tx);
            all.pop_back();
            t.holds(done && keys(all), "dead_letter_keys: returns no key without letters");
        }
    }
}

/// More dead letters than a database writes or returns at once, and a large one.
template <class S>
void many_letters_rules(trial& t, S& s)
{
    const partition_key key = key_of("orders", "billing", "many");
    sequences all;
    bool done = true;
    for (std::uint64_t n = 0; n != 1'050;) {
        auto tx = t.open(s);
        done = tx && done;
        for (const std::uint64_t end = n + 210; n != end; ++n) {
            all.push_back(2 * n);
            done = done && s.put(*tx, letter_of(key, 2 * n, "x"));
        }
        done = done && t.committed(*tx);
    }
    t.holds(done && lists(s, key, {}, largest, all),
            "list: returns all committed letters, up to `max_count`");
    const auto page = [&](std::ptrdiff_t from) {
        return sequences(all.begin() + from, all.begin() + from + 20);
    };
    t.holds(
        done && lists(s, key, all[979], 20, page(980)) && lists(s, key, all[999], 20, page(1'000)),
        "list: consecutive pages return each letter once");
    dead_letter large = letter_of(key_of("orders", "billing", "large"), 1, varied_bytes(70'000, 1));
    large.body = varied_bytes(300'000, 2);
    (void)t.put(s, large);
    const auto whole = s.list(large.key, {}, 10);
    t.holds(whole && whole->size() == 1 && whole->front() == large,
            "list: returns large letters unchanged");
}

}  // namespace waybill::inline v0_2::testing::detail

#endif  // WAYBILL_TESTING_DETAIL_DEAD_LETTER_QUEUE_RULES_HPP
