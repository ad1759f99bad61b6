// SPDX-License-Identifier: MIT
//
// dead_letter_conformance: what a store has to do at `put` and `find`, and at savepoints.
//
// A part of conformance.hpp. What is written within a savepoint is seen by its dead letters, so a
// store without them cannot be tried for its savepoints.

#ifndef WAYBILL_TESTING_DEAD_LETTER_CONFORMANCE_HPP
#define WAYBILL_TESTING_DEAD_LETTER_CONFORMANCE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

/// The rules of `put` and `find`, and of savepoints where there are any.
template <class Make, class Again = no_second>
[[nodiscard]] std::vector<std::string> dead_letter_conformance(Make make, Again again = {})
{
    detail::trial t;
    const partition_key key = detail::key_of("orders", "billing", "0");
    const dead_letter a = detail::letter_of(key, 1, "first");
    const dead_letter b = detail::letter_of(key, 2, "second");
    const dead_letter c = detail::letter_of(key, 3, "third");

    {
        auto s = make();
        t.holds(t.lacks(s, a), "find: a dead letter that was never put is absent");
        t.holds(t.park(s, a) && t.has(s, a), "put: what is committed is found again");
        t.holds(t.lacks(s, b), "find: answers for one event only");

        dead_letter other = detail::letter_of(key, 1, "another reason");
        other.how = fault_class::transient;
        other.tries = 4'000'000'000U;
        other.at.offset.clear();
        other.body.clear();
        other.occurred = wall_time::at(duration::nanoseconds(-1));
        other.parked = wall_time::at(duration::nanoseconds(1'700'000'000'123'456'789));
        other.kept = letter_keeps::nothing;
        other.size = (std::uint64_t{1} << 63U) + 1;
        other.checksum = 0xFFFF'FFFEU;
        t.holds(t.park(s, other), "put: a second dead letter of the same event is no error");
        t.holds(t.has(s, other), "put: a second dead letter of the same event replaces the first, every field");
        if (auto tx = t.open(s)) {
            const bool both = s.put(*tx, a) && s.put(*tx, other) && t.committed(*tx);
            t.holds(both && t.has(s, other), "put: within a transaction the last one counts, too");
        }
    }
    {
        auto s = make();
        dead_letter odd = a;
        odd.reason = "ends in a quarter of a character \xF0\x9F, it's \"quoted\"";
        odd.body = std::string("nul \0 and no UTF-8: \xFF\xC0\x80 \xED\xA0\x80 \0", 30);
        odd.at.offset = std::string("a\0b", 3);
        t.holds(t.park(s, odd) && t.has(s, odd), "put: takes any bytes, NUL and what is not UTF-8 included");
        dead_letter large = b;
        large.reason.assign(1U << 20U, 'r');
        large.body.assign((1U << 20U) + 1, '\0');
        t.holds(t.park(s, large) && t.has(s, large), "put: takes texts of a megabyte");
    }
    {
        auto s = make();
        {
            auto tx = t.open(s);
            if (tx) (void)s.put(*tx, a);
        }
        t.holds(t.lacks(s, a), "a dead letter is gone with a transaction that goes out of scope");
        if (auto tx = t.open(s)) {
            (void)s.put(*tx, a);
            tx->rollback();
        }
        t.holds(t.lacks(s, a), "a dead letter is gone after a rollback");
    }
    {
        auto s = make();
        const std::vector<partition_key> keys = detail::similar_keys();
        std::vector<dead_letter> all;
        for (std::uint64_t i = 0; i != keys.size(); ++i) {
            all.push_back(detail::letter_of(keys[i], 1, std::to_string(i)));
        }
        for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{1} << 53U, (std::uint64_t{1} << 53U) + 1,
                                      std::uint64_t{1} << 63U, detail::largest}) {
            all.push_back(detail::letter_of(key, n, std::to_string(n)));
        }
        bool kept = true;
        for (const dead_letter& d : all) kept = t.park(s, d) && kept;
        for (const dead_letter& d : all) kept = t.has(s, d) && kept;
        t.holds(kept, "dead letters are told apart by each part of the key and all 64 bits of the sequence");
    }
    if constexpr (requires(std::remove_cvref_t<std::invoke_result_t<Make&>>& s) { s.load(key); }) {
        auto s = make();
        const position five{5, ""};
        if (auto tx = t.open(s)) {
            (void)s.put(*tx, a);
            (void)s.advance(*tx, key, {}, five, 1);
            tx->rollback();
            t.holds(t.lacks(s, a) && t.stands(s, key, {}), "dead letter and checkpoint are rolled back together");
        }
        if (auto tx = t.open(s)) {
            (void)s.put(*tx, a);
            (void)s.advance(*tx, key, {}, five, 1);
            t.holds(t.committed(*tx) && t.has(s, a) && t.stands(s, key, checkpoint{five, 1}),
                    "dead letter and checkpoint are committed together");
        }
    }
    if constexpr (!std::is_same_v<Again, no_second>) {
        auto s = make();
        decltype(auto) other = again(s);
        if (auto tx = t.open(s)) {
            (void)s.put(*tx, a);
            const auto seen = other.find(key, a.at.sequence);
            t.holds(!seen || !*seen, "a dead letter is seen by nobody before it is committed");
            (void)tx->commit();
        }
        t.holds(t.has(other, a), "a committed dead letter is seen by everybody");
    }
    if constexpr (savepoint_scope<typename std::remove_cvref_t<std::invoke_result_t<Make&>>::transaction>) {
        {
            auto s = make();
            if (auto tx = t.open(s)) {
                const bool done = s.put(*tx, a) && tx->savepoint() && s.put(*tx, b) && tx->release() &&
                                  s.put(*tx, c) && t.committed(*tx);
                t.holds(done && t.has(s, a) && t.has(s, b) && t.has(s, c),
                        "release keeps what was written before, since and after the savepoint");
            }
        }
        {
            auto s = make();
            if (auto tx = t.open(s)) {
                const bool done = s.put(*tx, a) && tx->savepoint() && s.put(*tx, b) && tx->undo() &&
                                  s.put(*tx, c) && t.committed(*tx);
                t.holds(done && t.lacks(s, b), "undo removes what was written since the savepoint");
                t.holds(done && t.has(s, a), "undo keeps what was written before the savepoint");
                t.holds(done && t.has(s, c), "a transaction goes on after an undo");
            }
        }
        {
            auto s = make();
            dead_letter again_a = a;
            again_a.reason = "written within the savepoint";
            if (auto tx = t.open(s)) {
                bool done = s.put(*tx, a) && tx->savepoint() && s.put(*tx, again_a) && tx->undo();
                done = done && tx->savepoint() && s.put(*tx, b) && tx->release();
                done = done && tx->savepoint() && s.put(*tx, b) && s.put(*tx, c) && tx->undo();
                done = done && tx->savepoint() && tx->undo() && t.committed(*tx);
                t.holds(done && t.has(s, a), "undo brings back what was replaced since the savepoint");
                t.holds(done && t.has(s, b) && t.lacks(s, c), "savepoints follow one another, each for itself");
            }
        }
        {
            auto s = make();
            if (auto tx = t.open(s)) {
                const bool done = tx->savepoint() && s.put(*tx, a) && tx->release();
                tx->rollback();
                t.holds(done && t.lacks(s, a), "a rollback removes what was released, too");
            }
            {
                auto tx = t.open(s);
                if (tx) (void)(tx->savepoint() && s.put(*tx, a));
            }
            t.holds(t.lacks(s, a), "a transaction that goes out of scope takes its savepoint with it");
        }
    }
    return std::move(t.broken);
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_DEAD_LETTER_CONFORMANCE_HPP
