// SPDX-License-Identifier: MIT
//
// server: a mail server with the necessary part of SMTP (RFC 5321) and with realistic faults.
//
// It stores a mail in its own database before it replies with 250, and drops a mail with a known
// Message-ID. Its behaviour depends on the recipient and the seed:
//
//     2 in 100 mailboxes do not exist                    550
//     3 in 100 are busy the first two times              450
//     1 in 200 are always full                           450
//     2 in 100: it stores a mail and closes the connection without a reply, once
//     1 in 100: it replies after 60 ms
//
// While it is busy it refuses all clients, with 421 at the greeting or 451 after MAIL.

#ifndef WAYBILL_EXAMPLES_OUTBOX_SERVER_HPP
#define WAYBILL_EXAMPLES_OUTBOX_SERVER_HPP

#include "options.hpp"

namespace outbox {

/// Listens on the port until it is killed.
void run_server(const options& o);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_SERVER_HPP
