// expect: send_all: the size function must be const and accept an item
// SPDX-License-Identifier: MIT

#include <string>
#include <vector>

#include <waybill/batch/send_all.hpp>

waybill::steady_time now();

waybill::send_report sends(std::vector<std::string>& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(
        inbox, [](const std::vector<char>& body) { return body.size(); }, s,
        [](auto) -> waybill::send_outcome { return waybill::batch_sender::accepted{}; }, now);
}
