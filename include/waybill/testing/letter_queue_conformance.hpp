// SPDX-License-Identifier: MIT
//
// letter_queue_conformance: what a store has to do at `remove` and `list`.
//
// A part of conformance.hpp, for a store whose dead letters can be processed again.

#ifndef WAYBILL_TESTING_LETTER_QUEUE_CONFORMANCE_HPP
#define WAYBILL_TESTING_LETTER_QUEUE_CONFORMANCE_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

/// The rules of `remove` and `list`.
template <class Make, class Again = no_second>
[[nodiscard]] std::vector<std::string> letter_queue_conformance(Make make, Again again = {})
{
    detail::trial t;
    const partition_key key = detail::key_of("orders", "billing", "0");
    const dead_letter a = detail::letter_of(key, 1, "first");
    const dead_letter b = detail::letter_of(key, 2, "second");

    // What remove answers: there was one, there was none, or an error.
    const auto removes = [&](auto& s, auto& tx, const dead_letter& d) {
        const auto r = s.remove(tx, d.key, d.at.sequence);
        return r && *r;
    };
    const auto finds_none = [&](auto& s, auto& tx, const dead_letter& d) {
        const auto r = s.remove(tx, d.key, d.at.sequence);
        return r && !*r;
    };
    using sequences = std::vector<std::uint64_t>;
    const auto listed = [&](auto& s, const partition_key& k, const std::optional<std::uint64_t>& after,
                            std::uint64_t most, const sequences& expected) {
        const auto r = s.list(k, after, most);
        if (!r) return false;
        sequences found;
        for (const dead_letter& d : *r) {
            if (d.key != k) return false;
            found.push_back(d.at.sequence);
        }
        return found == expected;
    };

    {
        auto s = make();
        (void)(t.park(s, a) && t.park(s, b));
        if (auto tx = t.open(s)) {
            t.holds(removes(s, *tx, a), "remove: answers true where there is such a letter");
            tx->rollback();
        }
        t.holds(t.has(s, a), "remove: a rollback brings the letter back");
        if (auto tx = t.open(s)) {
            t.holds(removes(s, *tx, a) && t.committed(*tx) && t.lacks(s, a) && t.has(s, b),
                    "remove: removes that letter and no other");
        }
        if (auto tx = t.open(s)) {
            t.holds(finds_none(s, *tx, a), "remove: answers false where there is no such letter, which is no error");
            t.holds(t.committed(*tx) && t.lacks(s, a), "remove: a transaction goes on where there was no letter");
        }
        dead_letter again_b = b;
        again_b.reason = "failed again";
        again_b.tries = 9;
        if (auto tx = t.open(s)) {
            const bool done = removes(s, *tx, b) && s.put(*tx, again_b) && t.committed(*tx);
            t.holds(done && t.has(s, again_b), "remove: the same letter can be put in the same transaction");
        }
        if (auto tx = t.open(s)) {
            const bool once = removes(s, *tx, b) && finds_none(s, *tx, b) && t.committed(*tx);
            t.holds(once && t.lacks(s, b), "remove: within a transaction a letter is there once");
        }
        (void)t.park(s, a);
        bool stay = true;
        for (const partition_key& k : detail::neighbours(key)) {
            (void)t.park(s, detail::letter_of(k, a.at.sequence, "of a neighbour"));
        }
        for (const partition_key& k : detail::neighbours(key)) {
            const dead_letter other = detail::letter_of(k, a.at.sequence, "of a neighbour");
            stay = t.has(s, other) && stay;
            if (auto tx = t.open(s)) stay = removes(s, *tx, other) && t.committed(*tx) && stay;
            stay = t.lacks(s, other) && t.has(s, a) && stay;
        }
        t.holds(stay, "remove: letters of other keys stay");
    }
    {
        auto s = make();
        t.holds(listed(s, key, {}, 10, {}), "list: of no letters is empty");
        const std::uint64_t high = std::uint64_t{1} << 63U;
        const sequences all{0, 1, 9, 10, 11, 100, (std::uint64_t{1} << 53U) + 1, high - 1, high, detail::largest};
        for (const std::size_t i : {4U, 0U, 9U, 2U, 7U, 1U, 8U, 3U, 6U, 5U}) {
            (void)t.park(s, detail::letter_of(key, all[i], "x"));
        }
        for (const partition_key& k : detail::similar_keys()) (void)t.park(s, detail::letter_of(k, 5, "y"));
        for (const partition_key& k : detail::neighbours(key)) (void)t.park(s, detail::letter_of(k, 5, "z"));
        t.holds(listed(s, key, {}, 100, all), "list: all letters of the key, by their sequence in all 64 bits");
        bool behind = true;
        for (std::size_t i = 0; i != all.size(); ++i) {
            const sequences rest(all.begin() + static_cast<std::ptrdiff_t>(i) + 1, all.end());
            behind = listed(s, key, all[i], detail::largest, rest) && behind;
        }
        t.holds(behind, "list: only what is behind `after`");
        t.holds(listed(s, key, 2, 3, {9, 10, 11}), "list: `after` need not be there, and no more than `most`");
        t.holds(listed(s, key, {}, 0, {}), "list: at most 0 is none");
        const auto whole = s.list(key, 8, 1);
        t.holds(whole && whole->size() == 1 && whole->front() == detail::letter_of(key, 9, "x"),
                "list: answers whole letters");
    }
    if constexpr (!std::is_same_v<Again, no_second>) {
        for (const bool second_first : {false, true}) {
            auto s = make();
            decltype(auto) other = again(s);
            (void)t.park(s, a);
            bool won[] = {false, false};
            {
                auto mine = s.begin();
                const bool ready = mine && removes(s, *mine, a);
                auto theirs = other.begin();
                const bool theirs_ready = theirs && removes(other, *theirs, a);
                if (second_first && theirs_ready) won[1] = t.committed(*theirs);
                if (ready) won[0] = t.committed(*mine);
                if (!second_first && theirs_ready) won[1] = t.committed(*theirs);
            }
            t.holds(!(won[0] && won[1]), "of two transactions that remove the same letter at most one takes effect");
            t.holds(won[0] || won[1] ? t.lacks(s, a) : t.has(s, a),
                    "of two transactions that remove the same letter the one that says so took effect");
        }
    }
    return std::move(t.broken);
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_LETTER_QUEUE_CONFORMANCE_HPP
