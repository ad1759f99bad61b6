// SPDX-License-Identifier: MIT
//
// The rules of dead_letter_keys in the conformance suite find each wrong list of keys.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/testing/detail/dead_letter_queue_rules.hpp>
#include <waybill/testing/memory_store.hpp>

namespace dead_letter_keys_test {
namespace {

using waybill::partition_key;
using memory = waybill::testing::memory_store<std::string>;

enum class wrong : std::uint8_t {
    nothing,
    repeats,        // a key for each letter
    keeps_empty,    // also keys whose letters are removed
    without_group,  // one key for all groups of a partition
    first_only,
    fails_if_empty,
};

struct store : memory {
    wrong w = wrong::nothing;
    std::set<partition_key> seen{};

    waybill::result<std::vector<partition_key>> dead_letter_keys()
    {
        std::vector<partition_key> keys;
        std::set<std::string> found;
        for (const auto& [at, letter] : letters()) {
            seen.insert(at.first);
            if (w == wrong::without_group && !found.insert(at.first.partition).second) continue;
            if (w == wrong::repeats || keys.empty() || keys.back() != at.first)
                keys.push_back(at.first);
        }
        if (w == wrong::keeps_empty) keys.assign(seen.begin(), seen.end());
        if (w == wrong::first_only && keys.size() > 1) keys.resize(1);
        if (w == wrong::fails_if_empty && keys.empty())
            return waybill::unexpected(waybill::permanent("no keys"));
        return keys;
    }
};

std::vector<std::string> broken(wrong w)
{
    waybill::testing::detail::trial t;
    store s;
    s.w = w;
    waybill::testing::detail::key_list_rules(t, s);
    return t.report.broken;
}

TEST_CASE("conformance: key_list_rules accept correct stores and detect each faulty one")
{
    CHECK(broken(wrong::nothing) == std::vector<std::string>{});
    for (int w = 1; w <= static_cast<int>(wrong::fails_if_empty); ++w) {
        CAPTURE(w);
        CHECK(broken(static_cast<wrong>(w)).size() >= 1);
    }
    memory s;
    waybill::testing::detail::trial t;
    waybill::testing::detail::key_list_rules(t, s);
    CHECK(t.report.broken.empty());
}

}  // namespace
}  // namespace dead_letter_keys_test
