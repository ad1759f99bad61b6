// SPDX-License-Identifier: MIT

#include <cstdint>

#include <doctest/doctest.h>

#include <waybill/batch/detail/settlements.hpp>

namespace settlements_test {

using waybill::fault_kind;
using waybill::item_outcome;
using waybill::item_range;
using waybill::detail::settlements;
using report = waybill::batch_sender::report;

TEST_CASE("settlements: adjacent equal outcomes are merged, except with the front")
{
    settlements s;
    CHECK(s.empty());
    CHECK(s.first(9) == 9);
    s.push({{3, 1}, item_outcome::accepted});
    s.push({{4, 1}, item_outcome::accepted});  // the front may have been handed out
    CHECK(s.front() == report{{3, 1}, item_outcome::accepted});
    s.push({{5, 2}, item_outcome::accepted});
    s.push({{8, 1}, item_outcome::accepted});                       // a gap
    s.push({{9, 1}, item_outcome::failed, fault_kind::transient});  // another outcome
    s.push({{10, 1}, item_outcome::failed, fault_kind::permanent});
    s.push({{11, 1}, item_outcome::failed, fault_kind::permanent});
    s.push({{12, 1}, item_outcome::too_large, fault_kind::permanent, 7, 5});
    s.push(
        {{13, 1}, item_outcome::too_large, fault_kind::permanent, 7, 5});  // each has its own size
    s.push({{1, 1}, item_outcome::accepted});
    CHECK(s.first(9) == 1);
    const report expected[] = {{{3, 1}, item_outcome::accepted},
                               {{4, 3}, item_outcome::accepted},
                               {{8, 1}, item_outcome::accepted},
                               {{9, 1}, item_outcome::failed, fault_kind::transient},
                               {{10, 2}, item_outcome::failed, fault_kind::permanent},
                               {{12, 1}, item_outcome::too_large, fault_kind::permanent, 7, 5},
                               {{13, 1}, item_outcome::too_large, fault_kind::permanent, 7, 5},
                               {{1, 1}, item_outcome::accepted}};
    for (const report& e : expected) {
        CHECK(s.front() == e);
        s.pop();
    }
    CHECK(s.empty());
    CHECK(s == settlements());
}

TEST_CASE("settlements: the front stays unchanged while further outcomes are added")
{
    settlements s;
    std::uint64_t next = 0, seen = 0;
    for (int round = 0; round != 1'000; ++round) {
        s.push({{next, 2}, item_outcome::accepted});
        next += 2;
        const report front = s.front();
        s.push({{next, 1}, item_outcome::accepted});
        ++next;
        CHECK(s.front() == front);
        CHECK(front.items.first == seen);
        seen = front.items.end();
        s.pop();
    }
    while (!s.empty()) {
        CHECK(s.front().items.first == seen);
        seen = s.front().items.end();
        s.pop();
    }
    CHECK(seen == next);
}

}  // namespace settlements_test
