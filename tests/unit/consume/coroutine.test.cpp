// SPDX-License-Identifier: MIT
//
// batch_machine over a store whose calls take time: a coroutine awaits one call after the other,
// and an event loop alternates between two partitions.
//
// Only the machine is needed. A driver is one loop: query the next action, await it, and report the
// result. The loop is the same for any coroutine library.

#include <version>

#include <doctest/doctest.h>

// clang 14 knows coroutines only under their experimental name.
#if defined(__cpp_impl_coroutine)

#include <coroutine>
#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <waybill/consume.hpp>
#include <waybill/core/match.hpp>
#include <waybill/lease.hpp>
#include <waybill/testing/memory_store.hpp>

namespace coroutine_test {
namespace {

using store = waybill::testing::memory_store<std::string>;

// The event loop: resumes coroutines in the order of their requests.
class loop {
public:
    void later(std::coroutine_handle<> h) { ready_.push_back(h); }
    bool turn()
    {
        if (ready_.empty()) return false;
        const auto h = ready_.front();
        ready_.pop_front();
        h.resume();
        return true;
    }

private:
    std::deque<std::coroutine_handle<>> ready_;
};

// A coroutine with a result of type T. Starts at once, and is owned by the task.
template <class T>
class task {
public:
    struct promise_type {
        std::optional<T> answer{};
        task get_return_object()
        {
            return task(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_value(T v) { answer = std::move(v); }
        void unhandled_exception() { std::terminate(); }
    };

    task(task&& other) noexcept : held_(std::exchange(other.held_, {})) {}
    task& operator=(task&&) = delete;
    ~task()
    {
        if (held_) held_.destroy();
    }
    [[nodiscard]] bool done() const { return held_.done(); }
    [[nodiscard]] const T& answer() const { return *held_.promise().answer; }

private:
    explicit task(std::coroutine_handle<promise_type> h) : held_(h) {}
    std::coroutine_handle<promise_type> held_;
};

// A call that takes one turn of the loop, and is made at its end.
template <class F>
struct call {
    loop& events;
    F make;
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) { events.later(h); }
    auto await_resume() { return make(); }
};
template <class F>
call(loop&, F) -> call<F>;

struct event {
    std::uint64_t sequence;
    std::string body;
};

template <class R>
waybill::fault_kind how(const R& r)
{
    return r ? waybill::fault_kind::none : r.error().kind;
}

// The driver. A step that is not awaited here does not exist: each action has its branch.
task<waybill::batch_outcome> consume(loop& events, store& s, waybill::assignment mine,
                                     std::vector<event> batch, std::vector<std::string>& calls)
{
    waybill::position to = waybill::position_of(batch.back());
    const waybill::batch_policy policy;
    waybill::batch_machine m(batch.size(), mine.from, to, mine.epoch, policy, mine.incarnation);
    std::optional<store::transaction> tx;
    std::vector<std::string> reasons(batch.size());
    const auto say = [&](const char* what) { calls.push_back(mine.key.partition + " " + what); };

    while (!m.ended()) {
        const auto next = m.next();
        if (waybill::holds_alternative<waybill::batch_machine::load_crash_record>(next)) {
            const auto r = co_await call{events, [&] {
                                             say("recall");
                                             return s.load_crash_record(mine.key);
                                         }};
            waybill::batch_machine::crash_record_loaded row{r ? *r : std::nullopt, how(r), 0};
            for (const event& e : batch) {
                if (row.found && e.sequence <= row.found->to) ++row.within;
            }
            m.on(row);
        } else if (const auto* cut = waybill::get_if<waybill::batch_machine::shorten>(&next)) {
            to = waybill::position_of(batch[cut->events - 1]);
            m.on(waybill::batch_machine::shortened{to});
        } else if (waybill::holds_alternative<waybill::batch_machine::begin>(next)) {
            auto r = co_await call{events, [&] {
                                       say("begin");
                                       return s.begin();
                                   }};
            if (r) tx.emplace(*std::move(r));
            m.on(waybill::batch_machine::done{how(r)});
        } else if (const auto* note =
                       waybill::get_if<waybill::batch_machine::store_crash_record>(&next)) {
            const auto row = note->row;
            m.on(waybill::batch_machine::done{how(co_await call{events, [&] {
                                                                    say("note");
                                                                    return s.store_crash_record(
                                                                        *tx, mine.key, row);
                                                                }})});
        } else if (waybill::holds_alternative<waybill::batch_machine::clear_crash_record>(next)) {
            m.on(waybill::batch_machine::done{how(co_await call{events, [&] {
                                                                    say("forget");
                                                                    return s.clear_crash_record(
                                                                        *tx, mine.key);
                                                                }})});
        } else if (waybill::holds_alternative<waybill::batch_machine::savepoint>(next)) {
            m.on(waybill::batch_machine::done{how(co_await call{events, [&] {
                                                                    say("savepoint");
                                                                    return tx->savepoint();
                                                                }})});
        } else if (const auto* handle = waybill::get_if<waybill::batch_machine::handle>(&next)) {
            const event& e = batch[handle->event];
            const std::size_t n = handle->event;
            const auto f = co_await call{
                events, [&] {
                    say("handle");
                    tx->record(mine.key.partition + e.body);
                    return e.body == "bad" ? waybill::permanent("cannot be") : waybill::fault{};
                }};
            reasons[n] = f.text;
            m.on(waybill::batch_machine::handled{f.kind});
        } else if (waybill::holds_alternative<waybill::batch_machine::release_savepoint>(next)) {
            m.on(waybill::batch_machine::done{how(co_await call{events, [&] {
                                                                    say("release");
                                                                    return tx->release_savepoint();
                                                                }})});
        } else if (waybill::holds_alternative<waybill::batch_machine::rollback_to_savepoint>(
                       next)) {
            m.on(waybill::batch_machine::done{
                how(co_await call{events, [&] {
                                      say("undo");
                                      return tx->rollback_to_savepoint();
                                  }})});
        } else if (const auto* parked =
                       waybill::get_if<waybill::batch_machine::write_dead_letter>(&next)) {
            const auto letter = waybill::make_dead_letter(mine.key, batch[parked->event],
                                                          {parked->kind, reasons[parked->event]},
                                                          parked->tries, {});
            m.on(waybill::batch_machine::done{how(co_await call{events, [&] {
                                                                    say("put");
                                                                    return s.put(*tx, letter);
                                                                }})});
        } else if (waybill::holds_alternative<waybill::batch_machine::decide_all_failed>(next)) {
            m.on(waybill::batch_machine::all_failed_decided{
                waybill::batch_policy::if_all_failed::go_on});
        } else if (waybill::holds_alternative<waybill::batch_machine::advance>(next)) {
            const auto r =
                co_await call{events, [&] {
                                  say("advance");
                                  return s.advance(*tx, mine.key, mine.from, to, mine.epoch);
                              }};
            m.on(waybill::batch_machine::advanced{r ? *r : waybill::advance_outcome::conflict,
                                                  how(r)});
        } else if (waybill::holds_alternative<waybill::batch_machine::commit>(next)) {
            const auto r = co_await call{events, [&] {
                                             say("commit");
                                             return tx->commit();
                                         }};
            tx.reset();
            m.on(waybill::batch_machine::committed{r ? *r : waybill::commit_outcome::unknown});
        } else if (waybill::holds_alternative<waybill::batch_machine::rollback>(next)) {
            tx.reset();
            m.on(waybill::batch_machine::done{});
        } else if (waybill::holds_alternative<waybill::batch_machine::check_commit>(next)) {
            const auto r = co_await call{events, [&] {
                                             say("load");
                                             return s.load(mine.key);
                                         }};
            m.on(waybill::batch_machine::loaded{r ? *r : std::nullopt, how(r)});
        } else {
            break;  // idle
        }
    }
    co_return *m.ended();
}

TEST_CASE("coroutine: one partition, each call awaited")
{
    loop events;
    store s;
    std::vector<std::string> calls;
    const auto t = consume(events, s, {{"log", "g", "A"}, {}, 1, 9}, {{1, "a"}, {2, "bad"}}, calls);
    int turns = 0;
    while (events.turn()) ++turns;
    REQUIRE(t.done());
    CHECK(t.answer() == waybill::batch_outcome::committed);
    CHECK(turns == 15);
    CHECK(calls.size() == 15);
    CHECK(s.records() == std::vector<std::string>{"Aa"});
    CHECK((*s.find({"log", "g", "A"}, 2))->reason == "cannot be");
    CHECK((*s.load({"log", "g", "A"}))->at.sequence == 2);
}

TEST_CASE("coroutine: two partitions alternate in one loop, each in its own order")
{
    loop events;
    store s;
    std::vector<std::string> calls;
    const auto a = consume(events, s, {{"log", "g", "A"}, {}, 1, 9}, {{1, "a"}, {2, "b"}}, calls);
    const auto b = consume(events, s, {{"log", "g", "B"}, {}, 1, 9}, {{1, "bad"}, {2, "c"}}, calls);
    while (events.turn()) continue;
    REQUIRE((a.done() && b.done()));
    CHECK(a.answer() == waybill::batch_outcome::committed);
    CHECK(b.answer() == waybill::batch_outcome::committed);
    int changes = 0;
    for (std::size_t i = 1; i != calls.size(); ++i)
        changes += calls[i][0] != calls[i - 1][0] ? 1 : 0;
    CHECK(changes > 20);  // neither waits for the other
    CHECK(s.records() == std::vector<std::string>{"Aa", "Ab", "Bc"});
    CHECK((*s.load({"log", "g", "A"}))->at.sequence == 2);
    CHECK((*s.load({"log", "g", "B"}))->at.sequence == 2);
}

TEST_CASE("coroutine: a task destroyed halfway leaves no effects, only its crash record")
{
    loop events;
    store s;
    std::vector<std::string> calls;
    {
        const auto t =
            consume(events, s, {{"log", "g", "A"}, {}, 1, 9}, {{1, "a"}, {2, "b"}}, calls);
        for (int turns = 0; turns != 8; ++turns) (void)events.turn();
        CHECK(!t.done());
    }
    CHECK(s.records().empty());
    CHECK(!*s.load({"log", "g", "A"}));
    CHECK((*s.load_crash_record({"log", "g", "A"}))->incarnation == 9);  // noted, and never ended
}

}  // namespace
}  // namespace coroutine_test

#endif
