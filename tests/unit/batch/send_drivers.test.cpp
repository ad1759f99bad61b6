// SPDX-License-Identifier: MIT
//
// Two drivers of a sender as in user code: one with coroutines, one with callbacks. Several
// attempts are in flight at a time, and their answers arrive in another order.

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/core/match.hpp>

namespace send_drivers_test {

using namespace waybill;

namespace {

struct message {
    std::uint64_t id = 0;
    std::uint64_t key = 0;
    std::uint64_t bytes = 0;
};

// Runs callbacks in virtual time. Callbacks that are due at the same time run in order.
struct event_loop {
    steady_time now{};
    std::multimap<steady_time, std::function<void()>> due{};

    void at(steady_time t, std::function<void()> f) { due.emplace(t, std::move(f)); }
    void run()
    {
        while (!due.empty()) {
            const auto first = due.begin();
            now = later(now, first->first);
            const std::function<void()> f = std::move(first->second);
            due.erase(first);
            f();
        }
    }
};

using answer =
    waybill::variant<batch_sender::accepted, batch_sender::too_large, batch_sender::partial,
                     batch_sender::throttled, batch_sender::failed, batch_sender::outcome_unknown>;

// Counts a header, is busy at times, loses answers, and accepts some batches only in part. Later
// requests are answered faster. Repeats of an accepted batch are dropped.
struct broker {
    event_loop& loop;
    std::vector<std::uint64_t> order{};
    std::set<std::uint64_t> taken{};
    std::uint64_t requests = 0;
    std::uint64_t on_their_way = 0;
    std::uint64_t most_on_their_way = 0;
    std::vector<batch_sender::entry_fault> faults{};

    void send(std::uint64_t attempt, const std::vector<message>& batch,
              std::function<void(answer)> f)
    {
        ++on_their_way;
        if (on_their_way > most_on_their_way) most_on_their_way = on_their_way;
        const auto pause = static_cast<std::int64_t>(5 - requests % 5);
        loop.at(loop.now + duration::seconds(pause), [this, attempt, batch, f = std::move(f)] {
            --on_their_way;
            f(look_at(attempt, batch));
        });
        ++requests;
    }

private:
    answer look_at(std::uint64_t attempt, const std::vector<message>& batch)
    {
        std::uint64_t bytes = 0;
        for (const message& m : batch) bytes += m.bytes + 7;
        if (bytes > 100) return batch_sender::too_large{.actual = bytes, .limit = 100};
        const std::uint64_t mood = (attempt * 7 + requests) % 9;
        if (mood == 1) return batch_sender::throttled{.retry_after = duration::seconds(3)};
        if (mood == 2 && taken.count(attempt) == 0) return batch_sender::failed{};
        std::size_t some = batch.size();
        if (mood == 3 && taken.count(attempt) == 0) some /= 2;
        if (taken.insert(attempt).second) {
            for (std::size_t i = 0; i != some; ++i) order.push_back(batch[i].id);
        }
        if (mood == 4) return batch_sender::outcome_unknown{};
        if (some == batch.size()) return batch_sender::accepted{};
        faults.clear();
        for (std::size_t i = some; i != batch.size(); ++i) faults.push_back({i});
        return batch_sender::partial{.failed = faults};
    }
};

void tell(batch_sender& s, std::uint64_t attempt, answer a, steady_time now)
{
    waybill::match(a, [&](auto& x) {
        x.attempt = attempt;
        CHECK(s.on(x, now) == event_result::applied);
    });
}

std::vector<message> batch_of(const batch_sender::send& a, const std::vector<message>& all)
{
    std::vector<message> batch;
    for (const item_range& r : a.items) {
        for (std::uint64_t n = r.first; n != r.end(); ++n) {
            batch.push_back(all[n]);
        }
    }
    return batch;
}

// ---------------------------------------------------------------------------------------------
// Coroutines: one that drives the sender, and one for each attempt.

struct task {
    struct promise_type {
        task get_return_object() { return {}; }
        std::suspend_never initial_suspend() { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
};

// An event: the coroutine that awaits it continues later, from the event loop.
struct news {
    event_loop& loop;
    std::coroutine_handle<> waiting{};

    void tell()
    {
        if (waiting) loop.at(loop.now, [h = std::exchange(waiting, {})] { h.resume(); });
    }
    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> h) { waiting = h; }
    void await_resume() {}
};

struct sent {
    broker& to;
    std::uint64_t attempt;
    std::vector<message> batch;
    answer got{};

    bool await_ready() const { return false; }
    void await_suspend(std::coroutine_handle<> h)
    {
        to.send(attempt, batch, [this, h](answer a) {
            got = std::move(a);
            h.resume();
        });
    }
    answer await_resume() { return std::move(got); }
};

struct by_coroutines {
    event_loop& loop;
    broker& to;
    batch_sender s;
    std::vector<message> all{};
    std::vector<batch_sender::report> notes{};
    news something{loop};

    task transmit(std::uint64_t attempt, std::vector<message> batch)
    {
        sent request{to, attempt, std::move(batch)};  // named, since g++ 12 would copy its bytes
        answer a = co_await request;
        tell(s, attempt, std::move(a), loop.now);
        something.tell();
    }

    task drive()
    {
        while (!s.finished()) {
            const bool again = match(
                s.next(loop.now),
                [&](const batch_sender::send& a) {
                    const std::uint64_t attempt = a.attempt;
                    std::vector<message> batch = batch_of(a, all);
                    s.on(batch_sender::started{attempt}, loop.now);
                    transmit(attempt, std::move(batch));
                    return true;
                },
                [&](const batch_sender::report& x) {
                    notes.push_back(x);
                    s.on(batch_sender::reported{notes.back().items}, loop.now);
                    return true;
                },
                [&](const batch_sender::replace& r) {
                    s.on(batch_sender::not_replaced{r.item}, loop.now);
                    return true;
                },
                [&](const wait_until& w) {
                    loop.at(w.time, [this] { something.tell(); });
                    return false;
                },
                [&](idle) { return false; });
            if (!again) co_await something;
        }
    }
};

// ---------------------------------------------------------------------------------------------
// Callbacks: each answer calls pump().

struct by_callbacks {
    event_loop& loop;
    broker& to;
    batch_sender s;
    std::vector<message> all{};
    std::vector<batch_sender::report> notes{};

    void drive()
    {
        bool more = true;
        while (more) {
            match(
                s.next(loop.now),
                [&](const batch_sender::send& a) {
                    const std::uint64_t attempt = a.attempt;
                    const std::vector<message> batch = batch_of(a, all);
                    s.on(batch_sender::started{attempt}, loop.now);
                    to.send(attempt, batch, [this, attempt](answer x) {
                        tell(s, attempt, std::move(x), loop.now);
                        drive();
                    });
                },
                [&](const batch_sender::report& x) {
                    notes.push_back(x);
                    s.on(batch_sender::reported{notes.back().items}, loop.now);
                },
                [&](const batch_sender::replace& r) {
                    s.on(batch_sender::not_replaced{r.item}, loop.now);
                },
                [&](const wait_until& w) {
                    loop.at(w.time, [this] { drive(); });
                    more = false;
                },
                [&](idle) { more = false; });
        }
    }
};

template <class Driver>
void all_arrive(bool ordered)
{
    event_loop loop;
    broker b{loop};
    Driver d{loop, b,
             batch_sender({.limit = {.bytes = 100, .items = 6},
                           .in_flight = 2,
                           .ordered = ordered,
                           .retry = {.max_attempts = 50}})};
    std::map<std::uint64_t, std::vector<std::uint64_t>> wanted;
    for (std::uint64_t n = 0; n != 200; ++n) {
        const message m{n, n * n % 7, 5 + n % 23};
        d.all.push_back(m);
        d.s.on(batch_sender::queued(m.bytes, m.key), loop.now);
        wanted[m.key].push_back(n);
    }
    d.s.on(batch_sender::flushed{}, loop.now);
    d.drive();
    loop.run();

    CHECK(d.s.finished());
    CHECK(b.most_on_their_way == 2);
    CHECK(b.order.size() == 200);
    CHECK(std::set<std::uint64_t>(b.order.begin(), b.order.end()).size() == 200);
    std::uint64_t noted = 0;
    for (const batch_sender::report& x : d.notes) {
        CHECK(x.outcome == item_outcome::accepted);
        noted += x.items.count;
    }
    CHECK(noted == 200);
    std::map<std::uint64_t, std::vector<std::uint64_t>> came;
    for (const std::uint64_t n : b.order) came[d.all[n].key].push_back(n);
    CHECK((came == wanted) == ordered);
}

}  // namespace

TEST_CASE("sender: with coroutines, each item arrives once, in the order of its key if ordered")
{
    all_arrive<by_coroutines>(true);
    all_arrive<by_coroutines>(false);
}

TEST_CASE("sender: with callbacks, each item arrives once, in the order of its key if ordered")
{
    all_arrive<by_callbacks>(true);
    all_arrive<by_callbacks>(false);
}

}  // namespace send_drivers_test
