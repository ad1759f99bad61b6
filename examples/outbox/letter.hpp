// SPDX-License-Identifier: MIT
//
// letter: a row of the outbox as a mail.

#ifndef WAYBILL_EXAMPLES_OUTBOX_LETTER_HPP
#define WAYBILL_EXAMPLES_OUTBOX_LETTER_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "../engines/smtp.hpp"
#include "../engines/sqlite.hpp"
#include <waybill/core/time.hpp>

namespace outbox {

struct letter {
    std::uint64_t id = 0;  ///< The number of its order.
    std::string recipient{};
    std::string subject{};
    std::uint32_t tries = 0;                             ///< Failures of the mail itself.
    std::optional<waybill::wall_time> deferred_since{};  ///< Empty if it was never deferred.
};

/// The first columns of a row: number, recipient, subject.
[[nodiscard]] inline letter letter_in(const engines::statement& row)
{
    return {row.size(0), std::string(row.text(1)), std::string(row.text(2))};
}

[[nodiscard]] inline engines::mail to_mail(const letter& l, std::string_view message_id)
{
    constexpr std::string_view text =
        "From: shop@shop.example\r\nTo: {}\r\nSubject: {}\r\nMessage-ID: <{}>\r\nX-Order: {}\r\n"
        "\r\nThank you for your order.\r\n";
    return {"shop@shop.example", l.recipient,
            fmt::format(text, l.recipient, l.subject, message_id, l.id)};
}

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_LETTER_HPP
