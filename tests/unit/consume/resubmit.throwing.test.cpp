// SPDX-License-Identifier: MIT

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/reprocess_all.hpp>
#include <waybill/consume/resubmit.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_store.hpp>

namespace resubmit_throwing_test {
namespace {

using waybill::dead_letter;
using waybill::fault;
using memory = waybill::testing::memory_store<std::uint64_t>;
using run_outcome = dead_letter::run_report::run_outcome;

const waybill::partition_key key{"log", "test", "0"};

memory three_letters()
{
    memory s;
    auto tx = s.begin();
    for (std::uint64_t n = 1; n != 4; ++n) {
        dead_letter d;
        d.key = key;
        d.at.sequence = n;
        CHECK(s.put(*tx, d));
    }
    CHECK(tx->commit());
    return s;
}

// Throws at one call, before or after it takes effect.
struct thrower {
    int left;
    bool after;

    template <class F>
    auto operator()(F&& f)
    {
        const bool now = left-- == 0;
        if (now && !after) throw std::runtime_error("thrown");
        auto r = f();
        if (now) throw std::runtime_error("thrown");
        return r;
    }
};

struct throwing_store {
    using transaction = memory::transaction;
    memory& inner;
    thrower& at;

    auto begin()
    {
        return at([&] { return inner.begin(); });
    }
    auto find(const waybill::partition_key& k, std::uint64_t n)
    {
        return at([&] { return inner.find(k, n); });
    }
    auto put(transaction& tx, const dead_letter& d)
    {
        return at([&] { return inner.put(tx, d); });
    }
    auto remove(transaction& tx, const waybill::partition_key& k, std::uint64_t n)
    {
        return at([&] { return inner.remove(tx, k, n); });
    }
    auto list(const waybill::partition_key& k, const std::optional<std::uint64_t>& after,
              std::uint64_t max_count)
    {
        return at([&] { return inner.list(k, after, max_count); });
    }
    auto dead_letter_keys()
    {
        return at([&] { return inner.dead_letter_keys(); });
    }
};

template <class Run>
int runs_that_threw(Run&& run)
{
    int thrown = 0;
    for (const bool after : {false, true}) {
        for (int n = 0; n != 40; ++n) {
            memory kept = three_letters();
            thrower at{n, after};
            throwing_store store{kept, at};
            dead_letter::run_report r;
            try {
                run(store, at, r, kept);
            } catch (const std::runtime_error&) {
                ++thrown;
                CHECK(r.outcome == run_outcome::running);
                run(store, at, r, kept);
            }
            CHECK(r.ok());
            CHECK(kept.letters().empty());
        }
    }
    return thrown;
}

TEST_CASE("resubmit: after an exception of any call, a further call continues")
{
    std::vector<std::uint64_t> sent;
    const int thrown =
        runs_that_threw([&](auto& store, thrower& at, dead_letter::run_report& r, memory&) {
            waybill::testing::manual_environment env;
            if (r == dead_letter::run_report{}) sent.clear();
            const auto send = [&](const dead_letter& l) {
                return at([&] {
                    sent.push_back(l.at.sequence);
                    return fault{};
                });
            };
            waybill::resubmit(store, send, {}, env, r);
            CHECK(sent.size() <= 4);
            CHECK(r.done <= 3);
        });
    CHECK(thrown >= 30);
}

TEST_CASE("reprocess_all: after an exception of any call, a further call continues")
{
    const int thrown =
        runs_that_threw([&](auto& store, thrower& at, dead_letter::run_report& r, memory& kept) {
            waybill::testing::manual_environment env;
            const auto handle = [&](memory::transaction& tx, const dead_letter& l) {
                return at([&] {
                    tx.record(l.at.sequence);
                    return fault{};
                });
            };
            waybill::reprocess_all(store, handle, {}, env, r);
            CHECK(kept.records() == std::vector<std::uint64_t>{1, 2, 3});
        });
    CHECK(thrown >= 30);
}

TEST_CASE("resubmit, reprocess_all: catching() turns exceptions into faults")
{
    memory kept = three_letters();
    waybill::testing::manual_environment env;
    int calls = 0;
    const auto send = waybill::catching(
        [&](const dead_letter&) {
            if (++calls == 2) throw std::runtime_error("connection lost");
        },
        [](const std::exception&) { return waybill::fault_kind::infrastructure; });
    const auto r = waybill::resubmit(kept, send, env);
    CHECK(r.ok());
    CHECK(r.in_doubt == 1);
    CHECK(calls == 4);
    kept = three_letters();
    const auto handle = waybill::catching([](memory::transaction& tx, const dead_letter& l) {
        if (l.at.sequence == 2) throw std::runtime_error("no total");
        tx.record(l.at.sequence);
    });
    const auto again = waybill::reprocess_all(kept, handle, env);
    CHECK(again.done == 2);
    REQUIRE(again.failed.size() == 1);
    CHECK(again.failed[0].reason == waybill::permanent("no total"));
    CHECK(kept.records() == std::vector<std::uint64_t>{1, 3});
}

}  // namespace
}  // namespace resubmit_throwing_test
