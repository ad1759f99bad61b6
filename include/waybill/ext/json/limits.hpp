// SPDX-License-Identifier: MIT
//
// ext/json/limits: the limits within which JSON text is parsed.

#ifndef WAYBILL_EXT_JSON_LIMITS_HPP
#define WAYBILL_EXT_JSON_LIMITS_HPP

#include <cstddef>
#include <cstdint>

namespace waybill::inline v0_2 {

/// Limits of a JSON text. The parsed value takes at most 200 bytes of memory per member or element,
/// plus the bytes of its strings. Set lower limits for text of unknown origin.
struct json_limits {
    std::uint64_t max_depth = 256;          ///< Levels of objects and arrays. nlohmann's library
                                            ///< recurses once per level to copy or write a value.
    std::uint64_t max_members = 4'194'304;  ///< Members and elements of all objects and arrays.
    std::uint64_t max_bytes = 67'108'864;   ///< Bytes of the text.

    friend bool operator==(const json_limits&, const json_limits&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_EXT_JSON_LIMITS_HPP
