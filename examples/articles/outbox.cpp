// SPDX-License-Identifier: MIT
//
// outbox: an order and its confirmation are stored in one transaction. A relay sends the
// confirmations to a broker, in order for each customer. The program may be killed at any point:
// the next run continues.
//
//     article_outbox [FOLDER]

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>

#include "../engines/sqlite_outbox.hpp"
#include "../engines/sqlite_topic.hpp"
#include "../support/environment.hpp"
#include <waybill/batch.hpp>
#include <waybill/queue.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv)
{
    const std::string folder = argc > 1 ? argv[1] : ".";
    engines::database db(folder + "/shop.sqlite");
    db.exec("CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, customer TEXT)");
    engines::sqlite_outbox outbox(db);
    engines::statement insert(db, "INSERT INTO orders VALUES (?, ?)");
    engines::statement last(db, "SELECT coalesce(max(id), 0) FROM orders");
    for (std::int64_t n = *last.number() + 1; n <= 10; ++n) {
        const std::string customer = n % 3 == 0 ? "Ada" : "Grace";
        // The confirmation of order 7 is larger than the broker accepts.
        const std::string text = "Thank you for order " + std::string(n == 7 ? 400 : 1, '7');
        //! [outbox_add]
        auto tx = *outbox.begin();
        insert.run(n, customer);
        if (!outbox.add(tx, {.key = customer, .id = "order-" + std::to_string(n), .body = text}) ||
            !tx.commit())
            return 1;
        //! [outbox_add]
    }

    engines::database broker(folder + "/broker.sqlite");
    engines::sqlite_topic topic(broker, 200);
    //! [outbox_relay]
    support::standard_environment env;
    waybill::batch_sender sender{{.limit = {.bytes = 200, .answers_per_entry = false},
                                  .item_overhead = 24,
                                  .ordered = true}};
    const auto report =
        waybill::relay(outbox, sender, [&](auto batch) { return topic.publish(batch); }, env,
                       {.lease = 200ms, .poll_interval = 20ms, .drain = true});
    std::cout << describe(report) << '\n';  // "9 sent, 1 dead, 2 returned; drained"
    //! [outbox_relay]
    return report.outcome == waybill::relay_report::ending::drained ? 0 : 1;
}
