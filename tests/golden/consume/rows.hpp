// SPDX-License-Identifier: MIT
//
// The values in the files of version 1: crash records, leases and owners, each as a store keeps it
// in one text. They include texts of any bytes and extreme values.

#ifndef WAYBILL_TESTS_GOLDEN_CONSUME_ROWS_HPP
#define WAYBILL_TESTS_GOLDEN_CONSUME_ROWS_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/consume/crash_record.hpp>
#include <waybill/lease/lease.hpp>

namespace golden_rows {

/// A row as it was stored.
struct stored {
    std::string_view name;
    std::string_view json;
};

inline constexpr stored version_1[] = {
#include <golden/consume/rows_1.inc>
};

inline const stored* find(std::string_view name)
{
    for (const stored& s : version_1) {
        if (s.name == name) return &s;
    }
    return nullptr;
}

/// f(name, row) for each of them.
template <class F>
void each(F f)
{
    using namespace waybill;
    const std::string bytes("\0\xFF\x80 no text", 11);
    const partition_key key{"orders", "billing", "0"};
    const owner_id host{"host-7", 81};

    f("attempt_first", crash_record{{}, 4, 4, 0, 7, 1});
    f("attempt_died", crash_record{10, 14, 4, 1, 7, 3});
    f("attempt_rests", crash_record{10, 18, 2, 3, 0, 3});
    f("attempt_ends",
      crash_record{UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT32_MAX, UINT64_MAX, UINT64_MAX});

    f("lease_held", lease{key, host, 3, 12});
    f("lease_given_back", lease{key, {}, 3, 13});
    f("lease_ends", lease{{bytes, "", "\xC3\xA4"}, {bytes, UINT64_MAX}, UINT64_MAX, UINT64_MAX});

    f("owner", owner_heartbeat{"orders", "billing", host, 5});
    f("owner_ends", owner_heartbeat{bytes, bytes, {"\xC3\xA4", UINT64_MAX}, UINT64_MAX});
}

}  // namespace golden_rows

#endif  // WAYBILL_TESTS_GOLDEN_CONSUME_ROWS_HPP
