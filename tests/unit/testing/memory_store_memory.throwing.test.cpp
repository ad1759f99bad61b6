// SPDX-License-Identifier: MIT
//
// A commit that runs out of memory takes effect completely, or not at all.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <string>

#include <doctest/doctest.h>
#include <support/scarce_new.hpp>

#include <waybill/testing/memory_store.hpp>

namespace memory_store_memory_test {
namespace {

using tests_support::scarce::fails_after;

TEST_CASE("memory_store: a commit whose allocation fails changes nothing")
{
    const waybill::partition_key key{"a source that no string keeps in itself", "g", "p"};
    std::uint64_t failed = 0;
    for (std::uint64_t left = 0; left != 200; ++left) {
        waybill::testing::memory_store<int> s;
        {
            auto tx = *s.begin();
            tx.record(1);
            CHECK(s.put(tx, {.key = key, .at = {1, ""}}).has_value());
            CHECK(s.store_crash_record(tx, key, {1, 1, 1, 1}).has_value());
            CHECK(tx.commit().has_value());
        }
        auto tx = *s.begin();
        for (int n = 2; n != 8; ++n) tx.record(n);
        CHECK(
            s.advance(tx, key, {}, {5, "an offset that no string keeps in itself"}, 1).has_value());
        CHECK(s.put(tx, {.key = key, .at = {2, ""}}).has_value());
        CHECK(s.remove(tx, key, 1).has_value());
        CHECK(s.clear_crash_record(tx, key).has_value());
        const bool none = fails_after(left, [&] { static_cast<void>(tx.commit()); });
        failed += none ? 1U : 0U;
        CHECK(s.records().size() == (none ? 1U : 7U));
        CHECK(s.load(key)->has_value() == !none);
        CHECK(s.find(key, 1)->has_value() == none);
        CHECK(s.find(key, 2)->has_value() == !none);
        CHECK(s.load_crash_record(key)->has_value() == none);
        if (!none) break;
    }
    CHECK(failed > 5);
    CHECK(failed < 200);
}

}  // namespace
}  // namespace memory_store_memory_test
