// expect: size function: it must return the bytes of an item as an integer, not as bool
// SPDX-License-Identifier: MIT
//
// A predicate "is large" is not a size.

#include <string>
#include <vector>

#include <waybill/batch/chunk_by.hpp>

bool is_large(const std::string& s)
{
    return s.size() > 1'000;
}

auto cut(std::vector<std::string>& letters)
{
    return waybill::chunk_by(letters, {.bytes = 1'000}, is_large);
}
