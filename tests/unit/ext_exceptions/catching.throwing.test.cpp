// SPDX-License-Identifier: MIT

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <support/held.hpp>

#include <waybill/batch/send_all.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/testing/memory_store.hpp>

namespace ext_exceptions_test {
namespace {

using namespace waybill;

struct event {
    std::uint64_t sequence = 0;
    std::string body{};
};

struct silent : std::exception {
    const char* what() const noexcept override { return nullptr; }
};

TEST_CASE("catching: an exception of a handler becomes a fault with its message")
{
    const auto thrown = [](auto e) { return catching([e] { throw e; })(); };
    CHECK(thrown(std::runtime_error("no total")) == permanent("no total"));
    CHECK(thrown(std::invalid_argument("stoi")) == permanent("stoi"));
    CHECK(thrown(std::bad_alloc()).kind == fault_kind::infrastructure);
    CHECK(thrown(std::system_error(ENOSPC, std::generic_category(), "write")).kind ==
          fault_kind::infrastructure);
    CHECK(thrown(std::filesystem::filesystem_error("x", std::error_code())).kind ==
          fault_kind::infrastructure);
    CHECK(thrown(42) == permanent("an exception that is not a std::exception"));
    CHECK(thrown("a literal") == permanent("an exception that is not a std::exception"));
    CHECK(thrown(silent()) == permanent(""));
}

TEST_CASE("catching: results of a handler that does not throw are unchanged")
{
    CHECK(catching([] {})().ok());
    CHECK(catching([] { return transient("later"); })() == transient("later"));
    const auto constant = catching([](int n) { return n > 0 ? fault{} : permanent("n"); });
    CHECK(constant(1).ok());
    CHECK(constant(0) == permanent("n"));
    int calls = 0;
    auto counting = catching([n = 0, &calls]() mutable { calls = ++n; });
    CHECK(counting().ok());
    CHECK(counting().ok());
    CHECK(calls == 2);
}

TEST_CASE("catching: a handler that may skip its event keeps its result type")
{
    const auto handle = catching([](int n) -> event_outcome {
        if (n < 0) throw std::runtime_error("below zero");
        return n == 0 ? skipped("nothing") : event_outcome();
    });
    CHECK(handle(0) == skipped("nothing"));
    CHECK(handle(1) == event_outcome());
    CHECK(handle(-1) == event_outcome(permanent("below zero")));
}

TEST_CASE("catching: arguments and handlers that cannot be copied are accepted")
{
    auto move_only = catching([p = std::make_unique<int>(1)](std::unique_ptr<int> q, int& out) {
        out = *p + *q;
        throw std::runtime_error("after all");
    });
    int out = 0;
    CHECK(move_only(std::make_unique<int>(2), out) == permanent("after all"));
    CHECK(out == 3);
    int n = 0;
    auto stays = [&n]() mutable { ++n; };
    CHECK(catching(std::ref(stays))().ok());
    CHECK(n == 1);
}

TEST_CASE("catching: classify selects the kind, and an exception is never a success")
{
    const auto says = [](fault_kind c) {
        return catching([] { throw std::runtime_error("x"); },
                        [c](const std::exception&) { return c; })();
    };
    CHECK(says(fault_kind::transient) == transient("x"));
    CHECK(says(fault_kind::ownership_lost) == ownership_lost("x"));
    CHECK(says(fault_kind::none) == permanent("x"));
    const auto throws_itself = catching([] { throw std::runtime_error("x"); },
                                        [](const std::exception&) -> fault_kind { throw 1; });
    CHECK(throws_itself() == permanent("x"));
}

TEST_CASE("catching: a long message is cut between characters")
{
    const auto said = [](std::string text) {
        return catching([&] { throw std::runtime_error(text); })().text;
    };
    CHECK(said(std::string(1'024, 'x')).size() == 1'024);
    CHECK(said(std::string(1'025, 'x')).size() == 1'024);
    std::string wide = "x";
    while (wide.size() < 5'000) wide += "\xe2\x82\xac";  // three bytes each
    CHECK(said(wide).size() == 1'024);
    CHECK(said("x" + wide).size() == 1'022);
}

TEST_CASE("catching: a store call that throws returns an error")
{
    auto load = catching([](bool broken) -> result<std::optional<checkpoint>> {
        if (broken) throw std::runtime_error("locked");
        return std::optional<checkpoint>();
    });
    CHECK(load(false).has_value());
    CHECK(load(true).error() == permanent("locked"));
    auto begin = catching([]() -> result<void> { throw std::bad_alloc(); });
    CHECK(begin().error().kind == fault_kind::infrastructure);
}

TEST_CASE("process_batch: with catching, no event is lost, and a failed one has no effect")
{
    for (const bool savepoints : {true, false}) {
        CAPTURE(savepoints);
        testing::memory_store<> store;
        const assignment mine{{"orders", "billing", "0"}, {}, 1};
        std::vector<event> events;
        for (std::uint64_t i = 0; i < 8; ++i) events.push_back({i, "b" + std::to_string(i)});
        int down = 1;
        int busy = 1;
        auto handle = catching(
            [&](auto& tx, const event& e) {
                tx.record(e.body);
                if (e.sequence == 2) throw std::runtime_error("no total in " + e.body);
                if (e.sequence == 3) throw 3;
                if (e.sequence == 5 && busy-- > 0) throw std::domain_error("busy");
                if (e.sequence == 6 && down-- > 0) throw std::bad_alloc();
            },
            [](const std::exception& e) {
                return dynamic_cast<const std::domain_error*>(&e) ? fault_kind::transient
                                                                  : by_default()(e);
            });
        const batch_policy p{.savepoints = savepoints};
        const batch_report first = process_batch(store, mine, events, handle, wall_time{}, p);
        CHECK(first.outcome == batch_outcome::redeliver);
        CHECK(first.reason.kind == fault_kind::infrastructure);
        CHECK(store.records().empty());
        CHECK(store.letters().empty());

        const batch_report again = process_batch(store, mine, events, handle, wall_time{}, p);
        CHECK(again.outcome == batch_outcome::committed);
        CHECK(again.handled == 6);
        CHECK(again.dead_lettered == 2);
        CHECK(store.records() == std::vector<std::string>{"b0", "b1", "b4", "b5", "b6", "b7"});
        REQUIRE(store.letters().size() == 2);
        CHECK(store.letters().begin()->second.reason == "no total in b2");
        CHECK(store.letters().begin()->second.body == "b2");
    }
}

TEST_CASE("send_all: after an exception of the send function, the identical batch is sent again")
{
    std::vector<std::string> inbox{"a", "b", "c", "d", "e"};
    std::vector<std::vector<std::string>> arrived;
    int calls = 0;
    batch_sender s{{.limit = {.items = 2}}};
    std::int64_t now = 0;
    auto clock = [&] { return steady_time::at(duration::seconds(++now)); };
    auto transmit = catching([&](const auto& batch) -> send_outcome {
        arrived.emplace_back(batch.begin(), batch.end());
        if (++calls == 2) throw std::runtime_error("connection reset");
        return batch_sender::accepted{};
    });
    send_report r = send_all(inbox, &std::string::size, s, transmit, clock);
    for (int i = 0; r.waiting && i < 100; ++i) {
        now = r.waiting->since_epoch().count() / 1'000'000'000;
        r += send_all(inbox, &std::string::size, s, transmit, clock);
    }
    CHECK(r.accepted == 5);
    CHECK(r.not_accepted == 0);
    const std::vector<std::vector<std::string>> expected{{"a", "b"}, {"c", "d"}, {"c", "d"}, {"e"}};
    CHECK(arrived == expected);
}

TEST_CASE("send functions: an exception is unknown by default, or the result of classify")
{
    const auto sends = [](auto... classify) {
        return catching([]() -> send_outcome { throw std::runtime_error("x"); }, classify...)();
    };
    CHECK(waybill::holds_alternative<batch_sender::outcome_unknown>(sends()));
    const auto knows = [](const std::exception& e) {
        return batch_sender::failed{.kind = fault_kind::permanent, .text = e.what()};
    };
    const send_outcome said = sends(knows);
    REQUIRE(waybill::holds_alternative<batch_sender::failed>(said));
    CHECK(tests_support::held<batch_sender::failed>(said).text == "x");
    CHECK(waybill::holds_alternative<batch_sender::outcome_unknown>(
        sends([](const std::exception&) -> send_outcome { throw 1; })));
    CHECK(waybill::holds_alternative<batch_sender::outcome_unknown>(
        catching([]() -> send_outcome { throw 1; })()));
    // A callable that always returns one outcome type is a send function, too.
    CHECK(waybill::holds_alternative<batch_sender::accepted>(
        catching([] { return batch_sender::accepted{}; })()));
}

struct sql_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

TEST_CASE("the guide's example: a handler that throws")
{
    testing::memory_store<std::string> store;
    const assignment mine{{"orders", "billing", "0"}};
    const std::vector<event> events{{1, "a"}, {2, "b"}};
    const wall_time now;
    const auto handle = [](auto& tx, const event& e) {
        if (e.body == "b") throw sql_error("the database is down");
        tx.record(e.body);
    };

    //! [ext_catching]
    const auto classify = [](const std::exception& e) {
        return dynamic_cast<const sql_error*>(&e) ? waybill::fault_kind::infrastructure
                                                  : waybill::fault_kind::permanent;
    };
    auto r = waybill::process_batch(store, mine, events, waybill::catching(handle, classify), now);
    //! [ext_catching]
    CHECK(r.outcome == batch_outcome::redeliver);
    CHECK(r.reason == infrastructure("the database is down"));
    CHECK(store.records().empty());
}

}  // namespace
}  // namespace ext_exceptions_test
