// expect: size function: the batch was declared for another type of it; of(limits, size)
// SPDX-License-Identifier: MIT
//
// A size function with state is part of the type, which open_batch::of deduces.

#include <cstdint>
#include <string>

#include <waybill/batch/open_batch.hpp>

void open(std::uint64_t header)
{
    const auto size = [header](const std::string& s) { return header + s.size(); };
    waybill::open_batch<std::string> all{{.bytes = 1'000}, size};
}
