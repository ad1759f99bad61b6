// expect: size function: it must return the bytes of an item as an integer, not as bool
// SPDX-License-Identifier: MIT

#include <string>
#include <vector>

#include <waybill/batch/bin_packer.hpp>

waybill::packed_bins bins(const std::vector<std::string>& letters)
{
    return waybill::pack(letters, {.bytes = 1'000},
                         [](const std::string& s) { return s.size() > 100; });
}
