// SPDX-License-Identifier: MIT
//
// nats: exact size in bytes of a message as the server counts it, and of its protocol frame.
//
//     namespace nats = waybill::wire::nats;
//     const nats::message m{.subject = "orders", .headers = headers, .body = json};
//     nats::payload_size(m) <= max_payload;   // accepted; one byte more is refused
//     nats::frame_size(m);                    // bytes on the connection, for buffers
//
// The server refuses a message over max_payload. This limit counts the header block and the body.
// If a client compares only the body with it, the server refuses the message and closes the
// connection.
//
// Each value of a header with several values is a separate line. JetStream's max_msg_size counts
// the same bytes as max_payload.
//
// Sources: https://docs.nats.io/reference/reference-protocols/nats-protocol (PUB, HPUB) and ADR-4,
// https://github.com/nats-io/nats-architecture-and-design/blob/main/adr/ADR-4.md (headers). Tested
// against a server at its limit and one byte over it (tests/integration/nats_size.sh), and against
// an independent writer in nats.prop.cpp.

#ifndef WAYBILL_WIRE_NATS_HPP
#define WAYBILL_WIRE_NATS_HPP

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::wire::nats {

/// One line of the header block.
struct header {
    std::string_view key{};
    std::string_view value{};
};

/// A message as a client publishes it. Contains views and owns nothing.
struct message {
    std::string_view subject{};
    std::optional<std::string_view> reply{};  ///< Subject for replies.
    std::span<const header> headers{};  ///< If empty: no header block, and PUB instead of HPUB.
    std::string_view body{};
};

/// The separator that a client writes between key and value. Servers accept both forms.
enum class header_style : std::uint8_t {
    spaced,   ///< "key: value", as nats.c, nats.go and most others do.
    compact,  ///< "key:value", one byte less per line.
};

[[nodiscard]] constexpr std::string_view texts_of(header_style) noexcept
{
    return "spaced, compact";
}

namespace detail {

[[nodiscard]] constexpr std::uint64_t digits(std::uint64_t n) noexcept
{
    std::uint64_t count = 1;
    for (; n >= 10; n /= 10) ++count;
    return count;
}

}  // namespace detail

/// Bytes of the header block: its first line, one line per header and an empty line; 0 without
/// headers. Linear in the headers. Tested by nats_size.sh and nats.prop.cpp.
[[nodiscard]] constexpr std::uint64_t header_size(
    std::span<const header> headers, header_style style = header_style::spaced) noexcept
{
    if (headers.empty()) return 0;
    const std::uint64_t line_overhead = style == header_style::spaced ? 4 : 3;  // ": ", ":"; CR LF
    std::uint64_t sum = 10 + 2;  // "NATS/1.0" CR LF, and CR LF at the end
    for (const header& h : headers) {
        sum = waybill::detail::saturating_add(
            sum, waybill::detail::saturating_add(line_overhead + h.key.size(), h.value.size()));
    }
    return sum;
}

/// Bytes that max_payload limits: header block and body. Linear in the headers. Tested by
/// nats_size.sh: the server accepts the limit and refuses one byte more.
[[nodiscard]] constexpr std::uint64_t payload_size(
    const message& m, header_style style = header_style::spaced) noexcept
{
    return waybill::detail::saturating_add(nats::header_size(m.headers, style), m.body.size());
}

/// Bytes of the whole PUB or HPUB frame with single spaces, including its length fields and all
/// line ends. Linear in the headers. Tested by nats.prop.cpp, and in nats_size.sh with the bytes
/// sent.
[[nodiscard]] constexpr std::uint64_t frame_size(const message& m,
                                                 header_style style = header_style::spaced) noexcept
{
    const std::uint64_t head = nats::header_size(m.headers, style);
    const std::uint64_t payload = waybill::detail::saturating_add(head, m.body.size());
    std::uint64_t line = waybill::detail::saturating_add(4, m.subject.size());  // "PUB " subject
    if (m.reply)
        line = waybill::detail::saturating_add(line,
                                               waybill::detail::saturating_add(1, m.reply->size()));
    line =
        waybill::detail::saturating_add(line, 1 + detail::digits(payload) + 2);  // " " total CR LF
    if (head != 0)
        line =
            waybill::detail::saturating_add(line, 1 + 1 + detail::digits(head));  // "H", " " head
    return waybill::detail::saturating_add(line, waybill::detail::saturating_add(payload, 2));
}

}  // namespace waybill::inline v0_2::wire::nats

#endif  // WAYBILL_WIRE_NATS_HPP
