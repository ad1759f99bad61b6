// expect: size function: the batch was declared for another type of it; of(limits, size)
// SPDX-License-Identifier: MIT
//
// A size function with state is part of the type, which keyed_batches::of deduces.

#include <cstdint>
#include <string>

#include <waybill/batch/keyed_batches.hpp>

void open(std::uint64_t header)
{
    const auto size = [header](const std::string& s) { return header + s.size(); };
    waybill::keyed_batches<int, std::string> all{{.bytes = 1'000}, size, {.open = 2}};
}
