// expect: read it through a resend_buffer
// SPDX-License-Identifier: MIT

#include <iterator>
#include <sstream>
#include <string>

#include <waybill/batch/send_all.hpp>

// An input that can be read only once needs a resend_buffer, or a refused batch could not be cut
// again.
void send(std::istringstream& in, waybill::batch_sender& s)
{
    (void)waybill::send_all(
        std::istream_iterator<std::string>(in), std::istream_iterator<std::string>(),
        &std::string::size, s,
        [](const auto&) -> waybill::send_outcome { return waybill::batch_sender::accepted{}; },
        waybill::steady_time{});
}
