// expect: size function: it must return the bytes of an item as an integer, not as bool
// SPDX-License-Identifier: MIT
//
// A predicate "is large" is not a size.

#include <cstdint>
#include <string>

#include <waybill/batch/open_batch.hpp>

void open(std::uint64_t most)
{
    const auto is_large = [most](const std::string& s) { return s.size() > most; };
    auto all = waybill::open_batch<std::string>::of({.bytes = 1'000}, is_large);
}
