// SPDX-License-Identifier: MIT
//
// session_state: the state of a session between load and save, for one holder of the session.
//
//     waybill::versioned_session_state place(store, m.session);  // or the broker's session state
//     waybill::session_state state(codec, place);
//     process_step(pipe, facts, env,
//         [&](pipeline::load_state)          { return state.load(m.origin.state); },
//         [&](pipeline::execute) { return state.attempt([&](auto& v) { return run(m, v); }); },
//         [&](pipeline::save_state a)        { return state.save(a, pipe.progress()); },
//         [&](pipeline::write_dead_letter a) { return upsert(letter_of(m, a, state.bytes())); },
//         [&](pipeline::clear_state)         { return state.clear(); },
//         ...
//
// Guarantees
//   1. Each try starts with a copy of the stored value. Changes count once the step has succeeded
//      and the state is saved. A failed step leaves none, regardless of the number of tries.
//   2. If the store permanently refuses the state after a step, the step leaves no changes.
//   3. A late independent step leaves no changes: its pipeline does not save.
// Codecs: `text_state_codec` for bytes; `state_codec<T>` of ext/json/state_codec.hpp for a type of
// the user. The caller keeps the codec and the place of the stored state alive.

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
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/detail/text_state_codec.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/pipeline_steps.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/state_text.hpp>

namespace waybill::inline v0_2 {

/// The codec of states without JSON, with the interface of the JSON codecs in
/// ext/json/state_codec.hpp. state_text.hpp has its options and guarantees. If the user's bytes
/// have an older major version and are not upgraded, the state is `corrupt`. If its session has
/// failed, they are kept unchanged instead.
class text_state_codec {
public:
    /// The state that `text_state_codec` reads and writes.
    struct state {
        state_read outcome = state_read::absent;
        std::string value{};  ///< The user's bytes.
        session_progress progress{};
        text_state::read_result read{};  ///< The result of reading, without the user's bytes.

        /// Reports that `bytes` are the stored state from now on.
        void stored(std::string_view bytes)
        {
            outcome = read.outcome = state_read::ok;
            read.envelope = detail::sealed_just_now(bytes);
            read.state.version = read.envelope.version;
        }

        friend bool operator==(const state&, const state&) = default;
    };

    /// Converts the user's bytes from an older major version to the current one; nullopt if it
    /// cannot.
    using upgrade_function = std::optional<std::string> (*)(std::string_view own,
                                                            schema_version from);

    using value_type = std::string;

    explicit text_state_codec(detail::no_options = {}) : text_state_codec(text_state::options{}) {}
    explicit text_state_codec(text_state::options o, upgrade_function older = nullptr)
        : options_(o), upgrade_(older)
    {
    }

    [[nodiscard]] state decode(std::optional<std::string_view> bytes,
                               std::string_view carried_state = {}) const
    {
        state s;
        s.read = detail::read_text_state(bytes, options_, carried_state);
        if (is_older(s.read)) upgrade(s.read);
        s.outcome = s.read.outcome;
        s.value = std::exchange(s.read.state.own, {});
        s.progress = s.read.state.progress;
        return s;
    }
    [[nodiscard]] result<std::string, state_budget::too_large> encode(const state& s) const
    {
        text_state t = s.read.state;
        t.own = s.value;
        t.progress = s.progress;
        text_state::options o = options_;
        if (is_older(s.read)) o.version = s.read.state.version;
        return detail::write_text_state(t, o);
    }

    friend bool operator==(const text_state_codec&, const text_state_codec&) = default;

private:
    [[nodiscard]] bool is_older(const text_state::read_result& r) const noexcept
    {
        return r.outcome <= state_read::ok && r.state.version.major < options_.version.major;
    }

    void upgrade(text_state::read_result& r) const
    {
        text_state& s = r.state;
        std::optional<std::string> own;
        if (upgrade_ != nullptr) own = upgrade_(s.own, s.version);
        if (own) {
            s.own = *std::move(own);
            s.version = options_.version;
            return;
        }
        r.problem = text_state::read_result::problem_type::upgrade_failed;
        r.max_bytes = options_.version.major;
        if (s.progress.failed) return;
        r.outcome = state_read::corrupt;
        r.envelope.version = s.version;
        s = {};
    }

    text_state::options options_;
    upgrade_function upgrade_;
};

template <std::same_as<text_state_codec::state> T>
[[nodiscard]] std::string describe(const T& s)
{
    return describe(s.read);
}

namespace detail {

/// The place of the stored state of one session; `versioned_session_state` is an example.
///
///     place.load()         result<std::optional<std::string>>; nullopt if there is no state
///     place.save(bytes)    fault
///     place.clear()        fault
///
/// `load` never returns an empty string for a missing state: an empty string is a state that has
/// lost its bytes.
template <class P>
concept state_place = requires(P& place, const std::string& bytes) {
    { place.load() } -> std::same_as<result<std::optional<std::string>>>;
    { place.save(bytes) } -> std::convertible_to<fault>;
    { place.clear() } -> std::convertible_to<fault>;
};

}  // namespace detail

/// The state of one session during its processing: loaded, changed and saved through a place.
template <class Codec, class Place>
class session_state {
    static_assert(detail::state_place<Place>,
                  "session_state: the place must have load() -> "
                  "result<std::optional<std::string>>, "
                  "save(bytes) -> fault and clear() -> fault");

public:
    using value_type = typename Codec::value_type;
    using state = typename Codec::state;

    session_state(const Codec& codec, Place& place) : codec_(&codec), place_(&place) {}
    session_state(const Codec&& codec, Place& place) = delete;  // the codec is kept by reference

    /// Loads the state. `carried_state` is `step_properties::origin::state` of the message: the
    /// state that a redrive has sent with it. A redriven session without a stored state begins with
    /// `carried_state`. If the stored state cannot be loaded, the result contains the fault, and
    /// the state in memory is unchanged.
    [[nodiscard]] pipeline_types::state_loaded load(std::string_view carried_state)
    {
        pipeline_types::state_loaded loaded;
        auto bytes = place_->load();
        if (!bytes) {
            loaded.kind = bytes.error().kind;
            if (loaded.kind == fault_kind::none) loaded.kind = fault_kind::infrastructure;
            loaded.reason = std::move(bytes.error().text);
            return loaded;
        }
        attempted_value_.reset();
        state_ = codec_->decode(*bytes, carried_state);
        bytes_ = std::move(*bytes).value_or(std::string());
        loaded.found = state_.outcome;
        loaded.progress = state_.progress;
        if (state_.outcome > state_read::ok) loaded.reason = describe(state_);
        return loaded;
    }

    /// Calls `step(value)` with a copy of the stored value and returns its result: a fault, a
    /// result<void> or `executed`. If the step succeeded, the next `save` writes the copy.
    template <class F>
    [[nodiscard]] auto attempt(F&& step)
    {
        using result_type = std::remove_cvref_t<std::invoke_result_t<F&, value_type&>>;
        static_assert(std::same_as<result_type, fault> || std::same_as<result_type, result<void>> ||
                          std::same_as<result_type, pipeline_types::executed>,
                      "attempt: the step must return a fault, a result<void> or executed");
        attempted_value_.reset();
        value_type next = state_.value;
        auto outcome = step(next);
        if (succeeded(outcome)) attempted_value_ = std::move(next);
        return outcome;
    }

    /// Writes value and progress. Returns `permanent` if they cannot be encoded, for example
    /// because of their size, or if the stored state could not be read. If the write is not
    /// confirmed or a call throws, the state in memory does not change; repeat the same call.
    [[nodiscard]] fault save(const pipeline_types::save_state& a, const session_progress& progress)
    {
        if (state_.outcome > state_read::ok)
            return permanent("the stored state is not overwritten: " + describe(state_));
        if (a.keep_old_value) attempted_value_.reset();
        state_change change(state_, attempted_value_, progress);
        auto bytes = codec_->encode(state_);
        if (!bytes) return permanent(describe(bytes.error()));
        fault f = place_->save(*bytes);
        if (!f.ok()) return f;
        change.commit();
        attempted_value_.reset();
        state_.stored(*bytes);
        bytes_ = *std::move(bytes);
        return f;
    }

    /// Removes the stored state. The next message with the same session id begins a new session.
    [[nodiscard]] fault clear()
    {
        fault f = place_->clear();
        if (!f.ok()) return f;
        attempted_value_.reset();
        bytes_.clear();
        state_ = codec_->decode(std::nullopt);
        return f;
    }

    /// The stored value; the value of a new session if there is no state.
    [[nodiscard]] const value_type& value() const noexcept { return state_.value; }
    /// The stored bytes, for the dead letter of a step that stops its session.
    [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
    /// The result of the last read or write, for a log.
    [[nodiscard]] const state& read() const noexcept { return state_; }

private:
    static bool succeeded(const fault& f) noexcept { return f.ok(); }
    static bool succeeded(const result<void>& r) noexcept { return r.has_value(); }
    static bool succeeded(const pipeline_types::executed& e) noexcept { return e.reason.ok(); }

    /// Sets the new value and progress of the state. The destructor restores the old ones unless
    /// `commit` was called.
    class state_change {
    public:
        state_change(state& s, std::optional<value_type>& attempted_value,
                     const session_progress& p)
            : state_(s), attempted_value_(attempted_value), progress_(p)
        {
            swap_values();
        }
        ~state_change()
        {
            if (!committed_) swap_values();
        }
        state_change(const state_change&) = delete;
        state_change& operator=(const state_change&) = delete;

        void commit() noexcept { committed_ = true; }

    private:
        void swap_values()
        {
            if (attempted_value_) std::swap(state_.value, *attempted_value_);
            std::swap(state_.progress, progress_);
        }

        state& state_;
        std::optional<value_type>& attempted_value_;
        session_progress progress_;
        bool committed_ = false;
    };

    const Codec* codec_;
    Place* place_;
    state state_{};
    std::string bytes_{};
    std::optional<value_type> attempted_value_{};  // of a step that succeeded and is not saved
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_SESSION_STATE_HPP
