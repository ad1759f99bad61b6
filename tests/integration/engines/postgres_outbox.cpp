// SPDX-License-Identifier: MIT
//
// The outbox of the examples on PostgreSQL does what a relay relies on, with claims of two
// connections at a time. Two relays send what eight threads add meanwhile, in order.
//
//     postgres_outbox ADDRESS

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <engines/postgres_outbox.hpp>
#include <support/environment.hpp>

#include "outbox_at.hpp"
#include "postgres_own.hpp"
#include <waybill/batch.hpp>
#include <waybill/queue.hpp>
#include <waybill/testing/outbox_conformance.hpp>

namespace {

using namespace std::chrono_literals;
using box_at = engines_test::outbox_at<engines::postgres, engines::postgres_outbox>;
using postgres_test::expect;

constexpr int writers = 8;
constexpr int rows_each = 60;
constexpr int keys = 3;

/// Adds rows with the numbers of their key in the order of the commits.
void write(const std::string& address, int writer)
{
    box_at box(address);
    engines::prepared next(box.db(),
                           "UPDATE numbers SET last = last + 1 WHERE key = $1 RETURNING last");
    for (int n = 0; n != rows_each; ++n) {
        const std::string key(1, static_cast<char>('a' + (writer + n) % keys));
        auto tx = box.begin();
        // The key is locked by `add`, so its number is read afterwards, in a second message.
        const std::string id = std::to_string(writer) + "/" + std::to_string(n);
        const bool added = tx && box.add(*tx, {.key = key, .id = id + "/lock", .body = ""});
        const std::string number = added ? std::string(next.run(key).text(0, 0)) : "";
        if (!added || !box.add(*tx, {.key = key, .id = id, .body = number}) || !tx->commit())
            std::printf("a row cannot be added\n");
    }
}

/// What the broker has: the first arrivals of each key.
struct broker {
    std::mutex mutex;
    std::map<std::string, std::vector<int>> numbers;
    std::map<std::string, int> copies;

    template <class Batch>
    waybill::send_outcome publish(const Batch& batch)
    {
        const std::lock_guard lock(mutex);
        for (const auto& m : batch) {
            if (++copies[m.id] == 1 && !m.body.empty()) numbers[m.key].push_back(std::stoi(m.body));
        }
        return waybill::batch_sender::accepted{};
    }
};

int two_relays()
{
    const std::string address = postgres_test::address_of(postgres_test::fresh_schema(), "5s");
    {
        box_at box(address);
        (void)box.claim(1, {}, {});
        box.db().exec("CREATE TABLE numbers (key text PRIMARY KEY, last int NOT NULL)");
        box.db().exec("INSERT INTO numbers VALUES ('a', 0), ('b', 0), ('c', 0)");
    }
    std::atomic<bool> written = false;
    broker all;
    const auto relay = [&] {
        box_at box(address);
        support::standard_environment env;
        waybill::batch_sender sender{{.limit = {.bytes = 1'000, .items = 5}, .ordered = true}};
        waybill::relay_report r;
        const auto publish = [&](const auto& batch) { return all.publish(batch); };
        for (bool last = false; !last;) {
            last = written;
            waybill::relay(box, sender, publish, env,
                           {.max_rows = 20, .poll_interval = 2ms, .drain = true}, r);
        }
        std::printf("a relay: %s\n", describe(r).c_str());
    };
    std::vector<std::thread> threads;
    for (int n = 0; n != writers; ++n) threads.emplace_back(write, address, n);
    std::thread one(relay);
    std::thread two(relay);
    for (std::thread& t : threads) t.join();
    written = true;
    one.join();
    two.join();
    int wrong = expect(all.copies.size() == 2 * writers * rows_each, "each row arrives");
    for (const auto& [key, numbers] : all.numbers) {
        bool in_order = true;
        for (std::size_t n = 0; n != numbers.size(); ++n)
            in_order = in_order && numbers[n] == static_cast<int>(n + 1);
        wrong += expect(in_order, "the rows of a key arrive in the order of their commits");
    }
    return wrong;
}

}  // namespace

int main(int count, char** argv)
{
    if (count != 2) return 2;
    postgres_test::where = argv[1];
    const auto make = [] {
        return box_at(postgres_test::address_of(postgres_test::fresh_schema(), "5s"));
    };
    const auto again = [](const box_at& b) { return box_at(b.where()); };
    const auto race = [](auto f, auto g) {
        std::thread other(f);
        g();
        other.join();
    };
    int wrong = engines_test::shown("outbox",
                                    waybill::testing::outbox_conformance(make, again, race));
    box_at nowhere("host=127.0.0.1 port=1 connect_timeout=2");
    const box_at::claimed_rows claimed{.messages = {{}}, .token = 1, .numbers = {1}};
    wrong += engines_test::shown("outbox in an outage",
                                 waybill::testing::outbox_outage_conformance(nowhere, claimed));
    wrong += two_relays();
    return wrong == 0 ? 0 : 1;
}
