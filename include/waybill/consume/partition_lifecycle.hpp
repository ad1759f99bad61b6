// SPDX-License-Identifier: MIT
//
// partition_lifecycle: one partition in one process, from its assignment to its end.
//
//     assigned -> open -> process, process, ... -> revoked -> close -> save -> relinquish
//                                               -> lost    -> close
//
// A revoked partition is ours until it is given back, so what was done is saved. A lost one has
// another owner already: nothing is saved, nothing is given back. Each step names the epoch that it
// belongs to, and answers to the steps of an older one change nothing.
//
// What holds whatever the answers are:
//   1. between `assigned` and the end of it there is one `open` that worked before any `process`;
//   2. what fails is tried again after a pause that grows, and never in a closed partition;
//   3. once revoked it ends: close once, save up to `save_tries` times, relinquish once;
//   4. once lost, nothing follows but `close`.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_CONSUME_PARTITION_LIFECYCLE_HPP
#define WAYBILL_CONSUME_PARTITION_LIFECYCLE_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Load where to go on from, and make ready to read. Answered by `partition_opened`.
struct open {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;
    friend bool operator==(const open&, const open&) = default;
};

/// Read and handle one batch. Answered by `processed`.
struct process {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;
    friend bool operator==(const process&, const process&) = default;
};

/// Stop reading, let end what is in hand. Answered by `partition_closed`.
struct close {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;
    bool lost = false;  ///< Somebody else has it: drop what is in hand, write nothing.
    friend bool operator==(const close&, const close&) = default;
};

/// Write the position of what is done, where that is not done with each batch. Answered by
/// `partition_saved`.
struct save {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;
    friend bool operator==(const save&, const save&) = default;
};

/// Give the lease back. Answered by `relinquished`.
struct relinquish {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;
    friend bool operator==(const relinquish&, const relinquish&) = default;
};

}  // namespace act

/// How the reading and handling of one batch went.
enum class batch_pass : std::uint8_t {
    moved,    ///< Some events are done, and there may be more.
    drained,  ///< There was nothing to read.
    again,    ///< It failed and left nothing. Try it again after a pause.
    reopen,   ///< Nobody knows what is done. Load that again after a pause.
    lost,     ///< The store says that somebody else has the partition.
};

[[nodiscard]] constexpr std::string_view name(batch_pass p) noexcept
{
    switch (p) {
        case batch_pass::moved: return "moved";
        case batch_pass::drained: return "drained";
        case batch_pass::again: return "again";
        case batch_pass::reopen: return "reopen";
        case batch_pass::lost: return "lost";
    }
    return "?";
}

/// What the end of a batch means for its partition.
[[nodiscard]] constexpr batch_pass pass_of(batch_end e) noexcept
{
    if (e == batch_end::committed) return batch_pass::moved;
    if (e == batch_end::empty) return batch_pass::drained;
    if (e == batch_end::abandoned) return batch_pass::lost;
    return e == batch_end::unknown ? batch_pass::reopen : batch_pass::again;
}

/// The partition is ours under this epoch.
struct assigned {
    std::uint64_t epoch = 0;

    friend bool operator==(const assigned&, const assigned&) = default;
};
/// It is to be given back.
struct revoked {
    friend bool operator==(const revoked&, const revoked&) = default;
};
/// Somebody else has it.
struct partition_lost {
    friend bool operator==(const partition_lost&, const partition_lost&) = default;
};
/// There is something to read: do not wait for the next poll.
struct woken {
    std::uint32_t partition = 0;

    friend bool operator==(const woken&, const woken&) = default;
};

/// It was opened, or could not be. `stored` is the epoch of the checkpoint that was loaded.
struct partition_opened {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;
    fault_class how = fault_class::none;
    std::uint64_t stored = 0;

    friend bool operator==(const partition_opened&, const partition_opened&) = default;
};
struct processed {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;
    batch_pass how = batch_pass::moved;

    friend bool operator==(const processed&, const processed&) = default;
};
struct partition_closed {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;

    friend bool operator==(const partition_closed&, const partition_closed&) = default;
};
struct partition_saved {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;
    fault_class how = fault_class::none;

    friend bool operator==(const partition_saved&, const partition_saved&) = default;
};
struct relinquished {
    std::uint32_t partition = 0;
    std::uint64_t epoch = 0;

    friend bool operator==(const relinquished&, const relinquished&) = default;
};

/// The answer to `open` after what a store has answered to `load`.
[[nodiscard]] inline partition_opened opened_with(const act::open& a,
                                                  const result<std::optional<checkpoint>>& stored)
{
    if (!stored) return {a.partition, a.epoch, stored.error().how, 0};
    return {a.partition, a.epoch, fault_class::none, *stored ? (*stored)->epoch : 0};
}

/// The answer to `process` after what a batch came to.
[[nodiscard]] constexpr processed processed_with(const act::process& a, batch_end e) noexcept
{
    return {a.partition, a.epoch, pass_of(e)};
}

struct lifecycle_options {
    duration poll = duration::seconds(1);  ///< Until the next look where there was nothing to read.
    /// Before what failed is tried again.
    backoff pause{.base = duration::seconds(1),
                  .cap = duration::seconds(60),
                  .spread = jitter::none};
    std::uint32_t save_tries = 3;  ///< 0 reads as 1.

    friend bool operator==(const lifecycle_options&, const lifecycle_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const lifecycle_options& o) noexcept
{
    if (o.poll < duration{}) {
        const auto below = std::uint64_t{0} - static_cast<std::uint64_t>(o.poll.count());
        return config_error{"lifecycle.poll", below, "nanoseconds must be at least", 0, true};
    }
    if (o.save_tries == 0) {
        return config_error{"lifecycle.save_tries", 0, "must be at least", 1};
    }
    return check(o.pause);
}

class partition_lifecycle {
public:
    using action = std::variant<act::open, act::process, act::close, act::save, act::relinquish,
                                act::wait, act::idle>;

    constexpr explicit partition_lifecycle(std::uint32_t partition, const lifecycle_options& o = {})
        : partition_(partition), options_(o)
    {
    }

    [[nodiscard]] constexpr action next(steady_time now) const
    {
        if (step_ != step::idle && now < not_before_) return act::wait{not_before_};
        switch (step_) {
            case step::open: return act::open{partition_, epoch_};
            case step::process: return act::process{partition_, epoch_};
            case step::close: return act::close{partition_, epoch_, false};
            case step::drop: return act::close{partition_, epoch_, true};
            case step::save: return act::save{partition_, epoch_};
            case step::relinquish: return act::relinquish{partition_, epoch_};
            case step::idle: break;
        }
        return act::idle{};
    }

    /// Under a new epoch what was done under an older one is lost first.
    constexpr heard on(const assigned& a, steady_time now)
    {
        if (a.epoch <= epoch_ || a.epoch <= following_) return heard::late;
        if (step_ != step::idle) {
            following_ = a.epoch;
            giving_back_ = false;
            return go(step::drop, now);
        }
        begin(a.epoch, now);
        return heard::taken;
    }

    constexpr heard on(const revoked&, steady_time now)
    {
        if (step_ == step::drop && following_ != 0 && !giving_back_) {
            giving_back_ = true;  // what follows is never opened
            return heard::taken;
        }
        if (step_ != step::open && step_ != step::process) return heard::late;
        return go(step::close, now);
    }

    constexpr heard on(const partition_lost&, steady_time now)
    {
        following_ = 0;
        giving_back_ = false;
        if (step_ == step::idle) return heard::late;
        // Once closed there is nothing to drop.
        const bool closed = step_ == step::save || step_ == step::relinquish;
        return go(closed ? step::idle : step::drop, now);
    }

    constexpr heard on(const woken&, steady_time now)
    {
        if (step_ != step::process || failures_ != 0) return heard::late;
        return go(step::process, now);
    }

    constexpr heard on(const partition_opened& o, steady_time now)
    {
        if (step_ != step::open || o.epoch != epoch_) return heard::late;
        stored_ = o.stored;
        if (o.how != fault_class::none) return again(step::open, now);
        return go(step::process, now);
    }

    constexpr heard on(const processed& p, steady_time now)
    {
        const bool closing = step_ == step::close;  // it was in hand when the partition was revoked
        if ((step_ != step::process && !closing) || p.epoch != epoch_) return heard::late;
        processed_ = true;
        if (closing) return heard::taken;
        switch (p.how) {
            case batch_pass::moved:
            case batch_pass::drained:
                failures_ = 0;
                return go(step::process, p.how == batch_pass::drained ? now + options_.poll : now);
            case batch_pass::again: return again(step::process, now);
            case batch_pass::reopen:
            case batch_pass::lost: break;
        }
        return again(step::open, now);
    }

    constexpr heard on(const partition_closed& c, steady_time now)
    {
        if (c.epoch != epoch_) return heard::late;
        if (step_ == step::close) {
            failures_ = 0;  // those of `process` say nothing about `save`
            return go(processed_ ? step::save : step::relinquish, now);
        }
        if (step_ != step::drop) return heard::late;
        const std::uint64_t next = following_;
        if (next == 0) return go(step::idle, now);
        const bool back = giving_back_;
        begin(next, now);
        return back ? go(step::relinquish, now) : heard::taken;
    }

    constexpr heard on(const partition_saved& s, steady_time now)
    {
        if (step_ != step::save || s.epoch != epoch_) return heard::late;
        if (s.how == fault_class::ownership_lost) return go(step::idle, now);
        ++save_tries_;
        const bool enough = s.how == fault_class::none || save_tries_ >= options_.save_tries;
        return enough ? go(step::relinquish, now) : again(step::save, now);
    }

    constexpr heard on(const relinquished& r, steady_time now)
    {
        if (step_ != step::relinquish || r.epoch != epoch_) return heard::late;
        return go(step::idle, now);
    }

    /// Nothing is open, and nothing is to be given back.
    [[nodiscard]] constexpr bool idle() const noexcept { return step_ == step::idle; }
    /// The epoch that it works under, or worked under last.
    [[nodiscard]] constexpr std::uint64_t epoch() const noexcept { return epoch_; }
    /// Something may have been written under this epoch.
    [[nodiscard]] constexpr bool has_processed() const noexcept { return processed_; }
    /// The epoch of the checkpoint that was loaded last under this one.
    [[nodiscard]] constexpr std::uint64_t stored() const noexcept { return stored_; }
    /// How often in a row it has failed.
    [[nodiscard]] constexpr std::uint32_t failures() const noexcept { return failures_; }

    friend bool operator==(const partition_lifecycle&, const partition_lifecycle&) = default;

private:
    enum class step : std::uint8_t { idle, open, process, close, drop, save, relinquish };

    constexpr void begin(std::uint64_t epoch, steady_time now)
    {
        epoch_ = epoch;
        following_ = 0;
        giving_back_ = false;
        failures_ = 0;
        save_tries_ = 0;
        processed_ = false;
        stored_ = 0;
        (void)go(step::open, now);
    }

    constexpr heard go(step s, steady_time not_before)
    {
        step_ = s;
        not_before_ = not_before;
        return heard::taken;
    }

    constexpr heard again(step s, steady_time now)
    {
        if (failures_ != ~std::uint32_t{0}) ++failures_;
        return go(s, now + pause(options_.pause, failures_, 0.5));
    }

    std::uint32_t partition_;
    lifecycle_options options_;
    step step_ = step::idle;
    std::uint64_t epoch_ = 0;
    std::uint64_t following_ = 0;  // the epoch after what is being dropped, if there is one
    bool giving_back_ = false;     // that one was revoked as well
    std::uint32_t failures_ = 0;
    std::uint32_t save_tries_ = 0;
    bool processed_ = false;
    std::uint64_t stored_ = 0;
    steady_time not_before_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_PARTITION_LIFECYCLE_HPP
