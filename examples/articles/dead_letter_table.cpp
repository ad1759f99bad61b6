// SPDX-License-Identifier: MIT
//
// dead_letter_table: orders stopped at step 4, because the template of the receipts was broken.
// Their steps are in a table. After the repair all orders that failed there are redriven, in order.
//
//     dead_letter_table DB stop        three orders stop: two at the receipt, one at the payment
//     dead_letter_table DB redrive     the orders that stopped at the receipt go back to the queue
//
// Killed with -9 at any point, the same command continues:
// tests/integration/articles_dead_letter_table.sh

#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>

#include "../engines/sqlite_sessions.hpp"
#include "../engines/sqlite_step_letters.hpp"
#include "../support/environment.hpp"
#include <waybill/session.hpp>

namespace {

constexpr std::uint64_t payment = 3, receipt = 4, steps = 5;

// The failed step and the later ones, as a pipeline writes them.
waybill::fault stop_at(engines::sqlite_step_letters& table, const std::string& order,
                       std::uint64_t failed, waybill::wall_time now)
{
    waybill::pipeline::write_dead_letter why{.reason = waybill::dead_letter_reason::failed};
    for (std::uint64_t step = failed; step <= steps; ++step) {
        const std::string id = order + "/" + std::to_string(step);
        const waybill::fault f = table.upsert(make_pipeline_dead_letter(
            {.properties = {order, step, 1, steps, step == steps},
             .sequence = step,
             .message_id = id,
             .body = id,
             .enqueued = now},
            why, "no field {vat id}", {.done = failed - 1, .total = steps}, now));
        if (!f.ok()) return f;
        why = {.reason = waybill::dead_letter_reason::session_failed, .cause = failed};
    }
    return {};
}

}  // namespace

int main(int argc, char** argv)
{
    engines::database db(argc == 3 ? argv[1] : ":memory:");
    engines::sqlite_step_letters dead_letters(db);
    engines::sqlite_sessions queue(db);
    support::standard_environment env;
    if (argc == 3 && argv[2] == std::string_view("stop"))
        return stop_at(dead_letters, "order-17", receipt, env.wall_now()).ok() &&
                       stop_at(dead_letters, "order-18", payment, env.wall_now()).ok() &&
                       stop_at(dead_letters, "order-19", receipt, env.wall_now()).ok()
                   ? 0
                   : 1;
    //! [dead_letter_table]
    // The receipt template is repaired: everything that failed at the receipt comes back, in order.
    const auto r = waybill::redrive_all(
        dead_letters, {.failed_step = receipt}, [&](const auto& m) { return queue.send(m); }, env);
    std::cout << describe(r) << '\n';  // finished: 4 sent, 4 removed, 0 held back
    //! [dead_letter_table]
    return r.ok() ? 0 : 1;
}
