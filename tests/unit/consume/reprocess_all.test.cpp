// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/reprocess_all.hpp>
#include <waybill/core/environment.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_store.hpp>

namespace reprocess_all_test {
namespace {

using namespace std::chrono_literals;
using waybill::dead_letter;
using waybill::event_outcome;
using waybill::fault;
using waybill::reprocess_all;
using environment = waybill::testing::manual_environment;
using run_outcome = dead_letter::run_report::run_outcome;
using store = waybill::testing::memory_store<std::string>;
using texts = std::vector<std::string>;

const waybill::partition_key key{"orders", "billing", "0"};

store three_letters()
{
    store s;
    auto tx = s.begin();
    for (std::uint64_t n = 1; n != 4; ++n) {
        dead_letter d;
        d.key = key;
        d.at.sequence = n;
        d.body = "order " + std::to_string(n);
        CHECK(s.put(*tx, d));
    }
    CHECK(tx->commit());
    return s;
}

TEST_CASE("reprocess_all: each event takes effect, and its dead letter is removed with it")
{
    store s = three_letters();
    environment env;
    const auto handle = [](auto& tx, const auto& e) { tx.record(e.body); };
    const auto r = reprocess_all(s, handle, env);
    CHECK(r.ok());
    CHECK(r.done == 3);
    CHECK(s.records() == texts{"order 1", "order 2", "order 3"});
    CHECK(s.letters().empty());
}

TEST_CASE("reprocess_all: an event that fails again keeps its dead letter, with the new reason")
{
    store s = three_letters();
    environment env({}, waybill::wall_time::at(9h));
    const auto handle = [](auto& tx, const dead_letter& e) -> event_outcome {
        if (e.at.sequence == 1) return waybill::permanent("no total");
        if (e.at.sequence == 2) return waybill::skipped();
        tx.record(e.body);
        return {};
    };
    const auto r = reprocess_all(s, handle, {.keys = {key}}, env);
    CHECK(r.outcome == run_outcome::finished);
    CHECK(r.done == 1);
    CHECK(r.skipped == 1);
    REQUIRE(r.failed.size() == 1);
    CHECK(r.failed[0].reason == waybill::permanent("no total"));
    REQUIRE(s.letters().size() == 1);
    CHECK(s.letters().begin()->second.reason == "no total");
    CHECK(s.letters().begin()->second.tries == 1);
    CHECK(s.letters().begin()->second.dead_lettered_at == waybill::wall_time::at(9h));
    CHECK(s.records() == texts{"order 3"});
}

struct order {
    std::uint64_t sequence = 0;
    int total = 0;
};

TEST_CASE("reprocess_all: the caller fetches the events")
{
    store s = three_letters();
    environment env;
    const auto fetch = [](const dead_letter& d) -> waybill::result<std::optional<order>> {
        if (d.at.sequence == 2) return std::nullopt;
        return order{d.at.sequence, 5};
    };
    const auto handle = [](auto& tx, const order& o) {
        tx.record(std::to_string(o.sequence));
        return fault{};
    };
    const auto r = reprocess_all(s, fetch, handle, {.page = 2}, env);
    CHECK(r.done == 2);
    CHECK(r.gone == 1);
    CHECK(s.records() == texts{"1", "3"});
}

TEST_CASE("reprocess_all: a dead letter without a body stays")
{
    store s;
    auto tx = s.begin();
    dead_letter d;
    d.key = key;
    d.kept = waybill::dead_letter_body::pointer;
    CHECK(s.put(*tx, d));
    CHECK(tx->commit());
    environment env;
    CHECK(reprocess_all(s, [](auto&, const auto&) {}, env).gone == 1);
    CHECK(s.letters().size() == 1);
}

TEST_CASE("reprocess_all: a dependency that is down is retried, then the call ends")
{
    store s = three_letters();
    environment env;
    int calls = 0;
    const auto down = [&](auto&, const dead_letter&) {
        ++calls;
        return waybill::infrastructure("down");
    };
    const auto r = reprocess_all(s, down, env);
    CHECK(calls == 5);
    CHECK(r.outcome == run_outcome::stopped);
    CHECK(r.reason == waybill::infrastructure("down"));
    CHECK(r.failed.empty());
    CHECK(s.letters().size() == 3);
    const auto stops = [&](auto&, const dead_letter&) { return waybill::cancelled("stop"); };
    CHECK(reprocess_all(s, stops, env).outcome == run_outcome::running);
    dead_letter::run_report all;
    const auto handle = [](auto& tx, const dead_letter& e) { tx.record(e.body); };
    reprocess_all(s, handle, {.max_per_second = 1}, waybill::time_limited(env, 1500ms), all);
    CHECK(all.outcome == run_outcome::running);
    CHECK(all.done == 2);
    reprocess_all(s, handle, {}, env, all);
    CHECK(all.done == 3);
    CHECK(all.ok());
}

}  // namespace
}  // namespace reprocess_all_test
