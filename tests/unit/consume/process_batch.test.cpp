// SPDX-License-Identifier: MIT

#include <array>
#include <cstdint>
#include <forward_list>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/memory_store.hpp>

namespace process_batch_test {
namespace {

using waybill::assignment;
using waybill::batch_outcome;
using waybill::batch_policy;
using waybill::fault;
using waybill::fault_kind;
using waybill::position;
using waybill::process_batch;
using waybill::wall_time;
using store = waybill::testing::memory_store<std::string>;

const waybill::partition_key key{"orders", "billing", "0"};
const wall_time noon = wall_time::at(waybill::duration::seconds(43'200));

struct event {
    std::uint64_t sequence;
    std::string body;
    std::string offset{};
    wall_time time{};
};

// Writes the body. If the body is the name of a fault, fails with this fault.
struct handler {
    int calls = 0;
    fault operator()(store::transaction& tx, const event& e)
    {
        ++calls;
        tx.record(e.body);
        if (e.body == "bad") return waybill::permanent("cannot be");
        if (e.body == "late") return waybill::transient("not yet");
        if (e.body == "down") return waybill::infrastructure("no answer");
        if (e.body == "lost") return waybill::ownership_lost("not mine");
        if (e.body == "stop") return waybill::cancelled("closing");
        return {};
    }
};

std::vector<event> events_of(std::initializer_list<const char*> bodies)
{
    std::vector<event> events;
    for (const char* b : bodies) events.push_back({10 * (events.size() + 1), b});
    return events;
}

TEST_CASE("process_batch: effects, dead letter and checkpoint are stored")
{
    store s;
    handler h;
    auto events = events_of({"a", "bad", "c"});
    events[1].time = wall_time::at(waybill::duration::seconds(5));
    events[1].offset = "@20";
    events[2].offset = "@30";
    const auto r = process_batch(s, assignment{key, {}, 3}, events, h, noon);
    CHECK(r == waybill::batch_report{.outcome = batch_outcome::committed,
                                     .reached = position{30, "@30"},
                                     .handled = 2,
                                     .dead_lettered = 1});
    CHECK(s.records() == std::vector<std::string>{"a", "c"});
    CHECK(*s.load(key) == waybill::checkpoint{position{30, "@30"}, 3});
    const auto letter = **s.find(key, 20);
    CHECK(letter ==
          waybill::dead_letter{key, position{20, "@20"}, fault_kind::permanent, "cannot be", "bad",
                               1, wall_time::at(waybill::duration::seconds(5)), noon,
                               waybill::dead_letter_body::body, 3, waybill::crc32c("bad")});
    CHECK(s.letters().size() == 1);
    CHECK(h.calls == 3);
}

TEST_CASE("process_batch: continues after the checkpoint, and skips repeated events")
{
    store s;
    handler h;
    const auto events = events_of({"a", "b", "c", "d"});
    const auto first = process_batch(s, {key, {}, 1}, events.begin(), events.begin() + 2, h, noon);
    CHECK(first.outcome == batch_outcome::committed);
    const auto second = process_batch(s, {key, first.reached, 1}, events, h, noon);
    CHECK(second.outcome == batch_outcome::committed);
    CHECK(second.repeated == 2);
    CHECK(second.handled == 2);
    CHECK(s.records() == std::vector<std::string>{"a", "b", "c", "d"});

    const auto third = process_batch(s, {key, second.reached, 1}, events, h, noon);
    CHECK(third == waybill::batch_report{
                       .outcome = batch_outcome::empty, .reached = second.reached, .repeated = 4});
    const auto none = process_batch(s, {key, second.reached, 1}, std::vector<event>{}, h, noon);
    CHECK(none ==
          waybill::batch_report{.outcome = batch_outcome::empty, .reached = second.reached});
    const auto nothing = process_batch(s, {key, {}, 1}, std::vector<event>{}, h, noon);
    CHECK(nothing == waybill::batch_report{});
    CHECK(h.calls == 4);

    // An owner with an outdated start position is stopped by the stored checkpoint.
    const auto again = process_batch(s, {key, {}, 1}, events, h, noon);
    CHECK(again.outcome == batch_outcome::ownership_lost);
    CHECK(again.reason == waybill::ownership_lost(
                              "checkpoint conflict: another owner has moved it, expected none"));
    const auto old =
        process_batch(s, {key, second.reached, 0}, std::vector<event>{{90, "x"}}, h, noon);
    CHECK(old.reason == waybill::ownership_lost(
                            "checkpoint stale_epoch: another owner has a higher epoch than 0"));
    CHECK(s.records().size() == 4);
}

TEST_CASE("process_batch: accepts sequences from 0 to 2^64 - 1")
{
    store s;
    handler h;
    constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
    const std::vector<event> events{{0, "zero"}, {largest - 1, "before"}, {largest, "last"}};
    const auto zero = process_batch(s, {key, {}, 1}, events.begin(), events.begin() + 1, h, noon);
    CHECK(zero.outcome == batch_outcome::committed);
    CHECK(zero.reached == position{0, ""});
    const auto rest = process_batch(s, {key, zero.reached, 1}, events, h, noon);
    CHECK(rest.repeated == 1);
    CHECK(rest.reached == position{largest, ""});
    CHECK(s.records() == std::vector<std::string>{"zero", "before", "last"});
    CHECK(process_batch(s, {key, rest.reached, 1}, events, h, noon).outcome ==
          batch_outcome::empty);
}

TEST_CASE("process_batch: sequences that do not ascend are invalid, and nothing is called")
{
    for (const std::uint64_t third : {std::uint64_t{20}, std::uint64_t{15}, std::uint64_t{0}}) {
        store s;
        handler h;
        const std::vector<event> events{{10, "a"}, {20, "b"}, {third, "c"}};
        const auto r = process_batch(s, {key, {}, 1}, events, h, noon);
        CHECK(r.outcome == batch_outcome::invalid);
        CHECK(!r.reached);
        CHECK(process_batch(s, {key, waybill::position{5, "x"}, 1}, events, h, noon).reached ==
              waybill::position{5, "x"});
        CHECK(r.reason == waybill::permanent("event 2 has sequence " + std::to_string(third) +
                                             ", which must be greater than 20 before it"));
        CHECK(h.calls == 0);
        CHECK(s.records().empty());
        CHECK(!*s.load(key));
    }
}

TEST_CASE("process_batch: a negative sequence is invalid, and not read as a large number")
{
    struct signed_event {
        std::int64_t sequence;
    };
    std::uint64_t calls = 0;
    const auto handle = [&](auto&, const signed_event&) {
        ++calls;
        return waybill::fault{};
    };
    const std::vector<std::vector<signed_event>> batches{
        {{-1}}, {{7}, {-1}}, {{-5}, {7}}, {{3}, {7}, {-1}}};
    for (const auto& events : batches) {
        store s;
        const waybill::position five{5, ""};
        for (const auto& from : {std::optional<waybill::position>{}, std::optional{five}}) {
            const auto r = process_batch(s, {key, from, 1}, events, handle, noon);
            CHECK(r.outcome == batch_outcome::invalid);
            CHECK(r.reached == from);
            CHECK(
                r.reason.text.ends_with(" has a sequence that is negative or has more than 64 "
                                        "bits; it must be from 0 to 2^64 - 1"));
            CHECK(!*s.load(key));
        }
    }
    CHECK(calls == 0);
}

TEST_CASE("process_batch: a negative enum or wrapped sequence is invalid")
{
    enum error : int { end_of_log = -1001 };
    struct wrapped {
        std::int64_t n;
        operator std::int64_t() const { return n; }
    };
    const auto ends = [](auto number) {
        struct one {
            decltype(number) sequence;
        };
        store s;
        return process_batch(
            s, {key, {}, 1}, std::vector<one>{{number}},
            [](auto&, const one&) { return waybill::fault{}; }, noon);
    };
    CHECK(ends(end_of_log).outcome == batch_outcome::invalid);
    CHECK(ends(wrapped{-1}).outcome == batch_outcome::invalid);
    CHECK(ends(std::int8_t{-1}).outcome == batch_outcome::invalid);
    CHECK(ends(wrapped{7}).reached == waybill::position{7, ""});
    CHECK(ends(error(5)).reached == waybill::position{5, ""});
}

TEST_CASE("process_batch: accepts any integer as sequence, any forward range, and a lambda")
{
    struct narrow {
        int sequence;
    };
    store s;
    const std::forward_list<narrow> events{{1}, {2}, {7}};
    const auto count = [](auto& tx, const narrow& e) {
        tx.record(std::to_string(e.sequence));
        return fault{};
    };
    CHECK(process_batch(s, {key, position{1, ""}, 1}, events, count, noon).outcome ==
          batch_outcome::ownership_lost);
    CHECK(process_batch(s, {key, {}, 1}, events, count, noon).reached == position{7, ""});
    const narrow array[] = {{8}, {9}};
    CHECK(process_batch(s, {key, position{7, ""}, 1}, array, count, noon).handled == 2);
    CHECK(s.records() == std::vector<std::string>{"1", "2", "7", "8", "9"});
}

TEST_CASE("process_batch: the fault that a handler reports decides the outcome")
{
    const struct {
        const char* body;
        batch_outcome end;
        fault why;
        int calls;
    } cases[] = {
        {"late", batch_outcome::redeliver, waybill::transient("not yet"), 1 + 3},
        {"down", batch_outcome::redeliver, waybill::infrastructure("no answer"), 2},
        {"lost", batch_outcome::ownership_lost, waybill::ownership_lost("not mine"), 2},
        {"stop", batch_outcome::cancelled, waybill::cancelled("closing"), 2},
    };
    for (const auto& c : cases) {
        INFO(std::string(c.body));
        store s;
        handler h;
        const auto r = process_batch(s, {key, {}, 1}, events_of({"a", c.body, "c"}), h, noon);
        CHECK(r.outcome == c.end);
        CHECK(r.reason == c.why);
        CHECK(r.handled == 0);
        CHECK(!r.reached);
        CHECK(h.calls == c.calls);
        CHECK(s.records().empty());
        CHECK(s.letters().empty());
        CHECK(!*s.load(key));
    }
    store s;
    handler h;
    const batch_policy park{.tries = 2,
                            .on_exhausted = waybill::batch_policy::when_exhausted::dead_letter};
    CHECK(process_batch(s, {key, {}, 1}, events_of({"a", "late", "c"}), h, noon, park)
              .dead_lettered == 1);
    CHECK((*s.find(key, 20))->kind == fault_kind::transient);
    CHECK((*s.find(key, 20))->tries == 2);
}

TEST_CASE("process_batch: reasons are bounded, and cut between characters")
{
    const std::size_t ten_megabytes = 10'000'000;
    std::string huge;
    while (huge.size() < ten_megabytes) huge += "\xE2\x82\xAC";  // a euro sign, three bytes
    const auto fails = [&](store::transaction&, const event&) { return waybill::permanent(huge); };
    for (const std::size_t most :
         {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{1'024}, std::size_t{1'025}}) {
        store s;
        const auto r = process_batch(s, {key, {}, 1}, events_of({"a", "b"}), fails, noon,
                                     {.dead_letters = {.reason_bytes = most}});
        CHECK(r.dead_lettered == 2);
        const auto letter = **s.find(key, 10);
        CHECK(letter.reason == huge.substr(0, most - most % 3));
        CHECK(letter.reason.capacity() < 2'000);
    }
    // The reason of a delivery is kept in full.
    store s;
    const auto down = [&](store::transaction&, const event&) {
        return waybill::infrastructure(huge);
    };
    CHECK(process_batch(s, {key, {}, 1}, events_of({"a"}), down, noon).reason.text.size() == 1'023);
}

// A store without savepoints.
struct plain_store {
    struct transaction {
        store::transaction behind;
        void record(std::string r) { behind.record(std::move(r)); }
        waybill::result<waybill::commit_outcome> commit() { return behind.commit(); }
        void rollback() noexcept { behind.rollback(); }
    };
    store behind;
    waybill::result<transaction> begin() { return transaction{*behind.begin()}; }
    auto load(const waybill::partition_key& k) { return behind.load(k); }
    auto advance(transaction& tx, const waybill::partition_key& k,
                 const std::optional<position>& from, const position& to, std::uint64_t epoch)
    {
        return behind.advance(tx.behind, k, from, to, epoch);
    }
    auto put(transaction& tx, const waybill::dead_letter& d) { return behind.put(tx.behind, d); }
    auto find(const waybill::partition_key& k, std::uint64_t n) { return behind.find(k, n); }
};
static_assert(!waybill::savepoint_scope<plain_store::transaction>);

TEST_CASE("process_batch: a store without savepoints gives the same result")
{
    plain_store s;
    int calls = 0;
    const auto h = [&](plain_store::transaction& tx, const event& e) -> fault {
        ++calls;
        tx.record(e.body);
        if (e.body == "bad") return waybill::permanent("cannot be " + std::to_string(e.sequence));
        if (e.body == "late") return waybill::transient("not yet");
        return {};
    };
    const auto r = process_batch(
        s, {key, {}, 1}, events_of({"a", "bad", "late", "d", "bad", "f"}), h, noon,
        {.tries = 2, .on_exhausted = waybill::batch_policy::when_exhausted::dead_letter});
    CHECK(r.outcome == batch_outcome::committed);
    CHECK(r.handled == 3);
    CHECK(r.dead_lettered == 3);
    CHECK(s.behind.records() == std::vector<std::string>{"a", "d", "f"});
    CHECK((*s.find(key, 20))->reason == "cannot be 20");
    CHECK((*s.find(key, 30))->tries == 2);
    CHECK((*s.find(key, 50))->reason == "cannot be 50");
    CHECK(calls == 2 + 2 + 2 + 3 + 3);
}

// A store in which every call fails, with errors without a text.
struct dead_store {
    struct transaction {
        waybill::result<waybill::commit_outcome> commit() { return waybill::unexpected(fault{}); }
        void rollback() noexcept {}
    };
    fault_kind how = fault_kind::none;
    bool begins = false;
    int calls = 0;
    auto failed()
    {
        ++calls;
        return waybill::unexpected(fault{how, "no"});
    }
    waybill::result<transaction> begin()
    {
        if (begins) return transaction{};
        return failed();
    }
    waybill::result<std::optional<waybill::checkpoint>> load(const waybill::partition_key&)
    {
        return failed();
    }
    waybill::result<waybill::advance_outcome> advance(transaction&, const waybill::partition_key&,
                                                      const std::optional<position>&,
                                                      const position&, std::uint64_t)
    {
        if (begins) return waybill::advance_outcome::applied;
        return failed();
    }
    waybill::result<void> put(transaction&, const waybill::dead_letter&) { return failed(); }
    waybill::result<std::optional<waybill::dead_letter>> find(const waybill::partition_key&,
                                                              std::uint64_t)
    {
        return failed();
    }
};

TEST_CASE("process_batch: a store in which every call fails ends the delivery at once")
{
    for (const fault_kind how :
         {fault_kind::none, fault_kind::infrastructure, fault_kind::permanent}) {
        dead_store s{how};
        const auto never = [](dead_store::transaction&, const event&) {
            FAIL("called");
            return fault{};
        };
        const auto r = process_batch(s, {key, {}, 1}, events_of({"a"}), never, noon);
        CHECK(r.outcome == batch_outcome::redeliver);
        CHECK(r.reason.kind == (how == fault_kind::none ? fault_kind::infrastructure : how));
        CHECK(r.reason.text == "no");
        CHECK(s.calls == 1);
    }
    // All calls work up to the commit, which fails, and then the load does, too.
    dead_store s{fault_kind::infrastructure, true};
    const auto fine = [](dead_store::transaction&, const event&) { return fault{}; };
    const auto r = process_batch(s, {key, {}, 1}, events_of({"a"}), fine, noon);
    CHECK(r.outcome == batch_outcome::unknown);
    CHECK(!r.reached);
    CHECK(r.handled == 0);
    CHECK(r.reason.kind == fault_kind::infrastructure);

    const auto bad = [](dead_store::transaction&, const event&) {
        return waybill::permanent("bad");
    };
    const auto parked = process_batch(s, {key, {}, 1}, events_of({"a"}), bad, noon);
    CHECK(parked.outcome == batch_outcome::redeliver);
    CHECK(parked.reason == waybill::infrastructure("no"));
}

static_assert(waybill::sequenced<event>);
static_assert(!waybill::sequenced<std::string>);
static_assert(waybill::detail::event_handler<handler, store::transaction, event>);
static_assert(!waybill::detail::event_handler<decltype([](int) { return fault{}; }),
                                              store::transaction, event>);
static_assert(!waybill::checkpoint_store<std::string>);
static_assert(!waybill::detail::transaction_scope<int>);
static_assert(name(waybill::commit_outcome::unknown) == "unknown");
static_assert(name(waybill::advance_outcome::stale_epoch) == "stale_epoch");

}  // namespace
}  // namespace process_batch_test
