// SPDX-License-Identifier: MIT
//
// The shop and the relay of server_mode.

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "../engines/nats_publisher.hpp"
#include "../engines/postgres.hpp"
#include "../engines/postgres_outbox.hpp"
#include "../support/environment.hpp"
#include "server_mode.hpp"
#include <waybill/batch.hpp>
#include <waybill/queue.hpp>

namespace outbox::servers {

namespace {

using namespace std::chrono_literals;

/// Set by SIGTERM.
volatile std::sig_atomic_t asked_to_end = 0;

void end_on_sigterm()
{
    std::signal(SIGTERM, [](int) { asked_to_end = 1; });
    sigset_t early;  // blocked by the supervisor until here
    sigemptyset(&early);
    sigaddset(&early, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &early, nullptr);
}

class shop_at_postgres {
public:
    shop_at_postgres(const std::string& table, place& shown)
        : db_(table), outbox_(db_), shown_(shown)
    {
    }

    /// The number of the last order. Repeats the question until the server replies.
    [[nodiscard]] std::uint64_t last()
    {
        for (;;) {
            try {
                return db_.outside([&] { return last_.run().number<std::uint64_t>(0, 0); });
            } catch (const engines::postgres_error& e) {
                pause(e.what());
            }
        }
    }

    /// The order and its row: both, or neither. Returns after the server has confirmed it.
    void take(std::uint64_t id, const order& o)
    {
        while (!is_stored(id)) {
            shown_.at = phase::at_work;
            try {
                if (try_to_take(id, o)) break;
            } catch (const engines::postgres_error& e) {
                pause(e.what());
            }
        }
        shown_.at = phase::asleep;
    }

private:
    /// False if the commit has failed, or its outcome is unknown.
    [[nodiscard]] bool try_to_take(std::uint64_t id, const order& o)
    {
        const std::string customer = customer_of(o);
        auto tx = outbox_.begin();
        if (!tx) return pause(tx.error().text);
        insert_.run(id, customer, o.item, o.at);
        const auto added =
            outbox_.add(*tx, {.key = customer, .id = message_id(id), .body = body_of(id, o)});
        if (!added) return pause(added.error().text);
        if (is_rolled_back(id)) {
            tx->rollback();
            return true;
        }
        const auto done = tx->commit();
        return done && *done == waybill::commit_outcome::applied;
    }

    /// After an unknown outcome, a commit that is still on its way blocks the next insert of the
    /// same number until its end.
    [[nodiscard]] bool is_stored(std::uint64_t id)
    {
        for (;;) {
            try {
                return db_.outside([&] { return !there_.run(id).empty(); });
            } catch (const engines::postgres_error& e) {
                pause(e.what());
            }
        }
    }

    bool pause(const std::string& reason)
    {
        shown_.report(reason);
        std::this_thread::sleep_for(50ms);
        return false;
    }

    engines::postgres db_;
    engines::postgres_outbox outbox_;
    place& shown_;
    engines::prepared last_{db_, "SELECT coalesce(max(id), 0) FROM orders"};
    engines::prepared there_{db_, "SELECT 1 FROM orders WHERE id = $1"};
    engines::prepared insert_{
        db_, "INSERT INTO orders (id, customer, item, at) VALUES ($1, $2, $3, $4)"};
};

/// Sleeps until a time or SIGTERM, and shows the last fault of the relay.
class relay_environment : public support::standard_environment {
public:
    relay_environment(place& shown, const waybill::relay_report& report,
                      const engines::nats_publisher& broker)
        : shown_(shown), report_(report), broker_(broker)
    {
    }

    [[nodiscard]] bool stop_requested() const { return asked_to_end != 0; }
    void sleep_until(waybill::steady_time t)
    {
        shown_.at = phase::asleep;
        if (!broker_.problem().empty()) shown_.report(broker_.problem());
        else if (!report_.last_error.ok()) shown_.report(report_.last_error.text);
        while (!stop_requested() && now() < t) std::this_thread::sleep_for(2ms);
        shown_.at = phase::at_work;
    }

private:
    place& shown_;
    const waybill::relay_report& report_;
    const engines::nats_publisher& broker_;
};

}  // namespace

int run_shop(const options& o)
{
    const std::vector<order> orders = orders_in(o.input);
    phases page(o.db);
    shop_at_postgres shop(addresses_in(o.db).table, page.of(0));
    for (std::uint64_t id = shop.last() + 1; id <= orders.size(); ++id) {
        shop.take(id, orders[id - 1]);
        std::this_thread::sleep_for(std::chrono::microseconds(o.pace));
    }
    return 0;
}

int run_relay(const options& o)
{
    end_on_sigterm();
    phases page(o.db);
    repetitions counts(o.db);
    place& shown = page.of(o.worker);
    const addresses at = addresses_in(o.db);
    engines::postgres db(at.table);
    engines::postgres_outbox outbox(db);
    engines::nats_publisher broker(at.to, stream, o.cluster ? 3 : 1, duplicate_window);
    waybill::relay_report report;
    relay_environment env(shown, report, broker);
    const auto publish = [&](auto batch) {
        shown.at = phase::publishing;
        const std::uint64_t before = broker.duplicates();
        waybill::send_outcome sent = broker.publish(batch);
        counts.of(o.worker).at += broker.duplicates() - before;
        shown.at = phase::at_work;
        return sent;
    };
    waybill::batch_sender sender{
        {.limit = {.bytes = 262'144, .items = 100, .answers_per_entry = false},
         .item_overhead = 100,
         .ordered = true,
         .retry = {.pauses = {.base = 50ms, .cap = 500ms}}}};
    // The first connection takes longer than half of the lease.
    while (!env.stop_requested() && !broker.open().ok()) env.sleep_until(env.now() + 100ms);
    // The rows of a relay that was killed are sent when its lease has ended.
    waybill::relay(outbox, sender, publish, env,
                   {.max_rows = 200, .lease = 5s, .poll_interval = 20ms}, report);
    return report.outcome == waybill::relay_report::ending::stop_requested ? 0 : 1;
}

}  // namespace outbox::servers
