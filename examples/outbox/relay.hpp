// SPDX-License-Identifier: MIT
//
// relay: sends what is in the outbox, until the shop is closed and nothing is left.
//
//   1. each mail goes at least once, and always under the same Message-ID, so that who receives it
//      can drop a second one. It counts as sent only after the server has said that it has it;
//   2. a mail that is refused for now is tried again at once, then later; what is refused for ever,
//      or has been refused too often, becomes a dead letter with the server's words;
//   3. while the server is down a circuit breaker keeps all back but a probe now and then. No mail
//      becomes a dead letter for that;
//   4. what waits and until when is in the database, in one transaction with what became of a mail.
//      A relay that is killed is followed by one that knows the same.

#ifndef WAYBILL_EXAMPLES_OUTBOX_RELAY_HPP
#define WAYBILL_EXAMPLES_OUTBOX_RELAY_HPP

#include "options.hpp"

namespace outbox {

void run_relay(const options& o);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_RELAY_HPP
