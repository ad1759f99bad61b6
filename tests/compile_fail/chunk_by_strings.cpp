// expect: size function: the items are no integers, so pass a function that returns the bytes
// SPDX-License-Identifier: MIT
//
// The bytes of a string on the wire are more than its characters.

#include <string>
#include <vector>

#include <waybill/batch/chunk_by.hpp>

auto cut(std::vector<std::string>& letters)
{
    return waybill::chunk_by(letters, {.bytes = 1'000});
}
