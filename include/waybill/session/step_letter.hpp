// SPDX-License-Identifier: MIT
//
// step_letter: a step that is parked, with all that brings its session back.
//
//     auto letter = waybill::make_step_letter(message, a, pipe.why(), pipe.progress(), wall());
//     table.upsert(letter.stamp.session, waybill::row_key(letter.sequence), letter);
//
// There is one for each (session, sequence): written again, it replaces itself (merged_letter). It
// says what came with the message, why it is parked, which message stopped its session, and at
// which step that session stands, so that a redrive begins there whatever rows are left by then.
//
// The letter that stopped its session has its state as well, for handlers that need in step 4 what
// step 2 has found. So has that of the last step, which clears the state: who dies before he has
// written the first one, in the last delivery that the broker allows, leaves no other.
//
// ext/json.hpp makes a text of it, and reads it: `nlohmann::json(letter).dump()`, and
// `parse_json<step_letter>(text)`.
//
// A text is cut between characters to `reason_bytes`; a body is kept as consume/letter.hpp does it,
// whole, by its beginning or not at all, with its size and checksum in any case. That nothing at
// all remains of a step is refused by `check`: its session could never go on.

#ifndef WAYBILL_SESSION_STEP_LETTER_HPP
#define WAYBILL_SESSION_STEP_LETTER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/letter.hpp>
#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/stamp_properties.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_order.hpp>

namespace waybill::inline v0_2 {

struct step_letter {
    step_stamp stamp{};            ///< As it came; step 0 where it came without one.
    step_origin origin{};          ///< Where it was before, if it has been redriven.
    std::uint64_t sequence = 0;    ///< The broker's number of the message.
    std::string message_id{};
    park_reason reason = park_reason::failed;
    std::uint64_t cause = 0;       ///< The number of the message that stopped the session, or 0.
    /// The step after the last one that is done: where the session stands, and a redrive begins. 0
    /// where whoever wrote the letter could not know.
    std::uint64_t resume_at = 0;
    bool alone = false;            ///< Its session went on without it.
    /// A redrive has sent all letters of its session up to this step, this one included; 0: none
    /// has.
    std::uint64_t sent_to = 0;
    std::string text{};            ///< Why, bounded, cut between characters.
    std::uint64_t tries = 0;       ///< In this session.
    wall_time enqueued{};
    wall_time parked{};
    letter_keeps kept = letter_keeps::body;  ///< How much of the message's bytes `body` is.
    std::string body{};
    std::uint64_t size = 0;                  ///< Of all of the message's bytes.
    std::uint32_t checksum = 0;              ///< CRC-32C of all of them.
    /// The state that its session stopped with, in the letter that stopped it and in that of the
    /// last step; a redriven session begins with it.
    std::string state{};
    bool state_cut = false;  ///< It was larger than `state_bytes`, and is not here.

    friend bool operator==(const step_letter&, const step_letter&) = default;
};

/// It is the one that stopped its session, or failed alone, or nobody knows which one did.
[[nodiscard]] inline bool is_cause(const step_letter& l) noexcept
{
    return l.reason != park_reason::session_failed;
}

/// What came with the message that is parked.
struct step_message {
    step_stamp stamp{};
    step_origin origin{};
    std::uint64_t sequence = 0;
    std::string_view message_id{};
    std::string_view body{};
    wall_time enqueued{};
    std::string_view state{};  ///< Of its session, the bytes that are stored.

    friend bool operator==(const step_message&, const step_message&) = default;
};

struct step_letter_policy {
    /// Of the pipeline, for the letters of the broker: those of a pipeline say it by themselves.
    pipeline_mode mode = pipeline_mode::stop_on_failure;
    std::size_t reason_bytes = 1'024;
    letter_keeps keeps = letter_keeps::body;
    std::uint64_t body_bytes = highest_size;  ///< A larger body is summed up.
    std::uint64_t summary_bytes = 256;
    /// A larger state is left out. It travels among the properties of a message, which some brokers
    /// hold to 64 KiB, and Azure's tables a text to half of that.
    std::uint64_t state_bytes = 32'768;

    friend bool operator==(const step_letter_policy&, const step_letter_policy&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const step_letter_policy& p) noexcept
{
    if (p.keeps != letter_keeps::nothing) return {};
    return config_error{"keeps", static_cast<std::uint64_t>(p.keeps),
                        "must not be nothing, or the session never goes on; at most",
                        static_cast<std::uint64_t>(letter_keeps::summary)};
}

namespace detail {

/// Behind what is done. A session that has done nothing stands at its first step, as the message says
/// that stopped it; what others say of themselves is not asked.
[[nodiscard]] inline std::uint64_t stands_at(const step_letter& l, const session_progress& p) noexcept
{
    if (p.done != 0) return saturating_add(p.done, 1);
    return is_cause(l) && l.stamp.first <= l.stamp.step ? l.stamp.first : 0;
}

/// In the letter that stopped its session, and in that of the message behind which it is cleared.
/// Who goes on alone leaves the state to those that did not stop.
inline void keep_state(step_letter& l, const session_progress& p, std::string_view state,
                       std::uint64_t most)
{
    const bool kept = is_cause(l) || is_last(facts_of(l.stamp, l.sequence, 0), p);
    if (l.alone || !kept || l.resume_at == 0) return;
    l.state_cut = state.size() > most;
    if (!l.state_cut) l.state = std::string(state);
}

}  // namespace detail

/// The letter of a message that a pipeline parks; `progress` is the pipeline's.
[[nodiscard]] inline step_letter make_step_letter(const step_message& m, const act::park& a,
                                                  std::string_view why,
                                                  const session_progress& progress, wall_time now,
                                                  const step_letter_policy& p = {})
{
    batch_policy keeping;
    keeping.keeps = a.bare || p.keeps == letter_keeps::nothing ? letter_keeps::pointer : p.keeps;
    keeping.body_bytes = p.body_bytes;
    keeping.summary_bytes = p.summary_bytes;
    dead_letter kept;
    detail::keep(kept, m.body, keeping);

    step_letter l;
    l.stamp = m.stamp;
    l.origin = m.origin;
    l.sequence = m.sequence;
    l.message_id = std::string(m.message_id);
    l.reason = a.reason;
    l.cause = a.cause;
    const bool known = a.reason != park_reason::unreadable && a.reason != park_reason::broker;
    if (known) l.resume_at = detail::stands_at(l, progress);
    l.alone = a.alone;
    l.text = detail::beginning(why, p.reason_bytes);
    l.tries = a.tries;
    l.enqueued = m.enqueued;
    l.parked = now;
    l.kept = kept.kept;
    l.body = std::move(kept.body);
    l.size = kept.size;
    l.checksum = kept.checksum;
    // Where it must be small, only the one that stopped its session says that it has no state.
    if (!a.bare || is_cause(l)) {
        detail::keep_state(l, progress, m.state, a.bare ? 0 : p.state_bytes);
    }
    return l;
}

/// The letter of a message that the broker has parked itself, in its own words. Nobody knows what
/// became of the step: it may have run. Who can read the state of its session hands its progress
/// over. Without it nobody knows where the session stands, unless other letters say so.
[[nodiscard]] inline step_letter make_broker_letter(const step_message& m, std::string_view why,
                                                    std::uint64_t deliveries,
                                                    const session_progress* progress, wall_time now,
                                                    const step_letter_policy& p = {})
{
    const bool alone = p.mode == pipeline_mode::independent;
    const act::park a{park_reason::broker, 0, 0, deliveries, false, alone};
    step_letter l = make_step_letter(m, a, why, {}, now, p);
    if (progress != nullptr) {
        l.resume_at = detail::stands_at(l, *progress);
        detail::keep_state(l, *progress, m.state, p.state_bytes);
    }
    return l;
}

/// What to write where a letter of the same session and sequence is there already. Of the same
/// message a pipeline knows more than the broker, which may also park what was parked here and
/// could not be completed; and how far a redrive has sent its session is not forgotten. So who only
/// upserts leaves `sent_to` alone where there is a row, and drained letters only insert.
[[nodiscard]] inline step_letter merged_letter(const step_letter& stored, step_letter written)
{
    const bool same = stored.message_id == written.message_id &&
                      stored.enqueued == written.enqueued && stored.checksum == written.checksum;
    if (!same) return written;
    const std::uint64_t resume_at = greater(stored.resume_at, written.resume_at);
    const auto take_state = [](step_letter& to, const step_letter& from) {
        if (!to.state.empty() || to.state_cut) return;
        to.state = from.state;
        to.state_cut = from.state_cut;
    };
    if (written.reason == park_reason::broker) {
        step_letter kept = stored;
        if (written.resume_at >= stored.resume_at) take_state(kept, written);
        written = std::move(kept);
    }
    take_state(written, stored);
    written.resume_at = resume_at;
    written.sent_to = stored.sent_to;
    if (stored.sent_to != 0) written.stamp.total = stored.stamp.total;
    return written;
}

/// What to write where a redrive marks a letter that is there; one that is not there is not written.
/// Of two who redrive at once the one that has sent less takes nothing back.
[[nodiscard]] inline step_letter merged_mark(step_letter stored, const step_letter& marked)
{
    if (marked.sent_to < stored.sent_to) return stored;
    stored.sent_to = marked.sent_to;
    stored.resume_at = marked.resume_at;
    stored.stamp.total = marked.stamp.total;
    return stored;
}

/// One line for a log: "order-17, step 3 of 5 (17): failed: no template".
[[nodiscard]] inline std::string text(const step_letter& l)
{
    std::string line = l.stamp.session + ", step " + std::to_string(l.stamp.step);
    if (l.stamp.total != 0) line += " of " + std::to_string(l.stamp.total);
    line += " (" + std::to_string(l.sequence) + "): ";
    line += name(l.reason);
    if (l.cause != 0 && l.cause != l.sequence) line += " by " + std::to_string(l.cause);
    if (!l.text.empty()) line += ": " + l.text;
    return line;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_STEP_LETTER_HPP
