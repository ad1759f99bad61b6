// SPDX-License-Identifier: MIT
//
// consume: each event of a log takes effect once. Includes its public headers.
//
//   process_batch           effects, dead letters and checkpoint in one transaction
//   process_at_least_once   for effects and checkpoints that cannot share a transaction
//   stores                  the concepts of a store
//   reprocess_all           handles the events of dead letters again (reprocess: one event)
//   resubmit                sends dead letters back to their queue or log
//   prune                   removes old dead letters
//   rewind                  moves a checkpoint back on purpose
//   idempotency_key         the same key for each delivery of an event

// Index, written by tests/api --write:
//
//   consume/at_least_once.hpp
//     struct at_least_once_machine_types
//     struct at_least_once_policy
//     class at_least_once_machine
//
//   consume/batch_machine.hpp
//     class batch_machine
//
//   consume/batch_outcome.hpp
//     enum batch_outcome { committed, redeliver, ownership_lost, cancelled, unknown, empty, inva...
//
//   consume/batch_policy.hpp
//     struct batch_policy
//
//   consume/batch_report.hpp
//     struct batch_report
//     struct at_least_once_report
//
//   consume/batch_steps.hpp
//     struct batch_machine_types
//
//   consume/crash_record.hpp
//     struct crash_record
//
//   consume/dead_letter.hpp
//     dead_letter make_dead_letter(key, e, reason, tries, now, o)
//
//   consume/dead_letter_options.hpp
//     enum dead_letter_body { body, pointer, summary, discard }
//     struct dead_letter_options
//
//   consume/event.hpp
//     concept sequenced
//     position position_of(const E& e)
//     std::optional<position> position_of(const std::optional<checkpoint>& stored)
//     struct event_outcome
//     event_outcome skipped(std::string text)
//
//   consume/idempotency_key.hpp
//     class idempotency_keys
//     std::string idempotency_key(key, sequence, o)
//
//   consume/position.hpp
//     struct partition_key
//     struct position
//     struct checkpoint
//     struct assignment
//
//   consume/process_at_least_once.hpp
//     process_at_least_once(checkpoints, letters, mine, first, last, handler, now, p, ask)
//     process_at_least_once(checkpoints, letters, mine, events, handler, now, p, ask)
//     process_at_least_once(checkpoints, letters, mine, first, last, handler, env, p, ask)
//     process_at_least_once(checkpoints, letters, mine, events, handler, env, p, ask)
//
//   consume/process_batch.hpp
//     batch_report process_batch(store, mine, first, last, handler, now, p, ask)
//     batch_report process_batch(store, mine, events, handler, now, p, ask)
//     batch_report process_batch(store, mine, first, last, handler, env, p, ask)
//     batch_report process_batch(store, mine, events, handler, env, p, ask)
//
//   consume/prune.hpp
//     prune_plan plan_prune(I first, S last, const prune_policy& policy, wall_time now, F row_of)
//     prune_plan plan_prune(const R& rows, const prune_policy& policy, wall_time now, F row_of)
//
//   consume/prune_plan.hpp
//     struct prune_plan
//
//   consume/prune_policy.hpp
//     struct prune_policy
//
//   consume/reprocess.hpp
//     reprocess_report reprocess(store, key, sequence, fetch, handler, now, p)
//
//   consume/reprocess_all.hpp
//     void reprocess_all(store, fetch, handler, policy, env, report)
//     dead_letter::run_report reprocess_all(store, fetch, handler, policy, env)
//     void reprocess_all(store, handler, policy, env, report)
//     dead_letter::run_report reprocess_all(store, handler, policy, env)
//     dead_letter::run_report reprocess_all(Store& store, Handler&& handler, Environment&& env)
//
//   consume/reprocess_report.hpp
//     struct reprocess_report
//
//   consume/resubmit.hpp
//     void resubmit(store, send, policy, env, report)
//     dead_letter::run_report resubmit(store, send, policy, env)
//     dead_letter::run_report resubmit(Store& store, Send&& send, Environment&& env)
//
//   consume/rewind.hpp
//     struct rewind_report
//     rewind_report rewind(Store& store, const assignment& mine, const std::optional<position>& to)
//
//   consume/separate_stores.hpp
//     concept checkpoint_writer
//     concept dead_letter_sink
//     class checkpoint_writer_for
//     class dead_letter_sink_for
//
//   consume/stores.hpp
//     enum commit_outcome { applied, not_applied, unknown }
//     enum advance_outcome { applied, conflict, stale_epoch }
//     struct dead_letter
//     concept savepoint_scope
//     concept transactional
//     concept checkpoint_store
//     concept checkpoint_reset
//     concept dead_letter_store
//     concept crash_record_store
//     concept dead_letter_queue

#ifndef WAYBILL_CONSUME_HPP
#define WAYBILL_CONSUME_HPP

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/batch_outcome.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/dead_letter.hpp>
#include <waybill/consume/dead_letter_options.hpp>
#include <waybill/consume/dead_letter_run.hpp>
#include <waybill/consume/event.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/process_at_least_once.hpp>
#include <waybill/consume/process_batch.hpp>
#include <waybill/consume/prune.hpp>
#include <waybill/consume/prune_plan.hpp>
#include <waybill/consume/prune_policy.hpp>
#include <waybill/consume/report_texts.hpp>
#include <waybill/consume/reprocess.hpp>
#include <waybill/consume/reprocess_all.hpp>
#include <waybill/consume/reprocess_report.hpp>
#include <waybill/consume/resubmit.hpp>
#include <waybill/consume/rewind.hpp>
#include <waybill/consume/separate_stores.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_CONSUME_HPP
