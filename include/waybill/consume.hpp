// SPDX-License-Identifier: MIT
//
// The door to consume/: each event takes effect once.
//
// process_batch drives a store through one transaction for effects, dead letters and checkpoint; the
// machine under it and the concepts that a store has to satisfy are there for other drivers.

#ifndef WAYBILL_CONSUME_HPP
#define WAYBILL_CONSUME_HPP

#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_CONSUME_HPP
