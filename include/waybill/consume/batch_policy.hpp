// SPDX-License-Identifier: MIT
//
// batch_policy: the options of a delivery of a batch.
//
// There are no pauses between the tries of an event. A pause would keep the transaction open, and
// with it locks that other transactions wait for. Some databases have only one lock. `tries` is for
// faults that disappear at once. For longer faults use `redeliver`: roll back, pause, deliver the
// batch again.

#ifndef WAYBILL_CONSUME_BATCH_POLICY_HPP
#define WAYBILL_CONSUME_BATCH_POLICY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/consume/dead_letter_options.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

struct batch_policy {
    /// The caller's decision about a batch in which every event failed.
    enum class if_all_failed : std::uint8_t {
        go_on,      ///< The events are the cause: write dead letters.
        redeliver,  ///< A dependency is down. Roll back; the whole batch is delivered again.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(if_all_failed) noexcept
    {
        return "go_on, redeliver";
    }

    /// The commits that are verified by reading the checkpoint.
    enum class commit_check : std::uint8_t {
        /// Only commits whose outcome is unknown. If a store confirms a commit without writing it,
        /// this is detected only at the next advance, which finds the old checkpoint
        /// (`ownership_lost`). Until then the report contains `committed`, and effects that rely on
        /// it cannot be undone. If the process ends before the next advance, the events are
        /// delivered again and the loss is not reported.
        unknown,
        /// All commits. A commit that was not written is detected in the same delivery
        /// (`redeliver`). Costs one more read per commit.
        always,
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(commit_check) noexcept
    {
        return "unknown, always";
    }

    /// The action for an event that still fails transiently after its last try.
    enum class when_exhausted : std::uint8_t {
        redeliver,    ///< Roll back. The whole batch is delivered again.
        dead_letter,  ///< Write a dead letter and continue.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(when_exhausted) noexcept
    {
        return "redeliver, dead_letter";
    }

    std::uint32_t tries = 3;  ///< Maximum tries of an event in one delivery; 0 counts as 1.
    when_exhausted on_exhausted = when_exhausted::redeliver;
    /// Use savepoints. process_batch treats it as false if the store has none.
    bool savepoints = true;
    dead_letter_options dead_letters{};
    /// If this many events failed and none took effect, the caller is asked before they become dead
    /// letters. 2^64 - 1: no question.
    std::uint64_t decide_all_failed_from = 2;
    commit_check check_commit = commit_check::unknown;
    /// Store crash records. process_batch treats it as false if the store cannot keep them.
    /// Deaths are counted only with an incarnation.
    bool crash_records = true;
    /// Deaths in a row that start the search for one event. The search ends after the same number
    /// of deaths of that event alone. 0 counts as 1.
    std::uint32_t deaths = 3;

    friend bool operator==(const batch_policy&, const batch_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const batch_policy& p) noexcept
{
    if (p.tries == 0) return config_error{"tries", 0, "must be at least", 1};
    if (p.decide_all_failed_from == 0)
        return config_error{"decide_all_failed_from", 0, "must be at least", 1};
    if (p.deaths == 0) return config_error{"deaths", 0, "must be at least", 1};
    return {};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_BATCH_POLICY_HPP
