// SPDX-License-Identifier: MIT
//
// The outbox of the examples on PostgreSQL has the properties that a relay relies on, with
// concurrent claims of two connections. A batch of messages is added in order, or not at all. Eight
// threads add messages, some in batches of two keys, and two relays send them in order.
//
//     postgres_outbox ADDRESS

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
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
using message = box_at::message;
using postgres_test::expect;

constexpr int writers = 8;
constexpr int rows_each = 60;
constexpr int keys = 3;

/// Adds rows with the numbers of their key in the order of the commits. Each transaction has two
/// keys, which half of the writers add in the other order.
void write(const std::string& address, int writer)
{
    box_at box(address);
    engines::prepared next(box.db(),
                           "UPDATE numbers SET last = last + 1 WHERE key = $1 RETURNING last");
    for (int n = 0; n != rows_each; ++n) {
        std::vector<std::string> both;
        for (int k = 0; k != keys - 1; ++k)
            both.emplace_back(1, static_cast<char>('a' + (writer + n + k) % keys));
        if (writer % 2 != 0) std::swap(both[0], both[1]);
        const std::string id = std::to_string(writer) + "/" + std::to_string(n) + "/";
        auto tx = box.begin();
        // The keys are locked by `add`, so their numbers are read afterwards, for a second message.
        std::vector<message> locks, rows;
        for (const std::string& key : both) locks.push_back({key, id + key + "/lock", ""});
        bool added = tx && box.add(*tx, locks);
        for (const std::string& key : both) {
            if (added) rows.push_back({key, id + key, std::string(next.run(key).text(0, 0))});
        }
        if (n % 2 == 0) {
            added = added && box.add(*tx, rows);
        } else {
            for (const message& m : rows) added = added && box.add(*tx, m);
        }
        if (!added || !tx->commit()) std::printf("rows cannot be added\n");
    }
}

/// The messages at the broker: the first arrivals of each key.
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
        waybill::batch_sender sender{
            {.limit = {.bytes = 1'000, .items = 5, .answers_per_entry = false}, .ordered = true}};
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
    int wrong = expect(all.copies.size() == 4 * writers * rows_each, "each row arrives");
    for (const auto& [key, numbers] : all.numbers) {
        bool in_order = true;
        for (std::size_t n = 0; n != numbers.size(); ++n)
            in_order = in_order && numbers[n] == static_cast<int>(n + 1);
        wrong += expect(in_order, "the rows of a key arrive in the order of their commits");
    }
    return wrong;
}

/// How many statements a connection executes while f runs.
template <class F>
int statements(engines::postgres& db, F f)
{
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
    PQtrace(db.handle(), file.get());
    f();
    PQuntrace(db.handle());
    std::rewind(file.get());
    std::string text;
    for (int c = 0; (c = std::fgetc(file.get())) != EOF;) text += static_cast<char>(c);
    int n = 0;
    const std::string_view execute = "\tExecute\t";
    for (std::size_t at = 0; (at = text.find(execute, at)) != std::string::npos; ++at) ++n;
    return n;
}

/// Several messages in one call.
int batches()
{
    const std::string address = postgres_test::address_of(postgres_test::fresh_schema(), "5s");
    box_at box(address);
    int wrong = 0;
    const auto add = [&](const std::vector<message>& all) {
        auto tx = box.begin();
        if (!tx) return tx.error();
        const auto added = box.add(*tx, all);
        if (!added) return added.error();
        const auto done = tx->commit();
        return done && *done == waybill::commit_outcome::applied ? waybill::fault{}
                                                                 : waybill::permanent("no commit");
    };
    // The messages of all rows, in the order of their numbers. They are removed.
    const auto taken = [&] {
        const auto c = box.claim(100'000, {}, waybill::wall_time{} + waybill::duration::seconds(9));
        std::vector<message> all = c ? c->messages : std::vector<message>{};
        box_at::positions rows;
        for (std::uint64_t n = 0; n != all.size(); ++n) rows.push_back(n);
        wrong += expect(c && box.mark_sent(*c, rows), "rows can be claimed and removed");
        return all;
    };
    const auto same = [](const std::vector<message>& a, const std::vector<message>& b) {
        return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                          [](const message& x, const message& y) {
                              return x.key == y.key && x.id == y.id && x.body == y.body;
                          });
    };

    std::vector<message> all;
    for (int n = 0; n != 20'000; ++n) {
        // Bytes, among them NUL and the quotes, commas and braces of arrays as texts.
        const std::string bytes = "\"{,}\\" + std::string(1, static_cast<char>(n));
        all.push_back({n % 3 == 0 ? "" : bytes + std::to_string(n % 7),
                       std::to_string(20'000 - n) + bytes, std::string(n % 50, bytes.back())});
    }
    all[7'000].body.assign(3'000'000, '\0');
    wrong += expect(add(all).ok() && same(taken(), all),
                    "a batch keeps its order and all bytes of its messages");
    wrong += expect(add({}).ok() && taken().empty(), "a batch can be empty");
    {
        auto tx = box.begin();
        const int n = statements(box.db(), [&] { (void)box.add(*tx, all); });
        wrong += expect(n == 2, "a batch is two statements");
    }
    const std::vector<message> one{{"", "one", "of one"}};
    wrong += expect(add(one).ok() && same(taken(), one), "a batch can have one message");

    const waybill::fault twice = add({{"k", "1", ""}, {"k", "2", ""}, {"k", "1", ""}});
    wrong += expect(twice.kind == waybill::fault_kind::permanent && taken().empty(),
                    "a batch with one id twice is permanent, and nothing of it is added");
    {
        auto tx = box.begin();
        wrong += expect(tx && box.add(*tx, message{"k", "1", ""}), "a message is added");
        const auto again = box.add(*tx, message{"k", "1", ""});
        wrong += expect(!again && again.error().kind == waybill::fault_kind::permanent,
                        "an id that is there is permanent");
    }
    {
        // A batch waits for a message of one of its keys, and has a higher number then.
        auto tx = box.begin();
        wrong += expect(tx && box.add(*tx, std::vector<message>{{"a", "1", ""}, {"b", "2", ""}}),
                        "a batch is added");
        std::atomic<bool> added = false;
        std::thread other([&] {
            box_at second(address);
            auto own = second.begin();
            const auto done =
                own && second.add(*own, std::vector<message>{{"c", "3", ""}, {"b", "4", ""}});
            added = true;
            if (!done || !own->commit()) std::printf("the second batch cannot be added\n");
        });
        std::this_thread::sleep_for(300ms);
        wrong += expect(!added, "a key of a batch is locked until the end of the transaction");
        wrong += expect(tx->commit().has_value(), "the first batch is committed");
        other.join();
        const auto arrived = taken();
        wrong += expect(arrived.size() == 4 && arrived[1].id == "2" && arrived[3].id == "4",
                        "both batches arrive in the order of the commits");
    }
    auto tx = box.begin();
    tx->rollback();
    const auto ended = box.add(*tx, one);
    wrong += expect(!ended && ended.error().kind == waybill::fault_kind::infrastructure,
                    "a batch after the end of the transaction is refused");
    box.db().drop();
    wrong += expect(!box.add(*tx, one), "a batch without a connection is refused");
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
    const auto reasons = [](box_at& b) {
        std::vector<std::string> all;
        b.db().connect();
        engines::prepared dead(b.db(), "SELECT dead FROM outbox WHERE dead IS NOT NULL");
        const auto rows = dead.run();
        for (int n = 0; n != rows.size(); ++n) all.push_back(rows.bytes(n, 0));
        return all;
    };
    // The index of ids has at most 2,704 bytes for a row.
    int wrong = engines_test::shown(
        "outbox", waybill::testing::outbox_conformance(
                      make, again, race, reasons, {.longest_key = 2'600, .longest_id = 2'600}));
    box_at nowhere("host=127.0.0.1 port=1 connect_timeout=2");
    const box_at::claimed_rows claimed{.messages = {{}}, .token = 1, .numbers = {1}};
    wrong += engines_test::shown("outbox in an outage",
                                 waybill::testing::outbox_outage_conformance(nowhere, claimed));
    wrong += batches();
    wrong += two_relays();
    return wrong == 0 ? 0 : 1;
}
