// expect: send_all: the send function must return a send_outcome, such as
// SPDX-License-Identifier: MIT

#include <string>
#include <vector>

#include <waybill/batch/send_all.hpp>

waybill::steady_time now();

waybill::send_report sends(std::vector<std::string>& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(
        inbox, &std::string::size, s, [](auto) { return true; }, now);
}
