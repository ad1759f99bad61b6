// SPDX-License-Identifier: MIT
//
// verify: what has become of each order. Believes nobody: it asks the two databases, in SQL of its
// own, and takes the number of an order out of the mail that was received.

#ifndef WAYBILL_EXAMPLES_OUTBOX_VERIFY_HPP
#define WAYBILL_EXAMPLES_OUTBOX_VERIFY_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace outbox {

struct findings {
    std::uint64_t orders = 0;
    std::uint64_t received = 0;  ///< Orders whose mail the server has,
    std::uint64_t twice = 0;     ///< of these more than once,
    std::uint64_t dead = 0;      ///< dead letters, the pruned ones among them,
    std::uint64_t neither = 0;   ///< orders without a mail and without a dead letter,
    std::uint64_t both = 0;      ///< and with both.
    std::uint64_t dropped = 0;   ///< Mails that the server had already.
    std::uint64_t tried = 0;     ///< Mails that their sender would send once more.
    std::vector<std::string> wrong{};
};

/// `orders` is how many there are in the input.
[[nodiscard]] findings verify(const std::string& db, std::uint64_t orders);

/// The dead letters that are there, for after some of them were pruned.
[[nodiscard]] std::uint64_t letters_left(const std::string& db);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_VERIFY_HPP
