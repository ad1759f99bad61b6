// expect: send_all: the replace function must accept an item and a batch_sender::replace, and
// SPDX-License-Identifier: MIT

#include <string>
#include <vector>

#include <waybill/batch/send_all.hpp>

waybill::steady_time now();

waybill::send_report sends(std::vector<std::string>& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(
        inbox, &std::string::size, s,
        [](auto) -> waybill::send_outcome { return waybill::batch_sender::accepted{}; }, now,
        [](std::string& body, const waybill::batch_sender::replace&) { body.clear(); });
}
