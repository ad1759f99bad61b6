// expect: send_all: the send function must return a send_outcome, such as batch_sender::accepted{}
// SPDX-License-Identifier: MIT

#include <iterator>
#include <sstream>
#include <string>

#include <waybill/batch/send_all.hpp>

waybill::steady_time now();

waybill::send_report sends(std::istringstream& in, waybill::batch_sender& s)
{
    using lines = std::istream_iterator<std::string>;
    waybill::resend_buffer<lines, lines> box{lines(in), lines()};
    return waybill::send_all(
        box, &std::string::size, s, [](auto) { return true; }, now);
}
