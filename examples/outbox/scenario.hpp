// SPDX-License-Identifier: MIT
//
// scenario: the same course of events for each sender: orders arrive, the mail server stops and
// returns, and the sender is killed.

#ifndef WAYBILL_EXAMPLES_OUTBOX_SCENARIO_HPP
#define WAYBILL_EXAMPLES_OUTBOX_SCENARIO_HPP

#include <cstdint>
#include <vector>

#include "event_log.hpp"
#include "options.hpp"
#include "shop.hpp"

namespace outbox {

/// With fewer orders, no mail may be due in the outage.
inline constexpr std::uint64_t enough_orders = 20;

struct outcome {
    std::uint64_t calls = 0;       ///< Attempts to send a mail, with or without a server.
    std::uint64_t calls_down = 0;  ///< Attempts while there was no server.
    std::uint64_t starts = 0;      ///< Starts of the sender.
    std::uint64_t kills = 0;
    std::uint64_t kills_open = 0;  ///< Kills while its circuit breaker was not closed.
    std::uint64_t opened = 0;      ///< How often the circuit breaker has opened.
    std::uint64_t closed = 0;      ///< How often it has closed again.
    double seconds_down = 0;
    double seconds = 0;
};

/// Lets `sender` send the mails of all orders. Throws a complaint if the sender fails.
[[nodiscard]] outcome play(const options& o, role sender, const std::vector<order>& orders,
                           event_log& log);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_SCENARIO_HPP
