// SPDX-License-Identifier: MIT
//
// A first program; it uses the core alone.

#include <cstdint>
#include <cstdio>
#include <vector>

#ifdef COPIED_HEADER
#include "waybill_batch.hpp"
#else
#include <waybill/batch.hpp>
#endif

int main()
{
    const std::vector<std::uint32_t> sizes{60, 30, 10, 200, 50};
    const auto size = [](std::uint32_t bytes) { return bytes; };
    int batches = 0;
    int too_large = 0;
    for (auto part : waybill::chunk_by(sizes, {.bytes = 100}, size)) {
        ++batches;
        if (!part.fits) ++too_large;
    }
    std::printf("waybill %d: %d batches, %d too large\n", WAYBILL_VERSION, batches, too_large);
    return batches == 3 && too_large == 1 ? 0 : 1;
}
