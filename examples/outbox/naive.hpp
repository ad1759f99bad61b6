// SPDX-License-Identifier: MIT
//
// naive: the usual loop: each second, all mails that are not sent yet.

#ifndef WAYBILL_EXAMPLES_OUTBOX_NAIVE_HPP
#define WAYBILL_EXAMPLES_OUTBOX_NAIVE_HPP

#include "options.hpp"

namespace outbox {

/// Never ends, as some mails can never be sent. Reports "pass N" after each round, with the number
/// N of sent mails.
void run_naive(const options& o);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_NAIVE_HPP
