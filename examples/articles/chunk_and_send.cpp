// SPDX-License-Identifier: MIT
//
// chunk_and_send: cuts messages of known size into the fewest batches that Azure Service Bus
// accepts. A message that fits into no batch is stored elsewhere.

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "../engines/simulated_broker.hpp"
#include <waybill/batch.hpp>
#include <waybill/wire.hpp>

using message = engines::simulated_broker::message;

int main()
{
    std::vector<message> inbox;
    for (std::uint64_t n = 0; n != 20'000; ++n)
        inbox.push_back({.key = "", .body = std::string(n == 777 ? 300'000 : n * 37 % 900, 'x')});

    engines::simulated_broker client({.limit = 262'144, .header = 60});
    std::vector<message> archive;
    //! [batch_chunks]
    waybill::batch_limits limits = waybill::wire::service_bus_standard();
    limits.envelope = 40;
    const auto wire_size = [](const message& m) { return 60 + m.body.size(); };
    for (auto part : waybill::chunk_by(inbox, limits, wire_size)) {
        if (!part.fits) archive.push_back(*part.begin());
        else if (!client.send(part).ok()) return 1;
    }
    //! [batch_chunks]

    std::cout << client.messages().size() << " messages in " << client.batches() << " batches, "
              << archive.size() << " archived\n";
    inbox.erase(inbox.begin() + 777);
    return client.messages() == inbox && archive.size() == 1 ? 0 : 1;
}
