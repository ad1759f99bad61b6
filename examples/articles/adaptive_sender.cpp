// SPDX-License-Identifier: MIT
//
// adaptive_sender: sends messages whose size on the wire is not known, to a broker whose limit is
// not known either, and which is busy at times. The sender learns both from its results.

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "../engines/simulated_broker.hpp"
#include "../support/environment.hpp"
#include <waybill/batch.hpp>
#include <waybill/wire.hpp>

using message = engines::simulated_broker::message;

int main()
{
    std::vector<message> inbox;
    for (std::uint64_t n = 0; n != 20'000; ++n)
        inbox.push_back({.key = "", .body = std::string(n == 777 ? 300'000 : n * 37 % 900, 'x')});

    engines::simulated_broker client({.limit = 262'144, .header = 60, .busy_every = 20});
    //! [batch_send]
    const auto transmit = [&](auto batch) -> waybill::send_outcome {
        const auto answer = client.send(batch);
        if (answer.ok()) return waybill::batch_sender::accepted{};
        return waybill::wire::outcome_of(waybill::wire::azure_amqp_errors, answer.code,
                                         answer.text);
    };
    support::standard_environment env;
    waybill::batch_sender sender{{.limit = {.bytes = 1'048'576}, .item_overhead = 20}};
    const auto body_size = [](const message& m) { return m.body.size(); };
    const auto report = waybill::send_all(inbox, body_size, sender, transmit, env);
    for (const auto& r : report.outcomes) std::cout << describe(r) << '\n';
    //! [batch_send]

    const waybill::calibration learnt = sender.learnt();
    std::cout << report.sends << " requests, " << report.refusals << " too large; learnt: limit "
              << learnt.limit << '\n';
    inbox.erase(inbox.begin() + 777);
    return client.messages() == inbox && report.not_accepted == 1 ? 0 : 1;
}
