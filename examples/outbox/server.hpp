// SPDX-License-Identifier: MIT
//
// server: a mail server that speaks as much SMTP (RFC 5321) as there is to say here, and that is as
// good and as bad as those out there.
//
// It keeps what it takes in a database of its own before it answers 250, and drops a mail whose
// Message-ID it has already. What it does to whom follows from the recipient and the seed:
//
//     2 in 100 mailboxes there are none of               550
//     3 in 100 are busy the first two times              450
//     1 in 200 are busy for ever                         450
//     2 in 100: it takes a mail, and breaks off before it has said so, once
//     1 in 100: it thinks for a while
//
// While it is busy it sends away everybody, with 421 at the greeting or 451 behind MAIL.

#ifndef WAYBILL_EXAMPLES_OUTBOX_SERVER_HPP
#define WAYBILL_EXAMPLES_OUTBOX_SERVER_HPP

#include "options.hpp"

namespace outbox {

/// Listens on the port until it is killed.
void run_server(const options& o);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_SERVER_HPP
