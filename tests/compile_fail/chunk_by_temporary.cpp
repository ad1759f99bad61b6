// expect: chunk_by: the container is a temporary, destroyed before its chunks are read
// SPDX-License-Identifier: MIT
//
// The container of a loop over its chunks has to outlive the loop's head.

#include <cstdint>
#include <vector>

#include <waybill/batch/chunk_by.hpp>

std::vector<std::uint32_t> received();

std::uint64_t bytes_in_all()
{
    std::uint64_t bytes = 0;
    for (auto part : waybill::chunk_by(received(), {.bytes = 1'000},
                                       [](std::uint32_t n) { return n; })) {
        bytes += part.bytes;
    }
    return bytes;
}
