// expect: resend_buffer: the range is a temporary, destroyed before its items are read
// SPDX-License-Identifier: MIT

#include <cstddef>
#include <string>
#include <vector>

#include <waybill/batch/resend_buffer.hpp>

std::vector<std::string> received();

std::size_t kept()
{
    waybill::resend_buffer box(received());
    return box.size();
}
