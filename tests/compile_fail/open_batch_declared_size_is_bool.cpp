// expect: size function: it must return the bytes of an item as an integer, not as bool
// SPDX-License-Identifier: MIT

#include <string>

#include <waybill/batch/open_batch.hpp>

void open(bool (*is_large)(const std::string&))
{
    waybill::open_batch<std::string, bool (*)(const std::string&)> all{{.bytes = 1'000}, is_large};
}
