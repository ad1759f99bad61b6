// SPDX-License-Identifier: MIT
//
// consume: each event of a log takes effect once. Includes its public headers.
//
//   process_batch           effects, dead letters and checkpoint in one transaction
//   process_at_least_once   for effects and checkpoints that cannot share a transaction
//   stores                  the concepts of a store
//   reprocess, prune        dead letters: handle them again, remove old ones
//   rewind                  moves a checkpoint back on purpose
//   idempotency_key         the same key for each delivery of an event

#ifndef WAYBILL_CONSUME_HPP
#define WAYBILL_CONSUME_HPP

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/dead_letter.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/guarantee.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/process_at_least_once.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/consume/prune.hpp>
#include <waybill/consume/prune_policy.hpp>
#include <waybill/consume/reprocess.hpp>
#include <waybill/consume/rewind.hpp>
#include <waybill/consume/separate_stores.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_CONSUME_HPP
