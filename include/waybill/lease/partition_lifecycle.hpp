// SPDX-License-Identifier: MIT
//
// partition_lifecycle: the state machine of one partition in one process.
//
//     assigned -> open -> process, process, ... -> revoked -> close -> save -> release
//                                               -> lost    -> close
//
// A revoked partition is held until its lease is given back, so its progress is saved. A lost one
// has another owner already: nothing is saved or given back. Each step names its epoch; results of
// steps of another epoch are stale.
//
// Guarantees, whatever results are reported
//   1. Before the first `process` of an assignment, one `open` has succeeded.
//   2. A failed step is repeated after a pause that grows. A closed partition is not opened or
//      processed again under the same epoch.
//   3. After `revoked`: `close`, at most `save_tries` times `save`, then `release`. If a save
//      reports lost ownership, or the partition is lost, `release` does not follow.
//   4. After `partition_lost` only `close` follows.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_LEASE_PARTITION_LIFECYCLE_HPP
#define WAYBILL_LEASE_PARTITION_LIFECYCLE_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/consume/batch_outcome.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/retry/backoff.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of a `partition_lifecycle`, which inherits them.
struct partition_lifecycle_types {
    struct config {
        duration poll = duration::seconds(1);  ///< Pause after a read without events; at least 0.
        /// Pause before a failed step is repeated. Its jitter is not random: the pause is the
        /// middle of its range.
        backoff pause{.base = duration::seconds(1),
                      .cap = duration::seconds(60),
                      .spread = backoff::jitter::none};
        /// Maximum number of saves of one assignment; 0 counts as 1.
        std::uint32_t save_tries = 3;

        friend bool operator==(const config&, const config&) = default;
    };

    /// The result of reading and handling one batch.
    enum class batch_result : std::uint8_t {
        moved,    ///< Some events are done, and there may be more.
        drained,  ///< There were no events to read.
        again,    ///< The batch failed and has no effects. Repeat it after a pause.
        reopen,   ///< The progress is unknown. Load the checkpoint again after a pause.
        lost,     ///< The store reports that another owner has the partition.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(batch_result) noexcept
    {
        return "moved, drained, again, reopen, lost";
    }

    /// The result of a batch that ended with `e`.
    [[nodiscard]] static constexpr batch_result pass_of(batch_outcome e) noexcept
    {
        if (e == batch_outcome::committed) return batch_result::moved;
        if (e == batch_outcome::empty) return batch_result::drained;
        if (e == batch_outcome::ownership_lost) return batch_result::lost;
        return e == batch_outcome::unknown ? batch_result::reopen : batch_result::again;
    }

    /// Load the checkpoint and prepare to read. The result is `partition_opened`.
    struct open {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;
        friend bool operator==(const open&, const open&) = default;
    };

    /// Read and handle one batch. The result is `processed`.
    struct process {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;
        friend bool operator==(const process&, const process&) = default;
    };

    /// Stop reading and finish the work in progress. The result is `partition_closed`.
    struct close {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;
        /// Another owner has the partition: drop the work in progress, write nothing.
        bool lost = false;
        friend bool operator==(const close&, const close&) = default;
    };

    /// Write the position of the last event done, if batches do not write it. The result is
    /// `partition_saved`.
    struct save {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;
        friend bool operator==(const save&, const save&) = default;
    };

    /// Give the lease back. The result is `partition_released`.
    struct release {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;
        friend bool operator==(const release&, const release&) = default;
    };

    /// Event: this process holds the partition under `epoch`.
    struct assigned {
        std::uint64_t epoch = 0;

        friend bool operator==(const assigned&, const assigned&) = default;
    };

    /// Event: the partition is to be given back.
    struct revoked {
        friend bool operator==(const revoked&, const revoked&) = default;
    };

    /// Event: another owner has the partition.
    struct partition_lost {
        friend bool operator==(const partition_lost&, const partition_lost&) = default;
    };

    /// Event: there are events to read. Do not wait for the next poll.
    struct woken {
        std::uint32_t partition = 0;

        friend bool operator==(const woken&, const woken&) = default;
    };

    /// The result of `open`. `kind` is the kind of its fault. `stored_epoch` is that of the loaded
    /// checkpoint; 0 if there is none.
    struct partition_opened {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;
        fault_kind kind = fault_kind::none;
        std::uint64_t stored_epoch = 0;

        /// The result of loading the checkpoint for `a`.
        [[nodiscard]] static partition_opened of(const open& a,
                                                 const result<std::optional<checkpoint>>& loaded)
        {
            partition_opened opened{.partition = a.partition, .epoch = a.epoch};
            if (!loaded) opened.kind = loaded.error().kind;
            else if (*loaded) opened.stored_epoch = (*loaded)->epoch;
            return opened;
        }

        friend bool operator==(const partition_opened&, const partition_opened&) = default;
    };

    /// The result of `process`.
    struct processed {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;
        batch_result pass = batch_result::moved;

        /// The result of the batch of `a` that ended with `e`.
        [[nodiscard]] static constexpr processed of(const process& a, batch_outcome e) noexcept
        {
            return {a.partition, a.epoch, pass_of(e)};
        }

        friend bool operator==(const processed&, const processed&) = default;
    };

    /// The result of `close`.
    struct partition_closed {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;

        friend bool operator==(const partition_closed&, const partition_closed&) = default;
    };

    /// The result of `save`. `kind` is the kind of its fault.
    struct partition_saved {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;
        fault_kind kind = fault_kind::none;

        friend bool operator==(const partition_saved&, const partition_saved&) = default;
    };

    /// The result of `release`.
    struct partition_released {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;

        friend bool operator==(const partition_released&, const partition_released&) = default;
    };

    friend bool operator==(const partition_lifecycle_types&,
                           const partition_lifecycle_types&) = default;
};

/// The first error of `o`. `poll` must be at least 0, `save_tries` at least 1, and `pause` valid.
[[nodiscard]] constexpr std::optional<config_error> validate(
    const partition_lifecycle_types::config& o) noexcept
{
    if (o.poll < duration{}) {
        const auto magnitude = std::uint64_t{0} - static_cast<std::uint64_t>(o.poll.count());
        return config_error{"lifecycle.poll", magnitude, "nanoseconds must be at least", 0, true};
    }
    if (o.save_tries == 0) {
        return config_error{"lifecycle.save_tries", 0, "must be at least", 1};
    }
    return validate(o.pause);
}

/// The state machine of one partition: open it, process batches, save the progress, close it.
class partition_lifecycle : public partition_lifecycle_types {
public:
    using action = variant<open, process, close, save, release, wait_until, idle>;

    constexpr explicit partition_lifecycle(std::uint32_t partition, const config& o = {})
        : partition_(partition), options_(o)
    {
    }

    /// The next step, or the time until which to wait. `idle` if nothing is open.
    [[nodiscard]] constexpr action next(steady_time now) const
    {
        if (phase_ != phase::idle && now < not_before_) return wait_until{not_before_};
        switch (phase_) {
            case phase::open: return open{partition_, epoch_};
            case phase::process: return process{partition_, epoch_};
            case phase::close:
                return close{.partition = partition_, .epoch = epoch_, .lost = false};
            case phase::drop: return close{.partition = partition_, .epoch = epoch_, .lost = true};
            case phase::save: return save{partition_, epoch_};
            case phase::release: return release{partition_, epoch_};
            case phase::idle: break;
        }
        return idle{};
    }

    /// Starts an assignment. If an earlier one has not ended, it is closed as lost first. Stale if
    /// the epoch does not exceed those of all earlier assignments.
    constexpr event_result on(const assigned& a, steady_time now)
    {
        if (a.epoch <= epoch_ || a.epoch <= next_epoch_) return event_result::stale;
        if (phase_ != phase::idle) {
            next_epoch_ = a.epoch;
            next_revoked_ = false;
            return enter_phase(phase::drop, now);
        }
        begin_assignment(a.epoch, now);
        return event_result::applied;
    }

    constexpr event_result on(const revoked&, steady_time now)
    {
        if (phase_ == phase::drop && next_epoch_ != 0 && !next_revoked_) {
            next_revoked_ = true;  // the following epoch is given back without being opened
            return event_result::applied;
        }
        if (phase_ != phase::open && phase_ != phase::process) return event_result::stale;
        return enter_phase(phase::close, now);
    }

    constexpr event_result on(const partition_lost&, steady_time now)
    {
        next_epoch_ = 0;
        next_revoked_ = false;
        if (phase_ == phase::idle) return event_result::stale;
        // A closed partition has no work to drop.
        const bool closed = phase_ == phase::save || phase_ == phase::release;
        return enter_phase(closed ? phase::idle : phase::drop, now);
    }

    constexpr event_result on(const woken&, steady_time now)
    {
        if (phase_ != phase::process || failures_ != 0) return event_result::stale;
        return enter_phase(phase::process, now);
    }

    constexpr event_result on(const partition_opened& o, steady_time now)
    {
        if (phase_ != phase::open || o.epoch != epoch_) return event_result::stale;
        checkpoint_epoch_ = o.stored_epoch;
        if (o.kind != fault_kind::none) return retry_later(phase::open, now);
        return enter_phase(phase::process, now);
    }

    constexpr event_result on(const processed& p, steady_time now)
    {
        // The batch was in progress when the partition was revoked.
        const bool closing = phase_ == phase::close;
        if ((phase_ != phase::process && !closing) || p.epoch != epoch_) return event_result::stale;
        processed_ = true;
        if (closing) return event_result::applied;
        switch (p.pass) {
            case batch_result::moved:
            case batch_result::drained:
                failures_ = 0;
                return enter_phase(phase::process,
                                   p.pass == batch_result::drained ? now + options_.poll : now);
            case batch_result::again: return retry_later(phase::process, now);
            case batch_result::reopen:
            case batch_result::lost: break;
        }
        return retry_later(phase::open, now);
    }

    constexpr event_result on(const partition_closed& c, steady_time now)
    {
        if (c.epoch != epoch_) return event_result::stale;
        if (phase_ == phase::close) {
            failures_ = 0;  // failures of `process` do not count for `save`
            return enter_phase(processed_ ? phase::save : phase::release, now);
        }
        if (phase_ != phase::drop) return event_result::stale;
        const std::uint64_t next = next_epoch_;
        if (next == 0) return enter_phase(phase::idle, now);
        const bool next_revoked = next_revoked_;
        begin_assignment(next, now);
        return next_revoked ? enter_phase(phase::release, now) : event_result::applied;
    }

    constexpr event_result on(const partition_saved& s, steady_time now)
    {
        if (phase_ != phase::save || s.epoch != epoch_) return event_result::stale;
        if (s.kind == fault_kind::ownership_lost) return enter_phase(phase::idle, now);
        ++save_tries_;
        const bool saved_or_given_up =
            s.kind == fault_kind::none || save_tries_ >= options_.save_tries;
        return saved_or_given_up ? enter_phase(phase::release, now) : retry_later(phase::save, now);
    }

    constexpr event_result on(const partition_released& r, steady_time now)
    {
        if (phase_ != phase::release || r.epoch != epoch_) return event_result::stale;
        return enter_phase(phase::idle, now);
    }

    /// True if nothing is open and nothing is to be given back.
    [[nodiscard]] constexpr bool is_idle() const noexcept { return phase_ == phase::idle; }
    /// The epoch of the current assignment, or of the last one.
    [[nodiscard]] constexpr std::uint64_t epoch() const noexcept { return epoch_; }
    /// True if a batch was processed under this epoch, so that effects may have been written.
    [[nodiscard]] constexpr bool has_processed() const noexcept { return processed_; }
    /// The epoch of the checkpoint that was loaded last under `epoch()`; 0 if there was none.
    [[nodiscard]] constexpr std::uint64_t stored() const noexcept { return checkpoint_epoch_; }
    /// The number of consecutive failures.
    [[nodiscard]] constexpr std::uint32_t failures() const noexcept { return failures_; }

    friend bool operator==(const partition_lifecycle&, const partition_lifecycle&) = default;

private:
    enum class phase : std::uint8_t { idle, open, process, close, drop, save, release };

    constexpr void begin_assignment(std::uint64_t epoch, steady_time now)
    {
        epoch_ = epoch;
        next_epoch_ = 0;
        next_revoked_ = false;
        failures_ = 0;
        save_tries_ = 0;
        processed_ = false;
        checkpoint_epoch_ = 0;
        (void)enter_phase(phase::open, now);
    }

    constexpr event_result enter_phase(phase p, steady_time not_before)
    {
        phase_ = p;
        not_before_ = not_before;
        return event_result::applied;
    }

    constexpr event_result retry_later(phase p, steady_time now)
    {
        if (failures_ != ~std::uint32_t{0}) ++failures_;
        return enter_phase(p, now + pause(options_.pause, failures_, middle_of_jitter));
    }

    static constexpr double middle_of_jitter = 0.5;

    std::uint32_t partition_;
    config options_;
    phase phase_ = phase::idle;
    std::uint64_t epoch_ = 0;
    // Epoch of the next assignment, which begins when the current one is dropped; 0 for none.
    std::uint64_t next_epoch_ = 0;
    bool next_revoked_ = false;  // the next assignment was revoked before its begin
    std::uint32_t failures_ = 0;
    std::uint32_t save_tries_ = 0;
    bool processed_ = false;
    std::uint64_t checkpoint_epoch_ = 0;
    steady_time not_before_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_PARTITION_LIFECYCLE_HPP
