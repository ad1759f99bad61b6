// SPDX-License-Identifier: MIT
//
// purchase_pipeline: orders of five steps each, which run in order, on SQLite.
//
//     purchase_pipeline shop.sqlite send Ada Grace "Babbage Ltd"     # five messages for each
//     purchase_pipeline shop.sqlite                                  # runs them
//
// A failed step stops its order and no other. The effect of a step (a row in `effects`) and the
// state of the order are committed in one transaction. Each step takes effect once, also if the
// process is killed.

#include <iostream>
#include <string>

#include "../engines/sqlite_sessions.hpp"
#include "../engines/sqlite_step_letters.hpp"
#include "../support/environment.hpp"
#include <waybill/ext/json/state_codec.hpp>

using namespace waybill;
using step = waybill::pipeline::step;

// clang-format off
//! [purchase_steps]
struct order { std::string number, payment, receipt; int total = 0; };
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, number, payment, receipt, total)

fault run_step(order& o, const step& s)
{
    switch (s.number) {
        case 1: o.number = "W-" + std::string(s.body); break;
        case 2: o.total = 10 * static_cast<int>(s.body.size()); break;
        case 3: o.payment = std::to_string(o.total) + " EUR paid"; break;
        case 4:
            if (s.body.ends_with("Ltd")) return permanent("the template has no {vat id}");
            o.receipt = o.number + ", " + o.payment;
            break;
        case 5: std::cout << "mail to " << s.body << ": " << o.receipt << '\n';
    }
    return {};
}
//! [purchase_steps]
// clang-format on

int main(int argc, char** argv)
{
    engines::database db(argc > 1 ? argv[1] : ":memory:");
    engines::sqlite_sessions queue(db);
    for (int n = 3; n < argc; ++n) {
        auto job = waybill::job::make("order-" + std::string(argv[n]), 5);
        while (job && !job->complete())
            if (const fault f = queue.send(job->next(), argv[n]); !f.ok()) throw f.text;
    }
    if (argc > 2) return 0;
    engines::sqlite_step_letters dead_letters(db);
    engines::statement effect(db.exec("CREATE TABLE IF NOT EXISTS effects (step TEXT)"),
                              "INSERT INTO effects VALUES (?)");
    //! [purchase_run]
    const auto handler = [&](auto& /*transaction*/, order& o, const step& s) {
        effect.run(s.key());  // in the transaction, which is rolled back if the step fails
        return run_step(o, s);
    };
    const auto report =
        run_session(queue, state_codec<order>(), dead_letters, catching(handler, engines::classify),
                    {.until_empty = true}, support::standard_environment());
    std::cout << describe(report) << '\n';
    //! [purchase_run]
}
