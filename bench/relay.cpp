// SPDX-License-Identifier: MIT
//
// bench/relay: the cost of a relay for each row of an outbox.
//
// One iteration sends 1,000 rows with 50 keys, in batches of 100. There are two loops by hand:
//   by hand       claim, publish 100 rows, mark them. It has no order after a failure, no retries,
//                 and its batches do not depend on sizes.
//   batch_sender  the same calls with a sender that orders by key, cuts by size and gives each row
//                 an outcome, as in relay. It has no renewal, no dead rows and no report.
// `sqlite` uses the outbox of the examples, in memory. `nothing` is a store that returns the same
// rows each time, so it shows the relay alone.

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <benchmark/benchmark.h>

#include "../examples/engines/sqlite_outbox.hpp"
#include "measure.hpp"
#include <waybill/batch.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace relay_bench {
namespace {

using engines::sqlite_outbox;
using waybill::result;
using waybill::wall_time;

constexpr std::uint64_t rows = 1'000;
constexpr std::uint64_t rows_of_batch = 100;

sqlite_outbox::message message_of(std::uint64_t n)
{
    return {.key = "customer-" + std::to_string(n * 7 % 50),
            .id = "order-" + std::to_string(n),
            .body = std::string(200, 'x')};
}

/// Returns all rows in each second claim.
struct store_of_nothing {
    using message = sqlite_outbox::message;
    using transaction = sqlite_outbox::transaction;
    using claimed_rows = sqlite_outbox::claimed_rows;
    using positions = sqlite_outbox::positions;
    claimed_rows all{};
    bool full = false;

    store_of_nothing()
    {
        for (std::uint64_t n = 0; n != rows; ++n) all.messages.push_back(message_of(n));
    }
    result<void> add(transaction&, const message&) { return {}; }
    result<claimed_rows> claim(std::uint64_t, wall_time, wall_time)
    {
        full = !full;
        if (full) return all;
        return claimed_rows{};
    }
    result<void> hold(const claimed_rows&, const positions&, wall_time) { return {}; }
    result<void> mark_sent(const claimed_rows&, const positions& p)
    {
        benchmark::DoNotOptimize(p.data());
        return {};
    }
    result<void> mark_dead(const claimed_rows&, std::uint64_t, const std::string&, bool)
    {
        return {};
    }
};

template <class Batch>
waybill::send_outcome publish(const Batch& batch)
{
    std::uint64_t bytes = 0;
    for (const auto& m : batch) {
        if constexpr (requires { m->body; }) bytes += m->body.size();
        else bytes += m.body.size();
    }
    benchmark::DoNotOptimize(bytes);
    return waybill::batch_sender::accepted{};
}

template <class Store>
void by_hand(Store& store)
{
    for (;;) {
        const auto c = store.claim(rows, {}, wall_time::highest());
        if (!c || c->messages.empty()) return;
        for (std::uint64_t first = 0; first < c->messages.size(); first += rows_of_batch) {
            std::vector<sqlite_outbox::message> batch(
                c->messages.begin() + static_cast<std::ptrdiff_t>(first),
                c->messages.begin() + static_cast<std::ptrdiff_t>(first + rows_of_batch));
            (void)publish(batch);
            std::vector<std::uint64_t> sent;
            for (std::uint64_t n = 0; n != rows_of_batch; ++n) sent.push_back(first + n);
            (void)store.mark_sent(*c, sent);
        }
    }
}

/// The same calls with `batch_sender`: order of keys, batches by size, an outcome for each row.
struct over_sender {
    waybill::batch_sender sender{{.limit = {.items = rows_of_batch, .answers_per_entry = false},
                                  .exact_sizes = true,
                                  .ordered = true}};

    template <class Store>
    void operator()(Store& store)
    {
        const waybill::steady_time now{};
        for (;;) {
            const auto c = store.claim(rows, {}, wall_time::highest());
            if (!c || c->messages.empty()) return;
            const std::uint64_t first = sender.end();
            for (const auto& m : c->messages) {
                const std::uint64_t key = std::hash<std::string_view>()(m.key);
                sender.on(waybill::batch_sender::queued{m.body.size(), key}, now);
            }
            sender.on(waybill::batch_sender::flushed{}, now);
            send_all(store, *c, first);
        }
    }

    template <class Store>
    void send_all(Store& store, const typename Store::claimed_rows& c, std::uint64_t first)
    {
        const waybill::steady_time now{};
        std::vector<std::uint64_t> sent, later;
        while (!sender.finished()) {
            waybill::match(
                sender.next(now),
                [&](const waybill::batch_sender::send& a) {
                    std::vector<const sqlite_outbox::message*> batch;
                    for (const waybill::item_range& run : a.items) {
                        for (std::uint64_t n = run.first; n != run.end(); ++n)
                            batch.push_back(&c.messages[n - first]);
                    }
                    const std::uint64_t attempt = a.attempt;
                    sender.on(waybill::batch_sender::started{attempt}, now);
                    auto outcome = publish(batch);
                    waybill::match(outcome, [&](auto& event) {
                        event.attempt = attempt;
                        sender.on(event, now);
                    });
                },
                [&](const waybill::batch_sender::report& r) {
                    auto& to = r.outcome == waybill::item_outcome::accepted ? sent : later;
                    for (std::uint64_t n = r.items.first; n != r.items.end(); ++n)
                        to.push_back(n - first);
                    sender.on(waybill::batch_sender::reported{r.items}, now);
                    if (!sent.empty()) (void)store.mark_sent(c, sent);
                    sent.clear();
                },
                [](const waybill::batch_sender::replace&) {}, [](const waybill::wait_until&) {},
                [](waybill::idle) {});
        }
        if (!later.empty()) (void)store.hold(c, later, {});
    }
};

struct relayed {
    waybill::testing::manual_environment env{};
    waybill::batch_sender sender{{.limit = {.items = rows_of_batch, .answers_per_entry = false},
                                  .exact_sizes = true,
                                  .ordered = true}};

    template <class Store>
    void operator()(Store& store)
    {
        const auto transmit = [](const auto& batch) { return publish(batch); };
        (void)waybill::relay(store, sender, transmit, env, {.drain = true});
    }
};

void fill(sqlite_outbox& box)
{
    auto tx = *box.begin();
    for (std::uint64_t n = 0; n != rows; ++n) (void)box.add(tx, message_of(n));
    (void)tx.commit();
}

template <class Send>
void with_sqlite(benchmark::State& state, Send send)
{
    engines::database db(":memory:");
    sqlite_outbox box(db);
    for ([[maybe_unused]] auto i : state) {
        bench::exclude(state, [&] { fill(box); });
        send(box);
    }
}

template <class Send>
void with_nothing(benchmark::State& state, Send send)
{
    store_of_nothing store;
    for ([[maybe_unused]] auto i : state) send(store);
}

}  // namespace
}  // namespace relay_bench

int main(int argc, char** argv)
{
    using namespace relay_bench;
    bench::runner all(argc, argv);
    const auto hand = [](auto& store) { by_hand(store); };
    all.add("sqlite, by hand", rows, [=](benchmark::State& s) { with_sqlite(s, hand); });
    all.add("sqlite, relay", rows, [](benchmark::State& s) { with_sqlite(s, relayed()); });
    all.add("nothing, by hand", rows, [=](benchmark::State& s) { with_nothing(s, hand); });
    all.add("nothing, batch_sender", rows,
            [](benchmark::State& s) { with_nothing(s, over_sender()); });
    all.add("nothing, relay", rows, [](benchmark::State& s) { with_nothing(s, relayed()); });
    if (!all.run("nothing, by hand")) return 2;
    all.print_spread();
    all.print("for each row", {{"sqlite, by hand", "sqlite, by hand"},
                               {"sqlite, relay", "sqlite, by hand"},
                               {"nothing, by hand", "nothing, by hand"},
                               {"nothing, batch_sender", "nothing, batch_sender"},
                               {"nothing, relay", "nothing, batch_sender"}});
    return all.failed() ? 1 : 0;
}
