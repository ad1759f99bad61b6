// SPDX-License-Identifier: MIT
//
// naive: the loop that people usually write: each second, all mails that are not sent yet.

#ifndef WAYBILL_EXAMPLES_OUTBOX_NAIVE_HPP
#define WAYBILL_EXAMPLES_OUTBOX_NAIVE_HPP

#include "options.hpp"

namespace outbox {

/// Never ends, as there are mails that can never be sent. It tells "pass N" behind each round in
/// which N were.
void run_naive(const options& o);

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_NAIVE_HPP
