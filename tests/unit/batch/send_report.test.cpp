// SPDX-License-Identifier: MIT

#include <cstdint>
#include <limits>

#include <doctest/doctest.h>

#include <waybill/batch/send_report.hpp>

namespace send_report_test {

using waybill::fault_kind;
using waybill::item_outcome;
using waybill::send_report;

constexpr std::uint64_t highest = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("send_report: counts saturate instead of wrapping")
{
    send_report sum;
    sum.sends = sum.refusals = sum.throttled = sum.maybe_twice = sum.unaccepted_bytes = highest - 1;
    sum.accepted = sum.not_accepted = highest - 1;
    const auto later = [] {
        send_report r;
        r.sends = r.refusals = r.throttled = r.maybe_twice = r.unaccepted_bytes = 1;
        r.add({{0, 1}, item_outcome::accepted});
        r.add({{1, 1}, item_outcome::failed, fault_kind::permanent});
        return r;
    };
    for (int call = 0; call != 2; ++call) {
        sum += later();
        CHECK(sum.sends == highest);
        CHECK(sum.refusals == highest);
        CHECK(sum.throttled == highest);
        CHECK(sum.maybe_twice == highest);
        CHECK(sum.unaccepted_bytes == highest);
        CHECK(sum.accepted == highest);
        CHECK(sum.not_accepted == highest);
    }
}

}  // namespace send_report_test
