// expect: send_all: the input is a temporary, and a further call could not continue with it
// SPDX-License-Identifier: MIT

#include <string>
#include <vector>

#include <waybill/batch/send_all.hpp>

waybill::steady_time now();
std::vector<std::string> received();

waybill::send_report sends(waybill::batch_sender& s)
{
    return waybill::send_all(
        received(), &std::string::size, s,
        [](auto) -> waybill::send_outcome { return waybill::batch_sender::accepted{}; }, now);
}
