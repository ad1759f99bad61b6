// SPDX-License-Identifier: MIT
//
// verify: checks the outcome of each order. It is independent of the relay: it reads both databases
// with its own SQL, and takes the number of an order from the received mail.

#ifndef WAYBILL_EXAMPLES_OUTBOX_VERIFY_HPP
#define WAYBILL_EXAMPLES_OUTBOX_VERIFY_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace outbox {

struct findings {
    std::uint64_t orders = 0;
    std::uint64_t received = 0;  ///< Orders whose mail the server has.
    std::uint64_t twice = 0;     ///< Orders with more than one mail.
    std::uint64_t dead = 0;      ///< Dead letters, including pruned ones.
    std::uint64_t neither = 0;   ///< Orders with neither a mail nor a dead letter.
    std::uint64_t both = 0;      ///< Orders with a mail and a dead letter.
    std::uint64_t dropped = 0;   ///< Duplicates that the server has dropped.
    std::uint64_t tried = 0;     ///< Mails that the sender would send again.
    std::vector<std::string> wrong{};
};

/// `orders` is the number of orders in the input.
[[nodiscard]] findings verify(const std::string& db, std::uint64_t orders);

/// The number of dead letters after pruning.
[[nodiscard]] std::uint64_t letters_left(const std::string& db);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_VERIFY_HPP
