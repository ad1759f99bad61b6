// SPDX-License-Identifier: MIT
//
// batch_policy: what a delivery of a batch may do, and the ways in which it can end.
//
// There are no pauses between the tries of an event. They would hold the transaction open, and with
// it locks that others wait for, in some databases the only one there is. `tries` is for what goes
// away at once; what takes longer is `redeliver`: roll back, pause, deliver the batch again.

#ifndef WAYBILL_CONSUME_BATCH_POLICY_HPP
#define WAYBILL_CONSUME_BATCH_POLICY_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2 {

/// What to do with an event that is still transient after its last try.
enum class when_exhausted : std::uint8_t {
    redeliver,    ///< Roll back; the whole batch comes again.
    dead_letter,  ///< Park it and go on.
};

[[nodiscard]] constexpr std::string_view name(when_exhausted w) noexcept
{
    switch (w) {
        case when_exhausted::redeliver: return "redeliver";
        case when_exhausted::dead_letter: return "dead_letter";
    }
    return "?";
}

/// Which answers to a commit are held against what is stored.
enum class when_read_back : std::uint8_t {
    /// Commits whose outcome is unknown. A store that confirms a commit without writing it is
    /// detected only at the next advance, which finds the old checkpoint (`abandoned`). Until then
    /// the report has `committed`, and effects that rely on it cannot be undone. If the process
    /// ends before the next advance, the events come again and nothing is reported.
    unknown,
    /// All commits. A commit that was not written is detected in the same delivery (`redeliver`),
    /// for one more read each time.
    always,
};

[[nodiscard]] constexpr std::string_view name(when_read_back w) noexcept
{
    switch (w) {
        case when_read_back::unknown: return "unknown";
        case when_read_back::always: return "always";
    }
    return "?";
}

/// What a dead letter keeps of its event's body. Size and checksum are there in all of them.
enum class letter_keeps : std::uint8_t {
    body,     ///< All of it; a summary if it has more than `body_bytes`.
    pointer,  ///< None of it: where the event stands in its log has to do.
    summary,  ///< Its first `summary_bytes`, cut between characters.
    /// There is no dead letter. The report counts the event and names its position and reason, up to
    /// `max_dropped_events`. The caller logs them, or they are lost.
    nothing,
};

[[nodiscard]] constexpr std::string_view name(letter_keeps k) noexcept
{
    switch (k) {
        case letter_keeps::body: return "body";
        case letter_keeps::pointer: return "pointer";
        case letter_keeps::summary: return "summary";
        case letter_keeps::nothing: return "nothing";
    }
    return "?";
}

/// The answer to whether a batch in which every event failed may become dead letters.
enum class if_all_failed : std::uint8_t {
    go_on,      ///< The events are to blame.
    redeliver,  ///< What they need is down. Roll back; the whole batch comes again.
};

[[nodiscard]] constexpr std::string_view name(if_all_failed i) noexcept
{
    switch (i) {
        case if_all_failed::go_on: return "go_on";
        case if_all_failed::redeliver: return "redeliver";
    }
    return "?";
}

struct batch_policy {
    std::uint32_t tries = 3;  ///< Of one event within one delivery; 0 reads as 1.
    when_exhausted on_exhausted = when_exhausted::redeliver;
    bool savepoints = true;            ///< process_batch sets it to what the store can do.
    std::size_t reason_bytes = 1'024;  ///< Most bytes of a dead letter's reason.
    letter_keeps keeps = letter_keeps::body;
    std::uint64_t body_bytes = highest_size;  ///< A larger body is summed up.
    std::uint64_t summary_bytes = 256;
    /// With so many failures, and not one event that took effect, somebody is asked before they
    /// become dead letters. `highest_size`: nobody ever is.
    std::uint64_t ask_from = 2;
    when_read_back read_back = when_read_back::unknown;
    bool attempts = true;  ///< process_batch sets it to what store and assignment can do.
    /// So many deaths in a row begin the search for one event, and so many of it alone end it; 0
    /// reads as 1.
    std::uint32_t deaths = 3;

    friend bool operator==(const batch_policy&, const batch_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const batch_policy& p) noexcept
{
    if (p.tries == 0) return config_error{"tries", 0, "must be at least", 1};
    if (p.ask_from == 0) return config_error{"ask_from", 0, "must be at least", 1};
    if (p.deaths == 0) return config_error{"deaths", 0, "must be at least", 1};
    return {};
}

namespace detail {

/// What a machine goes by of a policy. It is copied once a batch, so it is kept small.
struct batch_rules {
    explicit constexpr batch_rules(const batch_policy& p, bool counts_deaths) noexcept
        : ask_from(p.ask_from), tries(p.tries == 0 ? 1 : p.tries), deaths(p.deaths),
          on_exhausted(p.on_exhausted), savepoints(p.savepoints),
          keeps_letters(p.keeps != letter_keeps::nothing),
          always_reads(p.read_back == when_read_back::always),
          attempts(p.attempts && counts_deaths)
    {
    }

    std::uint64_t ask_from;
    std::uint32_t tries;
    std::uint32_t deaths;
    when_exhausted on_exhausted;
    bool savepoints;
    bool keeps_letters;
    bool always_reads;
    bool attempts;

    friend bool operator==(const batch_rules&, const batch_rules&) = default;
};

}  // namespace detail

/// How a delivery of a batch ended. `rest` is what follows `reached`: after process_at_least_once,
/// which commits in several steps, it can be a part of the batch, and has perhaps been handled. After
/// process_batch it is all of it, and nothing of it is there.
enum class batch_end : std::uint8_t {
    committed,  ///< All up to `reached` is done, or parked, and the checkpoint says so.
    redeliver,  ///< Deliver the rest again, after a pause.
    /// Somebody else has the partition: stop reading it. The rest is his, unless the answer to the
    /// last commit got lost and he went on from it before it was read back.
    abandoned,
    cancelled,  ///< The caller wanted to stop. The rest comes again.
    unknown,    ///< Nobody can say where it stands. Load the checkpoint before anything else.
    empty,      ///< There was nothing to do.
    invalid,    ///< The events contradict the contract. Nothing was touched.
};

[[nodiscard]] constexpr std::string_view name(batch_end e) noexcept
{
    switch (e) {
        case batch_end::committed: return "committed";
        case batch_end::redeliver: return "redeliver";
        case batch_end::abandoned: return "abandoned";
        case batch_end::cancelled: return "cancelled";
        case batch_end::unknown: return "unknown";
        case batch_end::empty: return "empty";
        case batch_end::invalid: return "invalid";
    }
    return "?";
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_BATCH_POLICY_HPP
