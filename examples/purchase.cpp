// SPDX-License-Identifier: MIT
//
// purchase: orders of five steps each, which run in order. A receipt that cannot be printed stops
// its order and no other. After the repair of the template the order continues at the failed step.

#include <iostream>
#include <string>
#include <vector>

#include "support/session_steps.hpp"

namespace {

using support::step;
using waybill::fault;

/// What an order remembers from step to step.
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

constexpr fault (*steps[])(order&, const step&) = {give_number, add_up, take_payment,
                                                   print_receipt, send_mail};

}  // namespace

int main()
{
    support::session_steps<order> shop;
    for (const std::string customer : {"Ada", "Babbage Ltd", "Grace"}) {
        shop.send("order-" + customer.substr(0, 1), std::vector(std::size(steps), customer));
    }
    const auto run = [](order& o, const step& s) { return steps[s.number - 1](o, s); };

    std::cout << "three orders:\n";
    shop.run(run);
    std::cout << "parked:\n";
    for (const auto& letter : shop.parked()) std::cout << "  " << describe(letter) << '\n';

    receipt_of_companies = "Receipt {number}";
    std::cout << "the template is mended:\n";
    for (const std::string& session : shop.bring_back()) std::cout << "  " << session << '\n';
    shop.run(run);
    return shop.parked().empty() ? 0 : 1;
}
