// SPDX-License-Identifier: MIT
//
// The suite for fences accepts a right one, and reports the rule that a wrong one breaks.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/testing/fence_conformance.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_store.hpp>

namespace fence_conformance_test {
namespace {

using store = waybill::testing::memory_store<std::string>;

enum class flaw : std::uint8_t {
    none,
    constant,
    absent_is_zero,
    zero_is_absent,
    narrow,
    any_partition,
    any_group,
    key_of_255_bytes,
    key_ends_at_nul,
    error
};

class wrong_fence : public waybill::testing::memory_leases {
public:
    explicit wrong_fence(flaw f) : flaw_(f) {}

    waybill::result<std::optional<std::uint64_t>> epoch(store::transaction& tx,
                                                        waybill::partition_key key)
    {
        if (flaw_ == flaw::constant) return std::optional<std::uint64_t>(1);
        if (flaw_ == flaw::error)
            return waybill::unexpected(waybill::infrastructure("no such column"));
        if (flaw_ == flaw::any_partition) key.partition = "0";
        if (flaw_ == flaw::any_group) key.group = "billing";
        if (flaw_ == flaw::key_of_255_bytes) key.partition = key.partition.substr(0, 255);
        if (flaw_ == flaw::key_ends_at_nul) key.partition = key.partition.c_str();
        auto found = *memory_leases::epoch(tx, key);
        if (!found && flaw_ == flaw::absent_is_zero) found = 0;
        if (found && *found == 0 && flaw_ == flaw::zero_is_absent) found.reset();
        if (found && flaw_ == flaw::narrow) *found &= 0xFFFF'FFFFU;
        return found;
    }

private:
    flaw flaw_;
};

std::vector<std::string> broken_by(flaw f)
{
    store s;
    wrong_fence leases(f);
    return waybill::testing::fence_conformance(s, leases).broken;
}

TEST_CASE("fence_conformance: a correct fence conforms")
{
    CHECK(broken_by(flaw::none).empty());
}

TEST_CASE("fence_conformance: each flaw is detected by the rule that it breaks")
{
    const std::pair<flaw, const char*> all[] = {
        {flaw::constant, "epoch: returns that of the last claim, in all 64 bits"},
        {flaw::absent_is_zero, "epoch: without a lease it is absent"},
        {flaw::zero_is_absent, "epoch: returns that of the last claim, in all 64 bits"},
        {flaw::narrow, "epoch: returns that of the last claim, in all 64 bits"},
        {flaw::any_partition, "epoch: leases of other keys do not change it"},
        {flaw::any_group, "epoch: leases of other keys do not change it"},
        {flaw::key_of_255_bytes, "epoch: keys are compared byte for byte"},
        {flaw::key_ends_at_nul, "epoch: keys are compared byte for byte"},
        {flaw::error, "epoch: without a lease it is absent"},
    };
    for (const auto& one : all) {
        const flaw wrong = one.first;
        const std::string rule = one.second;
        const auto broken = broken_by(wrong);
        INFO("flaw ", static_cast<int>(wrong), ": ", rule);
        CHECK(std::find(broken.begin(), broken.end(), rule) != broken.end());
    }
}

TEST_CASE("fence_conformance: a fence without a lock is detected")
{
    store s;
    waybill::testing::memory_leases leases;
    const std::string rule = "epoch: no owner claims a lease between its reading and the commit";
    CHECK(waybill::testing::fence_conformance(s, leases, leases).broken == std::vector{rule});
}

TEST_CASE("fence_conformance: without a second connection the report contains the untested rules")
{
    store s;
    waybill::testing::memory_leases leases;
    CHECK(
        waybill::testing::fence_conformance(s, leases).untested ==
        std::vector<std::string>{"epoch: no owner claims a lease between its reading and the commit"
                                 " (needs a second connection to the leases)"});
}

}  // namespace
}  // namespace fence_conformance_test
