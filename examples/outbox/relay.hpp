// SPDX-License-Identifier: MIT
//
// relay: sends the mails of the outbox, until the shop is closed and no mail is left.
//
//   1. each mail is sent at least once, always with the same Message-ID, so that the receiver can
//      drop duplicates. A mail counts as sent only after the server's acknowledgement;
//   2. after a transient refusal a mail is retried at once, then with delays. A permanent refusal,
//      or too many transient ones, make it a dead letter with the server's text;
//   3. while the server is down a circuit breaker admits only single probes. No mail becomes a dead
//      letter because of an outage;
//   4. deferred mails and their due times are stored in one transaction with the outcome of a mail.
//      A new relay continues from the state of a killed one.

#ifndef WAYBILL_EXAMPLES_OUTBOX_RELAY_HPP
#define WAYBILL_EXAMPLES_OUTBOX_RELAY_HPP

#include "options.hpp"

namespace outbox {

void run_relay(const options& o);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_RELAY_HPP
