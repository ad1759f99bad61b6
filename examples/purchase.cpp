// SPDX-License-Identifier: MIT
//
// purchase: orders of five steps each, which run in order. A receipt that cannot be printed stops
// its order and no other. After the repair of the template the order continues at the failed step.

#include <iostream>
#include <string>
#include <vector>

#include "engines/sqlite_sessions.hpp"
#include "engines/sqlite_step_letters.hpp"
#include "support/environment.hpp"
#include "support/terminal.hpp"
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session.hpp>

namespace {

using step = waybill::pipeline::step;
using waybill::fault;

/// The state of an order between its steps.
struct order {
    std::string number, payment, receipt;
    int total = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, number, payment, receipt, total)

std::string receipt_of_companies = "Receipt {number} for {vat id}";

fault give_number(order& o, const step& s)
{
    o.number = "W" + std::string(s.job.substr(s.job.find('-') + 1));
    return {};
}

fault add_up(order& o, const step& s)
{
    o.total = 10 * static_cast<int>(s.body.size());
    return {};
}

fault take_payment(order& o, const step&)
{
    o.payment = std::to_string(o.total) + " EUR paid";
    return {};
}

fault print_receipt(order& o, const step& s)
{
    const bool company = s.body.ends_with("Ltd");
    if (company && receipt_of_companies.find("{vat id}") != std::string::npos) {
        return waybill::permanent("the template has no field {vat id}");
    }
    o.receipt = o.number + ", " + o.payment;
    return {};
}

fault send_mail(order& o, const step& s)
{
    std::cout << "  mail to " << s.body << ": " << o.receipt << '\n';
    return {};
}

constexpr fault (*steps[])(order&, const step&) = {give_number, add_up, take_payment, print_receipt,
                                                   send_mail};

/// The queue and the dead letters, in a database in memory.
struct shop {
    engines::database db{":memory:"};
    engines::sqlite_sessions queue{db};
    engines::sqlite_step_letters dead_letters{db};
    support::standard_environment env{};

    /// One message for each step.
    bool order_for(const std::string& customer)
    {
        auto job = waybill::job::make("order-" + customer.substr(0, 1), std::size(steps));
        while (job && !job->complete()) {
            if (!queue.send(job->next(), customer).ok()) return false;
        }
        return job.has_value();
    }
    bool run()
    {
        const auto run_step = [](order& o, const step& s) { return steps[s.number - 1](o, s); };
        const auto report = waybill::run_session(queue, waybill::state_codec<order>(), dead_letters,
                                                 run_step, {.until_empty = true}, env);
        return report.ended == waybill::session_report::run_outcome::queue_empty;
    }
    bool redrive()
    {
        const auto send = [&](const auto& m) { return queue.send(m); };
        return waybill::redrive_all(dead_letters, {}, send, env).ok();
    }
};

}  // namespace

int main()
{
    support::wrap_lines(std::cout);
    shop s;
    for (const std::string customer : {"Ada", "Babbage Ltd", "Grace"}) {
        if (!s.order_for(customer)) return 1;
    }
    std::cout << "three orders:\n";
    if (!s.run()) return 1;
    auto letters = s.dead_letters.list();
    if (!letters) return 1;
    std::cout << "dead-lettered:\n";
    for (const auto& letter : *letters) std::cout << "  " << describe(letter) << '\n';

    receipt_of_companies = "Receipt {number}";
    std::cout << "the template is repaired:\n";
    for (const auto& session : waybill::plan_redrive(*letters).sessions)
        std::cout << "  " << describe(session, *letters) << '\n';
    if (!s.redrive() || !s.run()) return 1;
    const auto left = s.dead_letters.list();
    return left && left->empty() ? 0 : 1;
}
