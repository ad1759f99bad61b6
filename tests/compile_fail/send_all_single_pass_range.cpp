// expect: read it through a resend_buffer
// SPDX-License-Identifier: MIT

#include <istream>
#include <iterator>
#include <string>

#include <waybill/batch/send_all.hpp>

struct words_of {
    std::istream& in;
    auto begin() { return std::istream_iterator<std::string>(in); }
    auto end() { return std::istream_iterator<std::string>(); }
};

void send(words_of words, waybill::batch_sender& s)
{
    (void)waybill::send_all(
        words, &std::string::size, s,
        [](const auto&) -> waybill::send_outcome { return waybill::batch_sender::accepted{}; },
        waybill::steady_time{});
}
