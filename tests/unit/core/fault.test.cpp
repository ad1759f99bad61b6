// SPDX-License-Identifier: MIT

#include <string>

#include <doctest/doctest.h>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>

namespace fault_test {

using waybill::fault;
using waybill::fault_kind;

static_assert(name(fault_kind::none) == "none");
static_assert(name(fault_kind::transient) == "transient");
static_assert(name(fault_kind::permanent) == "permanent");
static_assert(name(fault_kind::infrastructure) == "infrastructure");
static_assert(name(fault_kind::ownership_lost) == "ownership_lost");
static_assert(name(fault_kind::cancelled) == "cancelled");
static_assert(name(static_cast<fault_kind>(77)) == "?");

static_assert(name(waybill::event_result::applied) == "applied");
static_assert(name(waybill::event_result::stale) == "stale");
static_assert(name(waybill::event_result::invalid) == "invalid");
static_assert(name(static_cast<waybill::event_result>(77)) == "?");
static_assert(waybill::idle{} == waybill::idle{});
static_assert(waybill::wait_until{} == waybill::wait_until{waybill::steady_time{}});

TEST_CASE("fault: an empty fault is ok, any other has its kind and text")
{
    CHECK(fault{}.ok());
    const fault all[] = {waybill::transient("t"), waybill::permanent("p"),
                         waybill::infrastructure("i"), waybill::ownership_lost("o"),
                         waybill::cancelled("c")};
    const fault_kind how[] = {fault_kind::transient, fault_kind::permanent,
                              fault_kind::infrastructure, fault_kind::ownership_lost,
                              fault_kind::cancelled};
    for (int i = 0; i != 5; ++i) {
        CHECK(!all[i].ok());
        CHECK(all[i].kind == how[i]);
        CHECK(all[i].text == std::string(name(how[i]).substr(0, 1)));
    }
    CHECK(waybill::transient("t") == fault{fault_kind::transient, "t"});
    CHECK(!(waybill::transient("t") == waybill::transient("u")));
    CHECK(!(waybill::transient("t") == waybill::permanent("t")));
}

}  // namespace fault_test
