// expect: send_all: the send function must accept a batch, which is a range of items
// SPDX-License-Identifier: MIT

#include <string>
#include <vector>

#include <waybill/batch/send_all.hpp>

waybill::steady_time now();

waybill::send_report sends(std::vector<std::string>& inbox, waybill::batch_sender& s)
{
    return waybill::send_all(
        inbox, &std::string::size, s,
        [](const std::string&) -> waybill::send_outcome {
            return waybill::batch_sender::accepted{};
        },
        now);
}
