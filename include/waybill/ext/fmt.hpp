// SPDX-License-Identifier: MIT
//
// ext/fmt: formats each decision, report, policy, error and enum as one readable line.
//
//     fmt::print("{}\n", report);          // sent 47 requests, 1 refused; 1001 accepted, 1 not
//     fmt::print("{}\n", machine.next());  // dead_letter event 3: permanent after 2 tries
//     fmt::print("{:>12}\n", 1500ms);      // fills and aligns as a string does
//
// Guarantees
//   1. The output is one line. Control characters in texts from outside are shown as escapes, so a
//      message cannot forge a log entry.
//   2. Numbers are exact, times and durations to the nanosecond. Exception: the overhead estimates
//      of a calibration are rounded.
//   3. The lines are for people and may change in a later version. For programs, use ext/json.

#ifndef WAYBILL_EXT_FMT_HPP
#define WAYBILL_EXT_FMT_HPP

#include <string_view>
#include <type_traits>

#include <fmt/format.h>

#include <waybill/batch.hpp>
#include <waybill/consume.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/ext/fmt_act.hpp>
#include <waybill/ext/fmt_consume.hpp>
#include <waybill/ext/fmt_lease.hpp>
#include <waybill/ext/fmt_line.hpp>
#include <waybill/ext/fmt_options.hpp>
#include <waybill/ext/fmt_report.hpp>
#include <waybill/ext/fmt_retry.hpp>
#include <waybill/ext/fmt_scaling.hpp>
#include <waybill/ext/fmt_session.hpp>
#include <waybill/ext/fmt_wire.hpp>
#include <waybill/lease.hpp>
#include <waybill/queue.hpp>
#include <waybill/retry.hpp>
#include <waybill/tracking.hpp>
#include <waybill/wire.hpp>

namespace waybill::inline v0_2::detail {

/// Formats the line of a value with the format specification of a string (fill, align, width).
template <class T>
struct in_words : fmt::formatter<std::string_view> {
    template <class Context>
    auto format(const T& value, Context& context) const
    {
        return fmt::formatter<std::string_view>::format(words::line(value), context);
    }
};

// The exact types that have a line. Types convertible to them do not match: {fmt} itself formats
// chrono durations.
template <class T, class... Known>
inline constexpr bool one_of = (std::is_same_v<T, Known> || ...);

template <class T>
concept outcome_in_words =
    one_of<T, add_result, advance_outcome, retry_outcome, batch_outcome,
           calibration_state::broker_reports, batch_close_reason, commit_outcome, fault_kind,
           event_result, if_all_failed, item_outcome, jitter, dead_letter_body, when_exhausted,
           commit_check, send_policy::when_too_large, send_policy::when_unknown, wire::answer,
           wire::dialect, wire::extent, wire::proof>;

template <class T>
concept act_in_words =
    one_of<T, batch_machine::advance, batch_machine::ask, batch_machine::begin,
           batch_machine::commit, batch_machine::write_dead_letter, retry_loop::done,
           batch_machine::clear_crash_record, give_up, retry_loop::call, batch_machine::handle,
           idle, batch_machine::store_crash_record, batch_machine::check_commit,
           batch_machine::load_crash_record, batch_machine::release_savepoint,
           batch_sender::replace, retry_now, batch_machine::rollback, batch_machine::savepoint,
           batch_sender::send, batch_sender::report, batch_machine::shorten,
           batch_machine::rollback_to_savepoint, wait_until>;

template <class T>
concept fact_in_words =
    one_of<T, assignment, backoff, batch_policy, batch_report, calibration, calibration_state,
           call_policy, call_report, checkpoint, config_error, dead_letter, duration, fault,
           item_report, batch_limits, open_limits, oversized_item, packed_bins, partition_key,
           position, retry_budget, retry_levels, retry_policy, item_range, send_policy, send_report,
           steady_time, wall_time, wire::error_code, wire::error_table, wire::refusal_numbers,
           wire::service>;

template <class T>
concept consumer_in_words =
    one_of<T, abandon, lease_manager::heartbeat, lease_manager::claim, partition_lifecycle::close,
           commit_schedule::commit_position, at_least_once_machine::commit_to, complete,
           dead_letter_message, defer, let_lock_expire, lease_manager::list_leases,
           partition_lifecycle::open, partition_lifecycle::process, partition_lifecycle::release,
           settle_batches::report, partition_lifecycle::save, settle_batches::settle_batch,
           lease_manager::leave, at_least_once_report, crash_record, balance_plan, track_error,
           blocked, commit_schedule_policy::commit_needs, checkpoint_stands, claim_outcome,
           claim_result, tracker_options::commit_mark, commit_schedule_types::commit_reason,
           delivery_guarantee, encoded_done::encoded_as, encoded_done,
           idempotency_options::scope_type, lease, lease_claim, lease_table, let_lock_expire::cause,
           owner_id, dead_letter_message::cause, owner_heartbeat, reprocess_outcome,
           reprocess_report, rewind_outcome, rewind_report, settle_batches_types::settle_outcome,
           settle_kind, tracked_event, tracker_problem, settle_policy::when_down>;

template <class T>
concept retry_in_words =
    one_of<T, receive_planner::receive, receive_planner::receive_deferred, lock_renewal::renew,
           receive_planner::settle_message, receive_planner::settle_original,
           receive_planner::take_due, defer_result, receive_planner_types::settle_result,
           deferral_error::code, delivery_lifetime::delivery_limit,
           deferral_options::hand_out_order, lock_outcome, prune_plan, prune_removal::limit,
           prune_removal, prune_totals, delivery_lifetime, receive_planner_types::settle_as,
           circuit_state, prune_policy::when_full>;

template <class T>
concept options_in_words =
    one_of<T, at_least_once_policy, commit_schedule_policy, delivery_terms, idempotency_options,
           receive_planner_options, lease_options, lifecycle_options, lock_renewal_options,
           prune_policy, prune_spike, settle_batch_policy, settle_policy, tracker_options,
           circuit_breaker_options>;

template <class T>
concept scaling_in_words =
    one_of<T, scaling::admission, scaling::command_result, scaling::command, scaling::comparison,
           scaling::decision, scaling::evidence, scaling::lack_of, scaling::policy_error,
           scaling::reason, scaling::relation, scaling::role, scaling::rule, scaling::statistic,
           scaling::threshold, scaling::tribool, scaling::verdict, scaling::when_missing>;

template <class T>
concept session_in_words =
    one_of<T, pipeline::clear_state, pipeline::execute, pipeline::give_back, pipeline::load_state,
           redrive::mark_sent, pipeline::write_dead_letter, redrive::remove_dead_letters,
           redrive::resubmit, pipeline::save_state, import_outcome, opened_state::problem_type,
           skip_reason, job_error, job_error::code, job_progress, opened_state, dead_letter_reason,
           pipeline_mode, pipeline_policy, redrive_outcome, redrive_marks, row_key_read::finding,
           row_key_read, schema_version, session_progress, step_properties_read::finding,
           step_properties_read, state_budget, state_format, state_read, state_too_large,
           step_outcome, step_facts, step_failure, pipeline_dead_letter, step_properties,
           sweep_item, sweep_policy, sweep_verdict, text_state_read::problem_type, text_state_read,
           pipeline_policy::when_refused, pipeline_policy::when_unreadable>;

}  // namespace waybill::inline v0_2::detail

template <class T>
    requires waybill::detail::outcome_in_words<T> || waybill::detail::act_in_words<T> ||
             waybill::detail::fact_in_words<T> || waybill::detail::consumer_in_words<T> ||
             waybill::detail::retry_in_words<T> || waybill::detail::options_in_words<T> ||
             waybill::detail::scaling_in_words<T> || waybill::detail::session_in_words<T>
struct fmt::formatter<T, char> : waybill::detail::in_words<T> {};

template <class I>
struct fmt::formatter<waybill::chunk<I>> : waybill::detail::in_words<waybill::chunk<I>> {};
template <class T, class Items>
struct fmt::formatter<waybill::owned_chunk<T, Items>>
    : waybill::detail::in_words<waybill::owned_chunk<T, Items>> {};
template <class T>
struct fmt::formatter<waybill::closed_batch<T>>
    : waybill::detail::in_words<waybill::closed_batch<T>> {};
template <class Key, class T>
struct fmt::formatter<waybill::keyed_batch<Key, T>>
    : waybill::detail::in_words<waybill::keyed_batch<Key, T>> {};
template <class T, class F>
struct fmt::formatter<waybill::open_batch<T, F>>
    : waybill::detail::in_words<waybill::open_batch<T, F>> {};
template <class Key, class T, class F>
struct fmt::formatter<waybill::keyed_batches<Key, T, F>>
    : waybill::detail::in_words<waybill::keyed_batches<Key, T, F>> {};
template <class T, class F>
struct fmt::formatter<waybill::bin_packer<T, F>>
    : waybill::detail::in_words<waybill::bin_packer<T, F>> {
};

// Each action type and `item_ranges` has a full specialisation: only that takes precedence over the
// partial specialisations for variants and ranges in {fmt}'s own headers.
template <>
struct fmt::formatter<waybill::batch_sender::action>
    : waybill::detail::in_words<waybill::batch_sender::action> {
};
template <>
struct fmt::formatter<waybill::batch_machine::action>
    : waybill::detail::in_words<waybill::batch_machine::action> {};
template <>
struct fmt::formatter<waybill::retry_action> : waybill::detail::in_words<waybill::retry_action> {};
template <>
struct fmt::formatter<waybill::retry_loop::action>
    : waybill::detail::in_words<waybill::retry_loop::action> {
};
template <>
struct fmt::formatter<waybill::at_least_once_machine::action>
    : waybill::detail::in_words<waybill::at_least_once_machine::action> {};
template <>
struct fmt::formatter<waybill::commit_schedule::action>
    : waybill::detail::in_words<waybill::commit_schedule::action> {
};
template <>
struct fmt::formatter<waybill::receive_planner::action>
    : waybill::detail::in_words<waybill::receive_planner::action> {
};
template <>
struct fmt::formatter<waybill::lease_call> : waybill::detail::in_words<waybill::lease_call> {};
template <>
struct fmt::formatter<waybill::lease_manager::action>
    : waybill::detail::in_words<waybill::lease_manager::action> {
};
template <>
struct fmt::formatter<waybill::lock_renewal::action>
    : waybill::detail::in_words<waybill::lock_renewal::action> {};
template <>
struct fmt::formatter<waybill::partition_lifecycle::action>
    : waybill::detail::in_words<waybill::partition_lifecycle::action> {};
template <>
struct fmt::formatter<waybill::dead_letter_import::action>
    : waybill::detail::in_words<waybill::dead_letter_import::action> {
};
template <>
struct fmt::formatter<waybill::pipeline::action>
    : waybill::detail::in_words<waybill::pipeline::action> {};
template <>
struct fmt::formatter<waybill::redrive::action>
    : waybill::detail::in_words<waybill::redrive::action> {};
template <>
struct fmt::formatter<waybill::processor::action>
    : waybill::detail::in_words<waybill::processor::action> {};
template <>
struct fmt::formatter<waybill::settle_batches::action>
    : waybill::detail::in_words<waybill::settle_batches::action> {};
template <>
struct fmt::formatter<waybill::settlement> : waybill::detail::in_words<waybill::settlement> {};
template <>
struct fmt::formatter<waybill::item_ranges> : waybill::detail::in_words<waybill::item_ranges> {
};

// Chunks are ranges, but are formatted as one line, not element by element.
FMT_BEGIN_NAMESPACE
template <class T, class Char>
struct is_range;
template <class I, class Char>
struct is_range<waybill::chunk<I>, Char> {
    static constexpr bool value = false;
};
template <class T, class Items, class Char>
struct is_range<waybill::owned_chunk<T, Items>, Char> {
    static constexpr bool value = false;
};
FMT_END_NAMESPACE

#endif  // WAYBILL_EXT_FMT_HPP
