// expect: size function: it must be const and accept an item
// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string>
#include <vector>

#include <waybill/batch/chunk_by.hpp>

struct letter {
    std::string body;
};

std::uint64_t wire_size(const std::string& body);

auto cut(std::vector<letter>& letters)
{
    return waybill::chunk_by(letters.begin(), letters.end(), {.bytes = 1'000}, wire_size);
}
