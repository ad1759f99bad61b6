// SPDX-License-Identifier: MIT
//
// async_sender: coroutines on asio drive a batch_sender with four requests in flight. The broker is
// slow, busy at times, and loses some of its replies. In the end each message has arrived once, and
// those of each key in order. Needs asio (libasio-dev).

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <asio.hpp>

#include <waybill/batch.hpp>
#include <waybill/core/match.hpp>
#include <waybill/ext/chrono.hpp>

namespace {

using namespace std::chrono_literals;
using waybill::batch_sender;
using clock_type = std::chrono::steady_clock;

struct message {
    std::uint64_t id, key;
    std::string body;
};

/// Drops duplicates, because a batch is repeated after a lost reply.
struct broker {
    std::mt19937_64 random{7};
    std::set<std::uint64_t> ids{};
    std::map<std::uint64_t, std::vector<std::uint64_t>> ids_of_key{};
    int in_flight = 0, most_in_flight = 0, calls = 0;

    asio::awaitable<waybill::send_outcome> send(std::vector<message> batch)
    {
        ++calls;
        most_in_flight = std::max(++in_flight, most_in_flight);
        asio::steady_timer latency(co_await asio::this_coro::executor, 1ms * (1 + random() % 5));
        co_await latency.async_wait(asio::use_awaitable);
        --in_flight;
        std::uint64_t bytes = 0;
        for (const message& m : batch) bytes += 40 + m.body.size();
        if (bytes > 4'096) co_return batch_sender::too_large{.actual = bytes, .limit = 4'096};
        const std::uint64_t luck = random() % 20;
        if (luck == 0) co_return batch_sender::throttled{.retry_after = 5ms};
        if (luck == 1) co_return batch_sender::failed{};
        for (const message& m : batch) {
            if (ids.insert(m.id).second) ids_of_key[m.key].push_back(m.id);
        }
        if (luck == 2) co_return batch_sender::outcome_unknown{};  // the reply is lost
        co_return batch_sender::accepted{.actual = bytes};
    }
};

struct sending {
    const std::vector<message>& inbox;
    broker& to;
    batch_sender& sender;
    asio::steady_timer wake;  // ends a wait of `drive` when a request has ended
    std::uint64_t accepted = 0;

    asio::awaitable<void> request(std::uint64_t attempt, std::vector<message> batch)
    {
        waybill::send_outcome o = co_await to.send(std::move(batch));
        waybill::match(o, [&](auto& e) { e.attempt = attempt, sender.on(e, clock_type::now()); });
        wake.cancel();
    }

    void start(const batch_sender::send& a)
    {
        std::vector<message> batch;
        for (const waybill::item_range& r : a.items)
            for (std::uint64_t n = r.first; n != r.end(); ++n) batch.push_back(inbox[n]);
        sender.on(batch_sender::started{a.attempt}, clock_type::now());
        asio::co_spawn(wake.get_executor(), request(a.attempt, std::move(batch)), asio::detached);
    }

    asio::awaitable<void> drive()
    {
        for (const message& m : inbox)
            sender.on(batch_sender::queued{m.body.size(), m.key}, clock_type::now());
        sender.on(batch_sender::flushed{}, clock_type::now());
        while (!sender.finished()) {
            auto until = clock_type::time_point::min();
            waybill::match(
                sender.next(clock_type::now()), [&](const batch_sender::send& a) { start(a); },
                [&](const batch_sender::report& r) {
                    if (r.outcome == waybill::item_outcome::accepted) accepted += r.items.count;
                    sender.on(batch_sender::reported{r.items}, clock_type::now());
                },
                [&](const batch_sender::replace& r) {
                    sender.on(batch_sender::not_replaced{r.item}, clock_type::now());
                },
                [&](waybill::wait_until w) { until = w.time.to_chrono(); },
                [&](waybill::idle) { until = clock_type::time_point::max(); });
            if (until == clock_type::time_point::min()) continue;
            wake.expires_at(until);
            asio::error_code cancelled;
            co_await wake.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
        }
    }
};

}  // namespace

int main()
{
    std::vector<message> inbox;
    for (std::uint64_t n = 0; n != 5'000; ++n)
        inbox.push_back({n, n / 50 % 16, std::string(n % 90, 'x')});
    asio::io_context io;
    broker to;
    batch_sender sender{{.limit = {.bytes = 8'192, .answers_per_entry = false},
                         .item_overhead = 40,
                         .in_flight = 4,
                         .ordered = true,
                         .retry = {.pauses = {.base = 5ms, .cap = 50ms}}}};
    sending all{inbox, to, sender, asio::steady_timer(io)};
    asio::co_spawn(io, all.drive(), asio::detached);
    io.run();

    bool in_order = true;
    for (const auto& [key, ids] : to.ids_of_key)
        in_order = in_order && std::is_sorted(ids.begin(), ids.end());
    std::cout << all.accepted << " messages accepted in " << to.calls << " calls, at most "
              << to.most_in_flight << " at a time; each key is " << (in_order ? "" : "NOT ")
              << "in order\n";
    return in_order && to.ids.size() == inbox.size() && all.accepted == inbox.size() ? 0 : 1;
}
