// SPDX-License-Identifier: MIT
//
// receive_planner_steps: the actions and events of a receive_planner. Each action is one call that
// can fail by itself.
//
// Each unit of work has a number. It is a fresh message, or a pair of a deferred message (the
// original) and its pointer. The message of a pair is its pointer: a scheduled message of the
// broker, or an entry of a deferred_messages.

#ifndef WAYBILL_QUEUE_RECEIVE_PLANNER_STEPS_HPP
#define WAYBILL_QUEUE_RECEIVE_PLANNER_STEPS_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/circuit_breaker_options.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of a `receive_planner`, which inherits them.
struct receive_planner_types {
    struct config {
        /// Maximum of messages and pairs in hand; at most `circuit_breaker::max_permits`.
        std::uint64_t max_in_flight = 16;
        /// Time to the next request after an empty or failed request, and after a give-back.
        duration pause = duration::seconds(1);
        /// Maximum time between requests for due pairs, also if the next pair is known to be due
        /// later.
        duration poll_interval = duration::seconds(30);
        /// The circuit breaker. Its `timeout` is the maximum duration of a handler.
        circuit_breaker_types::config breaker{};

        friend bool operator==(const config&, const config&) = default;
    };

    /// The outcome of a broker call that fetches or settles a message.
    enum class settle_result : std::uint8_t {
        done,  ///< The call succeeded.
        /// The message no longer exists. A lock that is lost or held elsewhere is `failed`.
        not_found,
        failed,  ///< Any other error. The effect of the call is unknown.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(settle_result) noexcept
    {
        return "done, not_found, failed";
    }

    /// The settlement of a message in hand.
    enum class settle_as : std::uint8_t {
        complete,  ///< It was processed: complete it.
        /// It is to be delivered again: abandon a message, give back an entry. Do not abandon a
        /// pointer: schedule another one to the same original, then complete it.
        give_back,
        dead_letter,  ///< It is to be moved to the dead letters.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(settle_as) noexcept
    {
        return "complete, give_back, dead_letter";
    }

    /// Take due pairs: receive their pointers, or take their entries. Report with `pairs_taken`.
    struct take_due_pairs {
        std::uint64_t first = 0;  ///< The number of the first pair; the others follow in sequence.
        std::uint64_t max_pairs = 0;  ///< Maximum of pairs.
        friend bool operator==(const take_due_pairs&, const take_due_pairs&) = default;
    };

    /// Receive fresh messages. Report with `messages_received`.
    struct receive {
        std::uint64_t first = 0;  ///< The number of the first one; the others follow in sequence.
        std::uint64_t max_messages = 0;  ///< Maximum of messages.
        friend bool operator==(const receive&, const receive&) = default;
    };

    /// Fetch the original of this pair by its sequence number. Report with `original_fetched`.
    struct receive_deferred {
        std::uint64_t work = 0;
        friend bool operator==(const receive_deferred&, const receive_deferred&) = default;
    };

    /// Settle the original of this pair. Report with `original_settled`.
    struct settle_original {
        std::uint64_t work = 0;
        settle_as as = settle_as::complete;
        friend bool operator==(const settle_original&, const settle_original&) = default;
    };

    /// Settle a fresh message or the pointer of a pair. Report with `message_settled`. For an entry
    /// of a deferred_messages, use its ticket: settled(sequence, ticket) or give_back(sequence,
    /// ticket). If the entry was deferred again, these calls do not change it.
    struct settle_message {
        std::uint64_t work = 0;
        settle_as as = settle_as::complete;
        bool gone = false;  ///< The original of the pointer no longer exists.
        friend bool operator==(const settle_message&, const settle_message&) = default;
    };

    /// Event: pairs were taken, or the request failed.
    struct pairs_taken {
        std::uint64_t pairs = 0;  ///< The number of pairs.
        /// When the next pair is due, if that is known.
        steady_time next = steady_time::highest();
        fault_kind kind = fault_kind::none;  ///< Why the request failed; `none` on success.
        friend bool operator==(const pairs_taken&, const pairs_taken&) = default;
    };

    /// Event: messages were received. The caller handles each of them now.
    struct messages_received {
        std::uint64_t messages = 0;          ///< The number of messages.
        fault_kind kind = fault_kind::none;  ///< Why the request failed; `none` on success.
        friend bool operator==(const messages_received&, const messages_received&) = default;
    };

    /// Event: the fetch of an original ended. If it is `done`, the caller handles the original now.
    struct original_fetched {
        std::uint64_t work = 0;
        settle_result result = settle_result::done;
        /// True if the pointer was taken before, and its lock or hold has ended since. Only then
        /// `not_found` means that the original no longer exists.
        bool redelivered = false;
        friend bool operator==(const original_fetched&, const original_fetched&) = default;
    };

    /// Event: a message or an original was handled.
    struct work_done {
        std::uint64_t work = 0;
        fault_kind kind = fault_kind::none;
        /// True if the message was deferred (again) and has a new pointer. A fresh message then
        /// needs no settlement. An original is then given back, and its old pointer is completed.
        bool deferred = false;
        /// A random number in [0, 1) for the jitter of the circuit breaker's break duration. The
        /// default gives the longest break.
        double random = 1.0;
        friend bool operator==(const work_done&, const work_done&) = default;
    };

    /// Event: the call to settle an original has ended.
    struct original_settled {
        std::uint64_t work = 0;
        settle_result result = settle_result::done;
        friend bool operator==(const original_settled&, const original_settled&) = default;
    };

    /// Event: the call to settle a message has ended.
    struct message_settled {
        std::uint64_t work = 0;
        settle_result result = settle_result::done;
        friend bool operator==(const message_settled&, const message_settled&) = default;
    };

    /// Event: a pair was scheduled for `due`, possibly before the next known pair.
    struct pair_scheduled {
        steady_time due{};
        friend bool operator==(const pair_scheduled&, const pair_scheduled&) = default;
    };

    friend bool operator==(const receive_planner_types&, const receive_planner_types&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_QUEUE_RECEIVE_PLANNER_STEPS_HPP
