// expect: size function: it must return the bytes of an item as an integer, not as bool
// SPDX-License-Identifier: MIT

#include <string>

#include <waybill/batch/keyed_batches.hpp>

void open()
{
    const auto is_large = [](const std::string& s) { return s.size() > 100; };
    auto all = waybill::keyed_batches<int, std::string>::of({.bytes = 1'000}, is_large);
}
