// SPDX-License-Identifier: MIT
//
// session_state: what a session remembers, in the hands of whoever holds it.
//
//     waybill::held_state held(store, m.session);        // or what the broker keeps itself
//     waybill::session_state order(codec, held);
//     process_step(pipe, facts, now,
//         [&](act::load_state)   { return order.load(m.origin.state); },
//         [&](act::execute)      { return order.attempt([&](auto& o) { return run(m, o); }); },
//         [&](act::save_state a) { return order.save(a, pipe.progress()); },
//         [&](act::park a)       { return letters.upsert(letter_of(m, a, order.bytes())); },
//         [&](act::clear_state)  { return order.clear(); },
//         ...
//
// Each try begins with the value as it is stored, and what it makes of it counts once it has gone
// well and is stored. So nothing remains of a step that failed, however often it was tried, and
// nothing of a step that is undone since its state was never taken.
//
// A codec is `state_codec<T>` of ext/json_session.hpp, where a value is your own type, or
// `text_state_codec`, where it is bytes. A place is a `held_state`, or any type that can
//
//     place.load()         result<std::optional<std::string>>; empty where there is no state
//     place.save(bytes)    fault
//     place.clear()        fault
//
// Both are referred to.

#ifndef WAYBILL_SESSION_SESSION_STATE_HPP
#define WAYBILL_SESSION_SESSION_STATE_HPP

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/process_step.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_text.hpp>

namespace waybill::inline v0_1 {

/// A text state in hand: what `text_state_codec` reads and writes.
struct decoded_text {
    state_read how = state_read::absent;
    std::string value{};  ///< The user's bytes.
    session_progress progress{};
    text_state_read read{};  ///< As it was read; its bytes are in `value`.

    void stored(std::string_view) noexcept { how = state_read::ok; }

    friend bool operator==(const decoded_text&, const decoded_text&) = default;
};

[[nodiscard]] inline std::string text(const decoded_text& s) { return text(s.read); }

/// The codec of state_text.hpp, in the form of those of JSON.
class text_state_codec {
public:
    using value_type = std::string;
    using state = decoded_text;

    explicit text_state_codec(text_state_options o = {}) : options_(o) {}

    [[nodiscard]] state decode(std::optional<std::string_view> bytes,
                               std::string_view came = {}) const
    {
        state s;
        s.read = read_text_state(bytes, options_, came);
        s.how = s.read.how;
        s.value = std::exchange(s.read.state.own, {});
        s.progress = s.read.state.progress;
        return s;
    }
    [[nodiscard]] result<std::string, state_too_large> encode(const state& s) const
    {
        text_state t = s.read.state;
        t.own = s.value;
        t.progress = s.progress;
        return write_text_state(t, options_);
    }

private:
    text_state_options options_;
};

template <class Codec, class Place>
class session_state {
public:
    using value_type = typename Codec::value_type;
    using state = typename Codec::state;

    session_state(const Codec& codec, Place& place) : codec_(&codec), place_(&place) {}

    /// Reads it. A redriven session that has no state yet begins with the one that came with its
    /// first message, `step_origin::state`.
    [[nodiscard]] state_loaded load(std::string_view came = {})
    {
        state_loaded answer;
        tried_.reset();
        auto bytes = place_->load();
        if (!bytes) {
            answer.how = bytes.error().how;
            if (answer.how == fault_class::none) answer.how = fault_class::infrastructure;
            return answer;
        }
        state_ = codec_->decode(*bytes, came);
        bytes_ = std::move(*bytes).value_or(std::string());
        answer.found = state_.how;
        answer.progress = state_.progress;
        return answer;
    }

    /// Answers what `step(value)` does, a fault, a result<void> or `executed`, of a copy of the
    /// value as it is stored. The copy is what is saved next, if all went well.
    template <class F>
    [[nodiscard]] auto attempt(F&& step)
    {
        tried_.reset();
        value_type next = state_.value;
        auto answer = step(next);
        if (went_well(answer)) tried_ = std::move(next);
        return answer;
    }

    /// Writes value and progress. `permanent` where there is no way to write them, say for their
    /// size; then, and where it is not sure, the state in hand is as it was.
    [[nodiscard]] fault save(const act::save_state& a, const session_progress& progress)
    {
        if (a.undone) tried_.reset();
        if (tried_) std::swap(state_.value, *tried_);
        state_.progress = progress;
        auto bytes = codec_->encode(state_);
        const fault f = bytes ? place_->save(*bytes) : permanent(text(bytes.error()));
        if (!f.ok()) {
            if (tried_) std::swap(state_.value, *tried_);
            return f;
        }
        tried_.reset();
        state_.stored(*bytes);
        bytes_ = *std::move(bytes);
        return f;
    }

    /// Removes it. What comes then under the same id is a new session.
    [[nodiscard]] fault clear()
    {
        fault f = place_->clear();
        if (!f.ok()) return f;
        tried_.reset();
        bytes_.clear();
        state_ = codec_->decode(std::nullopt);
        return f;
    }

    /// The value as it is stored; that of a new session where there is none.
    [[nodiscard]] const value_type& value() const noexcept { return state_.value; }
    /// The state as it is stored, for the letter of a step that stops its session.
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
    /// What was read, and how; for a log.
    [[nodiscard]] const state& read() const noexcept { return state_; }

private:
    static bool went_well(const fault& f) noexcept { return f.ok(); }
    static bool went_well(const result<void>& r) noexcept { return r.has_value(); }
    static bool went_well(const executed& e) noexcept { return e.why.ok(); }

    const Codec* codec_;
    Place* place_;
    state state_{};
    std::string bytes_{};
    std::optional<value_type> tried_{};
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_SESSION_SESSION_STATE_HPP
