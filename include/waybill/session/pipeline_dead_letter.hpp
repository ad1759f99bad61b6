// SPDX-License-Identifier: MIT
//
// pipeline_dead_letter: the dead letter of a step, with all data to redrive its session.
//
//     auto letter = waybill::make_pipeline_dead_letter(message, a, pipe.reason(),
//                                                      pipe.progress(), wall());
//     table.upsert(letter.properties.session, waybill::row_key::of(letter.sequence), letter);
//
// Guarantees
//   1. There is one dead letter for each (session, sequence). Writing it again replaces it
//      (`pipeline_dead_letter::merged`).
//   2. It contains the properties of the message, the reason, the message that stopped the session
//      and the next step of the session. A redrive begins at that step, even if other dead letters
//      are missing.
//   3. The state of the session is in the dead letter that stopped it and in that of the last step.
//   4. The reason is cut between characters to `reason_bytes`. A body is kept as in
//      consume/dead_letter.hpp: completely, its beginning or nothing, with size and checksum.
//
// ext/json.hpp converts it: `nlohmann::json(letter).dump()` and
// `parse_json<pipeline_dead_letter>(text)`.

#ifndef WAYBILL_SESSION_PIPELINE_DEAD_LETTER_HPP
#define WAYBILL_SESSION_PIPELINE_DEAD_LETTER_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/consume/dead_letter.hpp>
#include <waybill/consume/dead_letter_options.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/session/pipeline_policy.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>
#include <waybill/session/step_order.hpp>
#include <waybill/session/step_properties.hpp>

namespace waybill::inline v0_2 {

struct pipeline_dead_letter {
    /// The message to dead-letter.
    struct message {
        step_properties properties{};
        step_properties::origin origin{};
        std::uint64_t sequence = 0;
        std::string_view message_id{};
        std::string_view body{};
        wall_time enqueued{};
        std::string_view state{};  ///< The stored state of its session.

        friend bool operator==(const message&, const message&) = default;
    };

    struct policy {
        /// The mode of the pipeline. Used only for dead letters of the broker: those of a pipeline
        /// take it from `write_dead_letter::independent`.
        pipeline_policy::pipeline_mode mode = pipeline_policy::pipeline_mode::stop_on_failure;
        dead_letter_options dead_letters{};  ///< `reason_bytes` limits `text`.
        /// Maximum bytes of `state`; a larger state is omitted. A redrive sends the state in a
        /// message property. Some brokers limit the properties to 64 KiB, and Azure tables limit a
        /// text to half of that.
        std::uint64_t state_bytes = 32'768;

        friend bool operator==(const policy&, const policy&) = default;
    };

    /// As received; step 0 if the message had no readable properties.
    step_properties properties{};
    step_properties::origin origin{};  ///< The origin of the message if it was redriven.
    std::uint64_t sequence = 0;        ///< The broker's sequence number of the message.
    std::string message_id{};
    dead_letter_reason reason = dead_letter_reason::failed;
    /// The sequence number of the message that stopped the session; 0 if there is none.
    std::uint64_t cause = 0;
    /// The step with which a redrive resumes the session: the step after the last one that is done.
    /// 0 if it was unknown when the dead letter was written.
    std::uint64_t resume_at = 0;
    /// True if the steps of the session are independent (`pipeline_mode::independent`): the session
    /// has continued without this step. A redrive sends this dead letter without the others.
    bool independent = false;
    /// The last step that a redrive has sent, if it has sent this dead letter; otherwise 0. It has
    /// sent all dead letters of the session up to that step.
    std::uint64_t last_redriven_step = 0;
    std::string text{};            ///< The reason, at most `reason_bytes`, cut between characters.
    std::uint64_t tries = 0;       ///< The number of tries in this session.
    wall_time enqueued{};          ///< The enqueued time of the message.
    wall_time dead_lettered_at{};  ///< The time at which the dead letter was created.
    dead_letter_body kept = dead_letter_body::body;  ///< The part of the body in `body`.
    std::string body{};
    std::uint64_t size = 0;      ///< Bytes of the complete body.
    std::uint32_t checksum = 0;  ///< CRC-32C of the complete body.
    /// The state with which the session stopped; a redriven session begins with it. Only in the
    /// dead letter that stopped the session and in that of the last step.
    std::string state{};
    bool state_omitted = false;  ///< The state was larger than `state_bytes` and was omitted.

    /// The dead letter to write if one with the same session and sequence is stored. If both are of
    /// different messages, the result is `written`. If the message is the same:
    ///   1. If `written` is from the broker, the stored one is kept, because that of a pipeline has
    ///      more facts. The broker may dead-letter a message that a pipeline has dead-lettered but
    ///      could not complete.
    ///   2. The higher `resume_at` counts, and a missing state is taken from the other one.
    ///   3. `last_redriven_step` of the stored one is kept, and its `total` if a redrive has set
    ///      `last_redriven_step`.
    ///
    /// If the table can only upsert, do not change `last_redriven_step` of an existing row, and
    /// only insert the dead letters of the broker.
    [[nodiscard]] static pipeline_dead_letter merged(const pipeline_dead_letter& stored,
                                                     pipeline_dead_letter written)
    {
        const bool same_message = stored.message_id == written.message_id &&
                                  stored.enqueued == written.enqueued &&
                                  stored.checksum == written.checksum;
        if (!same_message) return written;
        const std::uint64_t resume_at = detail::greater(stored.resume_at, written.resume_at);
        const auto take_state = [](pipeline_dead_letter& to, const pipeline_dead_letter& from) {
            if (!to.state.empty() || to.state_omitted) return;
            to.state = from.state;
            to.state_omitted = from.state_omitted;
        };
        if (written.reason == dead_letter_reason::broker) {
            pipeline_dead_letter kept = stored;
            if (written.resume_at >= stored.resume_at) take_state(kept, written);
            written = std::move(kept);
        }
        take_state(written, stored);
        written.resume_at = resume_at;
        written.last_redriven_step = stored.last_redriven_step;
        if (stored.last_redriven_step != 0) written.properties.total = stored.properties.total;
        return written;
    }

    /// The dead letter to write if a redrive marks a stored one. If none is stored, write none. If
    /// two redrives run at the same time, the mark of the one that has sent more is kept.
    [[nodiscard]] static pipeline_dead_letter with_mark(pipeline_dead_letter stored,
                                                        const pipeline_dead_letter& marked)
    {
        if (marked.last_redriven_step < stored.last_redriven_step) return stored;
        stored.last_redriven_step = marked.last_redriven_step;
        stored.resume_at = marked.resume_at;
        stored.properties.total = marked.properties.total;
        return stored;
    }

    /// True if the step stopped its session, failed alone, or the cause is unknown.
    [[nodiscard]] bool is_cause() const noexcept
    {
        return reason != dead_letter_reason::session_failed;
    }

    friend bool operator==(const pipeline_dead_letter&, const pipeline_dead_letter&) = default;
};

/// Refuses `dead_letter_body::discard`: without its dead letter, a session could never continue.
[[nodiscard]] constexpr std::optional<config_error> validate(
    const pipeline_dead_letter::policy& p) noexcept
{
    const dead_letter_body keeps = p.dead_letters.keeps;
    if (keeps != dead_letter_body::discard) return {};
    return config_error{"dead_letters.keeps", static_cast<std::uint64_t>(keeps),
                        "must not be discard, because the session needs its dead letters; the "
                        "maximum is summary",
                        static_cast<std::uint64_t>(dead_letter_body::summary)};
}

namespace detail {

/// Adds the state to the dead letter that stopped the session and to that of the last step. An
/// independent step does not get the state, because its session continues with it. Neither does a
/// dead letter without `resume_at`.
inline void keep_state(pipeline_dead_letter& l, const session_progress& p, std::string_view state,
                       std::uint64_t max_bytes)
{
    constexpr std::uint64_t deliveries = 0;  // not used by is_last
    const bool keeps_state =
        l.is_cause() || is_last(step_facts::of(l.properties, l.sequence, deliveries), p);
    if (l.independent || !keeps_state || l.resume_at == 0) return;
    l.state_omitted = state.size() > max_bytes;
    if (!l.state_omitted) l.state = std::string(state);
}

}  // namespace detail

/// The dead letter of a message that a pipeline dead-letters. `reason` and `progress` are those of
/// the pipeline. `text` is cut to `reason_bytes`.
[[nodiscard]] inline pipeline_dead_letter make_pipeline_dead_letter(
    const pipeline_dead_letter::message& m, const pipeline_types::write_dead_letter& a,
    std::string_view reason, const session_progress& progress, wall_time now,
    const pipeline_dead_letter::policy& p = {})
{
    dead_letter_options options = p.dead_letters;
    if (a.without_body || options.keeps == dead_letter_body::discard)
        options.keeps = dead_letter_body::pointer;
    dead_letter kept;
    detail::keep(kept, m.body, options);

    pipeline_dead_letter l;
    l.properties = m.properties;
    l.origin = m.origin;
    l.sequence = m.sequence;
    l.message_id = std::string(m.message_id);
    l.reason = a.reason;
    l.cause = a.cause;
    const bool progress_known =
        a.reason != dead_letter_reason::unreadable && a.reason != dead_letter_reason::broker;
    if (progress_known) l.resume_at = detail::resume_step(l.properties, l.is_cause(), progress);
    l.independent = a.independent;
    l.text = detail::text_prefix(reason, options.reason_bytes);
    l.tries = a.tries;
    l.enqueued = m.enqueued;
    l.dead_lettered_at = now;
    l.kept = kept.kept;
    l.body = std::move(kept.body);
    l.size = kept.size;
    l.checksum = kept.checksum;
    // A dead letter without body must be small. Only the one that stopped its session reports that
    // its state was omitted.
    if (!a.without_body || l.is_cause()) {
        detail::keep_state(l, progress, m.state, a.without_body ? 0 : p.state_bytes);
    }
    return l;
}

/// The dead letter of a message that the broker dead-lettered, with the broker's reason. The
/// outcome of the step is unknown: it may have run. If the state can be read, pass its progress.
/// Without it, the next step of the session is known only from other dead letters.
[[nodiscard]] inline pipeline_dead_letter make_broker_dead_letter(
    const pipeline_dead_letter::message& m, std::string_view reason, std::uint64_t deliveries,
    const session_progress* progress, wall_time now, const pipeline_dead_letter::policy& p = {})
{
    const bool independent = p.mode == pipeline_policy::pipeline_mode::independent;
    const pipeline_types::write_dead_letter a{
        .reason = dead_letter_reason::broker, .tries = deliveries, .independent = independent};
    pipeline_dead_letter l = make_pipeline_dead_letter(m, a, reason, session_progress{}, now, p);
    if (progress != nullptr) {
        l.resume_at = detail::resume_step(l.properties, l.is_cause(), *progress);
        detail::keep_state(l, *progress, m.state, p.state_bytes);
    }
    return l;
}

/// One line for a log: "order-17, step 3 of 5 (17): failed: no template".
template <std::same_as<pipeline_dead_letter> T>
[[nodiscard]] std::string describe(const T& l)
{
    std::string line = l.properties.session + ", step " + std::to_string(l.properties.step);
    if (l.properties.total != 0) line += " of " + std::to_string(l.properties.total);
    line += " (" + std::to_string(l.sequence) + "): ";
    line += name(l.reason);
    if (l.cause != 0 && l.cause != l.sequence) line += " by " + std::to_string(l.cause);
    if (!l.text.empty()) line += ": " + l.text;
    return line;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PIPELINE_DEAD_LETTER_HPP
