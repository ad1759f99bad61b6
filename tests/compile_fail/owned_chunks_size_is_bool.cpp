// expect: size function: it must return the bytes of an item as an integer, not as bool
// SPDX-License-Identifier: MIT

#include <string>
#include <utility>
#include <vector>

#include <waybill/batch/owned_chunks.hpp>

auto cut(std::vector<std::string>&& letters)
{
    return waybill::owned_chunks(std::move(letters), {.bytes = 1'000},
                                 [](const std::string& s) { return s.size() > 100; });
}
