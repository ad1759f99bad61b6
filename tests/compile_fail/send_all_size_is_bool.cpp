// expect: send_all: the size function must return the bytes of an item as an integer, not as bool
// SPDX-License-Identifier: MIT

#include <string>
#include <vector>

#include <waybill/batch/send_all.hpp>

waybill::steady_time now();

waybill::send_report sends(std::vector<std::string>& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(
        inbox, [](const std::string& body) { return body.size() > 100; }, s,
        [](auto) -> waybill::send_outcome { return waybill::batch_sender::accepted{}; }, now);
}
