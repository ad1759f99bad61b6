// SPDX-License-Identifier: MIT
//
// A handler that throws at each place in turn, bare and in `catching`, outside of transactions and
// on a dead letter. Bare, the exception passes through, and a restart finds all uncommitted events.
// Wrapped, it is a named outcome. Nothing is lost, and with its key no effect happens twice.

#include <cstdint>
#include <functional>
#include <new>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/memory_store.hpp>

namespace handler_throws_test {
namespace {

using waybill::assignment;
using waybill::batch_outcome;
using waybill::fault;
using waybill::fault_kind;
using waybill::reprocess_report;
using store_type = waybill::testing::memory_store<std::uint64_t>;

struct event {
    std::uint64_t sequence;
};
const waybill::partition_key key{"s", "g", "p"};
const std::vector<event> events{{1}, {2}, {3}, {4}, {5}};

enum class thrown : std::uint8_t { error, no_memory, number };

[[noreturn]] void throw_a(thrown what)
{
    if (what == thrown::error) throw std::runtime_error("it is out of order");
    if (what == thrown::no_memory) throw std::bad_alloc();
    throw 7;
}

// External effects with idempotency keys.
struct outside {
    store_type store;
    waybill::checkpoint_writer_for<store_type> checkpoints{store};
    waybill::dead_letter_sink_for<store_type> letters{store};
    std::uint64_t bad = 0;
    thrown what = thrown::error;
    bool after_effect = false;
    bool once = false;
    std::set<std::string, std::less<>> keys;
    std::vector<std::uint64_t> effects;

    fault operator()(const event& e, std::string_view id)
    {
        const bool throws = e.sequence == bad;
        if (throws && once) bad = 0;
        if (throws && !after_effect) throw_a(what);
        if (keys.emplace(id).second) effects.push_back(e.sequence);
        if (throws) throw_a(what);
        return {};
    }

    template <class Handler>
    waybill::at_least_once_report deliver(Handler&& handler)
    {
        const assignment mine{key, waybill::position_of(*store.load(key)), 1};
        return waybill::process_at_least_once(checkpoints, letters, mine, events, handler, {});
    }
    [[nodiscard]] std::uint64_t stands() const
    {
        const auto at = *store.load(key);
        return at ? at->at.sequence : 0;
    }
};

template <class F>
bool throws(F f)
{
    try {
        f();
    } catch (...) {
        return true;
    }
    return false;
}

template <class Check>
void each_case(Check check)
{
    for (std::uint64_t bad = 1; bad <= events.size(); ++bad) {
        for (const thrown what : {thrown::error, thrown::no_memory, thrown::number}) {
            for (const bool after_effect : {false, true}) {
                outside o;
                o.bad = bad;
                o.what = what;
                o.after_effect = after_effect;
                o.once = true;
                check(o);
            }
        }
    }
}

TEST_CASE(
    "process_at_least_once: after an exception of a bare handler, uncommitted events are "
    "repeated")
{
    each_case([](outside& o) {
        const std::uint64_t bad = o.bad;
        CHECK(throws([&] { (void)o.deliver(o); }));
        CHECK(o.stands() < bad);
        CHECK(o.store.letters().empty());
        for (std::uint64_t n = 1; n <= o.stands(); ++n) CHECK(o.effects[n - 1] == n);
        const auto r = o.deliver(o);
        CHECK(r.outcome == batch_outcome::committed);
        CHECK(o.effects == std::vector<std::uint64_t>{1, 2, 3, 4, 5});
        CHECK(o.stands() == 5);
    });
}

TEST_CASE("process_at_least_once: an exception of a handler in catching() is a fault")
{
    each_case([](outside& o) {
        const std::uint64_t bad = o.bad;
        const auto r = o.deliver(waybill::catching(std::ref(o)));
        if (o.what == thrown::no_memory) {
            // The earlier events are committed, and the others are repeated.
            CHECK(r.outcome == batch_outcome::redeliver);
            CHECK(r.reason.kind == fault_kind::infrastructure);
            CHECK(!r.reason.text.empty());
            CHECK(o.stands() == bad - 1);
            CHECK(o.deliver(waybill::catching(std::ref(o))).outcome == batch_outcome::committed);
            CHECK(o.store.letters().empty());
            CHECK(o.effects.size() == events.size());
        } else {
            CHECK(r.outcome == batch_outcome::committed);
            CHECK(r.dead_lettered == 1);
            CHECK(r.handled == events.size() - 1);
            REQUIRE(o.store.letters().size() == 1);
            const auto& [row, letter] = *o.store.letters().begin();
            CHECK(row.second == bad);
            CHECK(letter.kind == fault_kind::permanent);
            const std::string_view said = o.what == thrown::error
                                              ? "it is out of order"
                                              : "an exception that is not a std::exception";
            CHECK(letter.reason == said);
            CHECK(o.effects.size() == events.size() - (o.after_effect ? 0 : 1));
        }
        CHECK(o.stands() == 5);
    });
}

TEST_CASE("process_at_least_once: after an exception of decide_all_failed, the batch is repeated")
{
    outside o;
    int asked = 0;
    const assignment mine{key, {}, 1};
    const auto bad = [](const event&, std::string_view) { return waybill::permanent("no"); };
    const auto ask = [&](std::uint64_t) -> waybill::batch_policy::if_all_failed {
        if (++asked == 1) throw std::runtime_error("unknown error");
        return waybill::batch_policy::if_all_failed::go_on;
    };
    CHECK_THROWS_AS((void)waybill::process_at_least_once(o.checkpoints, o.letters, mine, events,
                                                         bad, {}, {}, ask),
                    std::runtime_error);
    CHECK(o.stands() == 0);
    const auto r =
        waybill::process_at_least_once(o.checkpoints, o.letters, mine, events, bad, {}, {}, ask);
    CHECK(r.outcome == batch_outcome::committed);
    CHECK(o.store.letters().size() == 5);
}

// A store with the letter of event 3, and the result of handling it again.
struct parked {
    store_type store;
    std::optional<thrown> what;

    parked()
    {
        const auto handle = [](store_type::transaction& tx, const event& e) {
            if (e.sequence == 3) return waybill::permanent("the first time");
            tx.record(e.sequence);
            return fault{};
        };
        (void)waybill::process_batch(store, {key, {}, 1}, events, handle, {});
    }
    fault operator()(store_type::transaction& tx, const event& e)
    {
        tx.record(e.sequence);
        if (what) throw_a(*what);
        return {};
    }
    template <class Handler>
    waybill::reprocess_report again(Handler&& handler)
    {
        const auto fetch =
            [](const waybill::dead_letter& d) -> waybill::result<std::optional<event>> {
            return std::optional(event{d.at.sequence});
        };
        return waybill::reprocess(store, key, 3, fetch, handler, {});
    }
    [[nodiscard]] waybill::dead_letter letter() const
    {
        const auto found = *store.find(key, 3);
        return found ? *found : waybill::dead_letter{};
    }
    [[nodiscard]] bool untouched() const
    {
        return store.records() == std::vector<std::uint64_t>{1, 2, 4, 5};
    }
};

TEST_CASE("reprocess: an exception of a bare handler leaves dead letter and effects unchanged")
{
    for (const thrown what : {thrown::error, thrown::no_memory, thrown::number}) {
        parked p;
        const auto before = p.letter();
        p.what = what;
        CHECK(throws([&] { (void)p.again(p); }));
        CHECK(p.letter() == before);
        CHECK(p.untouched());
        p.what.reset();
        CHECK(p.again(p).outcome == reprocess_report::outcome_type::handled);
        CHECK(p.again(p).outcome == reprocess_report::outcome_type::absent);
        CHECK(p.store.records() == std::vector<std::uint64_t>{1, 2, 4, 5, 3});
    }
}

TEST_CASE("reprocess: an exception of a handler in catching() is a fault")
{
    for (const thrown what : {thrown::error, thrown::no_memory, thrown::number}) {
        parked p;
        const auto before = p.letter();
        p.what = what;
        const auto r = p.again(waybill::catching(std::ref(p)));
        CHECK(p.untouched());
        if (what == thrown::no_memory) {
            CHECK(r.outcome == reprocess_report::outcome_type::not_done);
            CHECK(r.reason.kind == fault_kind::infrastructure);
            CHECK(p.letter() == before);
        } else {
            CHECK(r.outcome == reprocess_report::outcome_type::failed);
            CHECK(p.letter().tries == before.tries + 1);
            CHECK(p.letter().reason == r.reason.text);
            CHECK(p.letter().reason != before.reason);
        }
        p.what.reset();
        CHECK(p.again(waybill::catching(std::ref(p))).outcome ==
              reprocess_report::outcome_type::handled);
        CHECK(p.store.letters().empty());
        CHECK(p.store.records() == std::vector<std::uint64_t>{1, 2, 4, 5, 3});
    }
}

TEST_CASE("reprocess: an exception of the fetch function changes nothing")
{
    parked p;
    const auto before = p.letter();
    const auto fetch = [](const waybill::dead_letter&) -> waybill::result<std::optional<event>> {
        throw std::runtime_error("the log is not there");
    };
    CHECK_THROWS_AS((void)waybill::reprocess(p.store, key, 3, fetch, p, {}), std::runtime_error);
    CHECK(p.letter() == before);
    const auto r = waybill::reprocess(p.store, key, 3, waybill::catching(fetch), p, {});
    CHECK(r.outcome == reprocess_report::outcome_type::not_done);
    CHECK(r.reason.text == "the log is not there");
    CHECK(p.letter() == before);
    CHECK(p.untouched());
}

}  // namespace
}  // namespace handler_throws_test
