// SPDX-License-Identifier: MIT
//
// kept_body: which part of a body and of a reason a dead letter keeps.

#ifndef WAYBILL_CONSUME_DETAIL_KEPT_BODY_HPP
#define WAYBILL_CONSUME_DETAIL_KEPT_BODY_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/consume/dead_letter_options.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/text.hpp>

namespace waybill::inline v0_2::detail {

/// The first bytes, at most `max_bytes`. UTF-8 text is cut between characters.
[[nodiscard]] inline std::string text_prefix(std::string_view bytes, std::uint64_t max_bytes)
{
    const std::size_t size = lesser(bytes.size(), max_bytes);
    return std::string(utf8_prefix(bytes, size));
}

/// Sets the kept part of the body, its whole size and its checksum.
inline void keep(dead_letter& d, std::string_view body, const dead_letter_options& o)
{
    d.size = body.size();
    d.checksum = crc32c(body);
    d.kept = o.keeps;
    if (o.keeps == dead_letter_body::body && d.size > o.body_bytes)
        d.kept = dead_letter_body::summary;
    if (d.kept == dead_letter_body::body) d.body = body;
    if (d.kept == dead_letter_body::summary) d.body = text_prefix(body, o.summary_bytes);
}

/// The reason of a failure, cut to at most `reason_bytes` bytes between characters. The result is a
/// copy, because a long text that is cut in place would keep all of its memory.
[[nodiscard]] inline std::string bounded_reason(std::string_view text, const dead_letter_options& o)
{
    return detail::text_prefix(text, o.reason_bytes);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_KEPT_BODY_HPP
