// SPDX-License-Identifier: MIT

#include <string>

#include <doctest/doctest.h>

#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>

namespace fault_test {

using waybill::fault;
using waybill::fault_class;

static_assert(name(fault_class::none) == "none");
static_assert(name(fault_class::transient) == "transient");
static_assert(name(fault_class::permanent) == "permanent");
static_assert(name(fault_class::infrastructure) == "infrastructure");
static_assert(name(fault_class::ownership_lost) == "ownership_lost");
static_assert(name(fault_class::cancelled) == "cancelled");
static_assert(name(static_cast<fault_class>(77)) == "?");

static_assert(name(waybill::heard::taken) == "taken");
static_assert(name(waybill::heard::late) == "late");
static_assert(name(waybill::heard::invalid) == "invalid");
static_assert(name(static_cast<waybill::heard>(77)) == "?");
static_assert(waybill::act::idle{} == waybill::act::idle{});
static_assert(waybill::act::wait{} == waybill::act::wait{waybill::steady_time{}});

TEST_CASE("fault: empty is fine, anything else says how")
{
    CHECK(fault{}.ok());
    const fault all[] = {waybill::transient("t"), waybill::permanent("p"),
                         waybill::infrastructure("i"), waybill::ownership_lost("o"),
                         waybill::cancelled("c")};
    const fault_class how[] = {fault_class::transient, fault_class::permanent,
                               fault_class::infrastructure, fault_class::ownership_lost,
                               fault_class::cancelled};
    for (int i = 0; i != 5; ++i) {
        CHECK(!all[i].ok());
        CHECK(all[i].how == how[i]);
        CHECK(all[i].text == std::string(name(how[i]).substr(0, 1)));
    }
    CHECK(waybill::transient("t") == fault{fault_class::transient, "t"});
    CHECK(!(waybill::transient("t") == waybill::transient("u")));
    CHECK(!(waybill::transient("t") == waybill::permanent("t")));
}

}  // namespace fault_test
