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
// nothing of a step that is undone since its state was never taken. And nothing of one that comes
// late among independent ones: its pipeline has counted it already, and does not save (`mode`).
//
// A codec is `state_codec<T>` of ext/json_session.hpp, where a value is your own type, or
// `text_state_codec`, where it is bytes. A place is a `held_state`, or any type that can
//
//     place.load()         result<std::optional<std::string>>; nullopt where there is no state, and
//                          never an empty text, which is a state that has lost its bytes
//     place.save(bytes)    fault
//     place.clear()        fault
//
// Both are referred to.

#ifndef WAYBILL_SESSION_SESSION_STATE_HPP
#define WAYBILL_SESSION_SESSION_STATE_HPP

#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_text.hpp>

namespace waybill::inline v0_2 {

/// A text state in hand: what `text_state_codec` reads and writes.
struct decoded_text {
    state_read how = state_read::absent;
    std::string value{};  ///< The user's bytes.
    session_progress progress{};
    text_state_read read{};  ///< As it was read; its bytes are in `value`.

    /// These bytes are what is stored from now on.
    void stored(std::string_view bytes)
    {
        how = read.how = state_read::ok;
        read.envelope = detail::sealed_just_now(bytes);
        read.state.version = read.envelope.version;
    }

    friend bool operator==(const decoded_text&, const decoded_text&) = default;
};

[[nodiscard]] inline std::string text(const decoded_text& s) { return text(s.read); }

/// Makes the user's bytes of an older major version into those of ours; nothing where it cannot.
using text_upgrade = std::optional<std::string> (*)(std::string_view own, schema_version from);

/// The codec of state_text.hpp, in the form of those of JSON. What is of an older major version and
/// is not upgraded is `corrupt`; where its session has failed, its bytes stay as they are.
class text_state_codec {
public:
    using value_type = std::string;
    using state = decoded_text;

    explicit text_state_codec(text_state_options o = {}, text_upgrade older = nullptr)
        : options_(o), upgrade_(older)
    {
    }

    [[nodiscard]] state decode(std::optional<std::string_view> bytes,
                               std::string_view came = {}) const
    {
        state s;
        s.read = read_text_state(bytes, options_, came);
        if (is_older(s.read)) upgrade(s.read);
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
        text_state_options o = options_;
        if (is_older(s.read)) o.version = s.read.state.version;
        return write_text_state(t, o);
    }

    friend bool operator==(const text_state_codec&, const text_state_codec&) = default;

private:
    [[nodiscard]] bool is_older(const text_state_read& r) const noexcept
    {
        return r.how <= state_read::ok && r.state.version.major < options_.version.major;
    }

    void upgrade(text_state_read& r) const
    {
        text_state& s = r.state;
        std::optional<std::string> own;
        if (upgrade_ != nullptr) own = upgrade_(s.own, s.version);
        if (own) {
            s.own = *std::move(own);
            s.version = options_.version;
            return;
        }
        r.problem = text_state_problem::upgrade_failed;
        r.most = options_.version.major;
        if (s.progress.failed) return;
        r.how = state_read::corrupt;
        r.envelope.version = std::exchange(s, {}).version;
    }

    text_state_options options_;
    text_upgrade upgrade_;
};

/// Where the state of one session is kept.
template <class P>
concept state_place = requires(P& place, const std::string& bytes) {
    { place.load() } -> std::same_as<result<std::optional<std::string>>>;
    { place.save(bytes) } -> std::convertible_to<fault>;
    { place.clear() } -> std::convertible_to<fault>;
};

template <class Codec, class Place>
class session_state {
    static_assert(state_place<Place>,
                  "session_state: a place has load() -> result<std::optional<std::string>>, "
                  "save(bytes) -> fault and clear() -> fault");

public:
    using value_type = typename Codec::value_type;
    using state = typename Codec::state;

    session_state(const Codec& codec, Place& place) : codec_(&codec), place_(&place) {}
    session_state(const Codec&& codec, Place& place) = delete;  // it is referred to

    /// Reads it. A redriven session that has no state yet begins with the one that came with its
    /// first message: `came` is `step_origin::state`. Where nobody could look, all is as it was.
    [[nodiscard]] state_loaded load(std::string_view came)
    {
        state_loaded answer;
        auto bytes = place_->load();
        if (!bytes) {
            answer.how = bytes.error().how;
            if (answer.how == fault_class::none) answer.how = fault_class::infrastructure;
            answer.why = std::move(bytes.error().text);
            return answer;
        }
        tried_.reset();
        state_ = codec_->decode(*bytes, came);
        bytes_ = std::move(*bytes).value_or(std::string());
        answer.found = state_.how;
        answer.progress = state_.progress;
        if (state_.how > state_read::ok) answer.why = text(state_);
        return answer;
    }

    /// Answers what `step(value)` does, a fault, a result<void> or `executed`, of a copy of the
    /// value as it is stored. The copy is what is saved next, if all went well.
    template <class F>
    [[nodiscard]] auto attempt(F&& step)
    {
        using answer_type = std::remove_cvref_t<std::invoke_result_t<F&, value_type&>>;
        static_assert(std::same_as<answer_type, fault> || std::same_as<answer_type, result<void>> ||
                          std::same_as<answer_type, executed>,
                      "attempt: a step answers a fault, a result<void> or executed");
        tried_.reset();
        value_type next = state_.value;
        auto answer = step(next);
        if (went_well(answer)) tried_ = std::move(next);
        return answer;
    }

    /// Writes value and progress. `permanent` where there is no way to write them, say for their
    /// size, and where what is stored was not read. Unless it is written for sure, the state in hand
    /// is as it was, and so it is where a call throws: then the same call can be made again.
    [[nodiscard]] fault save(const act::save_state& a, const session_progress& progress)
    {
        if (state_.how > state_read::ok) return permanent("not written over: " + text(state_));
        if (a.undone) tried_.reset();
        outcome next(state_, tried_, progress);
        auto bytes = codec_->encode(state_);
        if (!bytes) return permanent(text(bytes.error()));
        fault f = place_->save(*bytes);
        if (!f.ok()) return f;
        next.stays();
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

    /// What is to be stored, in the place of what is, for as long as it takes.
    class outcome {
    public:
        outcome(state& s, std::optional<value_type>& tried, const session_progress& p)
            : state_(s), tried_(tried), progress_(p)
        {
            exchange();
        }
        ~outcome()
        {
            if (!stays_) exchange();
        }
        outcome(const outcome&) = delete;
        outcome& operator=(const outcome&) = delete;

        void stays() noexcept { stays_ = true; }

    private:
        void exchange()
        {
            if (tried_) std::swap(state_.value, *tried_);
            std::swap(state_.progress, progress_);
        }

        state& state_;
        std::optional<value_type>& tried_;
        session_progress progress_;
        bool stays_ = false;
    };

    const Codec* codec_;
    Place* place_;
    state state_{};
    std::string bytes_{};
    std::optional<value_type> tried_{};
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_SESSION_STATE_HPP
