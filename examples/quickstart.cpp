// SPDX-License-Identifier: MIT
//
// quickstart: a thousand payloads, cut into batches that Azure Service Bus (Standard) accepts.
//! [quickstart]
#include <iostream>
#include <string>
#include <vector>

#include <waybill/batch.hpp>

int main()
{
    std::vector<std::string> inbox;
    for (unsigned i = 0; i < 1'000; ++i) inbox.push_back(std::string(i * i % 4'001, '.'));
    inbox[500] = std::string(300'000, '.');

    const waybill::batch_limits limits{.bytes = 262'144, .items = 4'500, .envelope = 512};
    const auto wire_size = [](const std::string& body) { return body.size() + 62; };

    for (auto part : waybill::chunk_by(inbox, limits, wire_size)) {
        if (part.fits)
            std::cout << std::string(part.bytes / 6'000, '#') << ' ' << part.bytes << '\n';
        else
            std::cout << "payload " << part.begin() - inbox.begin()
                      << " is too large: " << part.bytes << " bytes, the limit is " << limits.bytes
                      << '\n';
    }
}
//! [quickstart]
