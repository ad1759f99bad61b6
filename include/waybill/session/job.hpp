// SPDX-License-Identifier: MIT
//
// job: numbers the steps of a session, so that the consumer detects missing steps.
//
//     auto job = waybill::job::make("order-17", 5);                   // result<job, job::error>
//     if (!job) return refuse(waybill::describe(job.error()));
//     while (!job->complete()) send(body(), job->next());             // 1 of 5, 2 of 5, ...
//
//     auto import = waybill::job::make("import-3");                   // total still unknown
//     if (!import) return refuse(waybill::describe(import.error()));
//     send(body(), import->next());
//     send(body(), import->last());                                   // the last step
//
// Steps have the numbers 1, 2, 3 ... without gaps. The last step is marked as the last. After a
// crash the sender repeats `step(n)` under the same message id, `job::message_id(properties)`. The
// guide lists the effects of a step that was sent twice.
//
// A session id has 1 to 128 bytes of UTF-8 without control characters. It does not end in "~" and a
// number, because ids of redriven sessions do (redrive_names.hpp). Senders without `job` check an
// id with `job::id_problem`. SQS permits only ASCII letters, digits and punctuation.

#ifndef WAYBILL_SESSION_JOB_HPP
#define WAYBILL_SESSION_JOB_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/detail/described.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/session/detail/redrive_names.hpp>
#include <waybill/session/detail/session_id.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// The steps of one session, for their sender.
class job {
public:
    struct progress;

    /// The reason why an id or a job is refused.
    struct error {
        enum class code : std::uint8_t {
            no_id,         ///< The id is empty. Messages without a session have no order.
            too_long,      ///< The id has more bytes than brokers permit.
            not_utf8,      ///< Brokers, tables and portals would convert it differently.
            redriven_end,  ///< The id ends in "~" and a number, as ids of redriven sessions do.
            no_steps,      ///< The total is 0. A job has at least one step.
            control_character,  ///< The id contains a control character, such as NUL.
        };
        [[nodiscard]] friend constexpr std::string_view texts_of(code) noexcept
        {
            return "no_id, too_long, not_utf8, redriven_end, no_steps, control_character";
        }

        code kind = code::no_id;
        std::uint64_t bytes = 0;  ///< Bytes of the id.

        friend bool operator==(const error&, const error&) = default;
    };

    /// Maximum bytes of a session id. Service Bus and SQS permit 128 characters, and n bytes are at
    /// most n characters.
    static constexpr std::uint64_t max_id_bytes = 128;

    /// A job of `total` steps, at least 1. Errors: `no_steps`, and those of `id_problem`.
    [[nodiscard]] static result<job, error> make(std::string id, std::uint64_t total)
    {
        if (total == 0) return unexpected(error{error::code::no_steps, id.size()});
        return make_if_valid(std::move(id), total);
    }
    /// A job whose number of steps is still unknown. Errors: those of `id_problem`.
    [[nodiscard]] static result<job, error> make(std::string id)
    {
        constexpr std::uint64_t unknown_total = 0;
        return make_if_valid(std::move(id), unknown_total);
    }

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    /// The number of the last step issued by `next` or `last`; 0 before the first.
    [[nodiscard]] std::uint64_t numbered() const noexcept { return last_issued_; }
    /// True if the total is known and all steps are issued. Another `next` would return a step
    /// after the last, which a pipeline dead-letters.
    [[nodiscard]] bool complete() const noexcept { return total_ != 0 && last_issued_ >= total_; }

    /// Continues after step `numbered`. For a sender that restarts.
    void resume_after(std::uint64_t numbered) noexcept { last_issued_ = numbered; }

    /// Issues the next step and returns its properties.
    [[nodiscard]] step_properties next()
    {
        last_issued_ = detail::saturating_add(last_issued_, 1);
        return step(last_issued_);
    }
    /// Issues the next step as the last one. If the total is known, `next` marks the last step by
    /// its number. A call of `last` before that step contradicts the total, and a pipeline
    /// dead-letters the step.
    [[nodiscard]] step_properties last()
    {
        if (total_ == 0) total_ = detail::saturating_add(last_issued_, 1);
        step_properties s = next();
        s.last = true;
        return s;
    }
    /// The properties of step `number`, from 1. Repeated calls return the same properties, unless
    /// `last` has set the total between them.
    [[nodiscard]] step_properties step(std::uint64_t number) const
    {
        return {.session = id_,
                .step = number,
                .first = 1,
                .total = total_,
                .last = total_ != 0 && number == total_};
    }

    friend bool operator==(const job&, const job&) = default;

    /// The reason why `job` refuses this id; nullopt if `job` accepts it. Linear time.
    [[nodiscard]] static constexpr std::optional<error::code> id_problem(
        std::string_view id) noexcept
    {
        if (id.empty()) return error::code::no_id;
        if (id.size() > max_id_bytes) return error::code::too_long;
        if (!is_utf8(id)) return error::code::not_utf8;
        if (detail::has_control_character(id)) return error::code::control_character;
        if (detail::has_redrive_suffix(id)) return error::code::redriven_end;
        return std::nullopt;
    }

    /// The message id of a step, such as "order-17/3". It is the same each time the step is sent.
    /// It has at most `max_bytes` bytes (at least 80) and is shortened as in redrive_names.hpp. The
    /// form is stable across versions of waybill.
    [[nodiscard]] static std::string message_id(const step_properties& s,
                                                std::size_t max_bytes = 128)
    {
        return detail::shortened_id(s.session, "/" + std::to_string(s.step), max_bytes);
    }

private:
    job(std::string id, std::uint64_t total) : id_(std::move(id)), total_(total) {}

    static result<job, error> make_if_valid(std::string id, std::uint64_t total)
    {
        if (const auto p = id_problem(id)) return unexpected(error{*p, id.size()});
        return job(std::move(id), total);
    }

    std::string id_;
    std::uint64_t total_ = 0;
    std::uint64_t last_issued_ = 0;
};

namespace detail::words {
template <>
struct line_of<job::error> : described_line {};
}  // namespace detail::words

/// One line for a log, with the action to take.
[[nodiscard]] inline std::string describe(const job::error& e)
{
    const std::string bytes = std::to_string(e.bytes);
    const std::string max_bytes = std::to_string(job::max_id_bytes);
    switch (e.kind) {
        case job::error::code::no_id:
            return "the session id is empty: use the name of the job, 1 to " + max_bytes + " bytes";
        case job::error::code::too_long:
            return "the session id has " + bytes + " bytes, and " + max_bytes +
                   " is the maximum: shorten it, or use its hash";
        case job::error::code::not_utf8:
            return "the session id is not valid UTF-8: encode it as hex";
        case job::error::code::control_character:
            return "the session id contains a control character: remove it, or encode the id as "
                   "hex";
        case job::error::code::redriven_end:
            return "the session id ends in ~ and a number, like the id of a redriven session: "
                   "append a text, or replace the ~";
        case job::error::code::no_steps:
            return "the total is 0, but a job has at least one step: omit an unknown total";
    }
    return "?";
}

/// The progress of a job: `done` steps of `total`, and the failure that stopped it.
struct job::progress {
    std::uint64_t done = 0;           ///< Steps processed, dead-lettered ones included.
    std::uint64_t dead_lettered = 0;  ///< Dead-lettered steps among `done`.
    std::uint64_t total = 0;          ///< 0 if unknown.
    std::uint64_t failed = 0;         ///< The step that stopped the job; 0 if none did.
    std::string reason{};             ///< The error text of the step that stopped the job.

    [[nodiscard]] bool finished() const noexcept
    {
        return failed == 0 && total != 0 && done >= total;
    }

    /// The progress of the job in the state of its session. `total` is used if the state has no
    /// total.
    [[nodiscard]] static progress of(const session_progress& p, std::uint64_t total = 0)
    {
        progress j{.done = p.done,
                   .dead_lettered = p.dead_lettered,
                   .total = p.total != 0 ? p.total : total};
        if (p.failed) {
            j.failed = p.failed->step;
            j.reason = p.failed->text;
        }
        return j;
    }

    friend bool operator==(const progress&, const progress&) = default;
};

/// Examples: "2 of 5, stopped at step 3: no template", "17", "40 of 40, 2 of them dead-lettered".
template <std::same_as<job::progress> T>
[[nodiscard]] std::string describe(const T& p)
{
    std::string line = std::to_string(p.done);
    if (p.total != 0) line += " of " + std::to_string(p.total);
    if (p.dead_lettered != 0)
        line += ", " + std::to_string(p.dead_lettered) + " of them dead-lettered";
    if (p.failed != 0) line += ", stopped at step " + std::to_string(p.failed);
    if (!p.reason.empty()) line += ": " + p.reason;
    return line;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_JOB_HPP
