// SPDX-License-Identifier: MIT
//
// job: numbers the steps of a session, so that whoever handles them sees what is missing.
//
//     auto job = waybill::job::make("order-17", 5);                   // result<job, job_error>
//     if (!job) return refuse(waybill::text(job.error()));
//     while (!job->complete()) send(body(), job->next());             // 1 of 5, 2 of 5, ...
//
//     auto import = waybill::job::make("import-3");                   // nobody knows yet how many
//     if (!import) return refuse(waybill::text(import.error()));
//     send(body(), import->next());
//     send(body(), import->last());                                   // and this one is the last
//
// A step is a number from 1 on, without gaps; the last one says that it is.
//
// A sender that begins again after a crash asks for `step(n)`, and gives the message the id that it
// had: `step_message_id(stamp)`, as in "order-17/3". What becomes of what is sent twice:
//   1. a broker that detects duplicates drops it for as long as it remembers: Service Bus for ten
//      minutes unless it is told otherwise, SQS for five. Keep that longer than a sender may lie
//      still; once the session is over there is nothing else here that would see it;
//   2. while the session has a state, a pipeline completes a step that is done, and does not run it
//      again. Of independent steps it knows only the one that was done last: the others run again;
//   3. the state goes with the last message, also where the session failed. What comes then is a
//      new session under the old id: sent from its first step on, all of it runs again. A later
//      step alone is parked as a gap, and leaves a failed state; an independent one runs.
//
// An id has 1 to 128 bytes of UTF-8, without control characters. Service Bus takes these; SQS takes
// letters, digits and punctuation of ASCII, and no others. It does not end in "~" and a number: so
// end the ids of sessions that are redriven (redrive_names.hpp). Only `job` refuses such an id: if
// somebody sends "order-17~1" without one, its steps and those of the redriven "order-17" are taken
// for one session. `session_id_problem` is for him, and `read_stamp` names the id where it arrives.

#ifndef WAYBILL_SESSION_JOB_HPP
#define WAYBILL_SESSION_JOB_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/result.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/redrive_names.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_2 {

/// The longest id of a session at Service Bus and SQS; bytes are no fewer than characters.
inline constexpr std::uint64_t most_session_bytes = 128;

enum class job_problem : std::uint8_t {
    no_id,         ///< Messages without a session have no order.
    too_long,      ///< The id has more bytes than brokers take.
    not_utf8,      ///< Brokers, tables and portals would each make something else of it.
    redriven_end,  ///< It ends as the ids of redriven sessions do.
    no_steps,      ///< A job has one step at least.
    control_character,  ///< One is in the id: a NUL, at which some cut it, or a line break.
};

[[nodiscard]] constexpr std::string_view name(job_problem p) noexcept
{
    switch (p) {
        case job_problem::no_id: return "no_id";
        case job_problem::too_long: return "too_long";
        case job_problem::not_utf8: return "not_utf8";
        case job_problem::redriven_end: return "redriven_end";
        case job_problem::no_steps: return "no_steps";
        case job_problem::control_character: return "control_character";
    }
    return "?";
}

struct job_error {
    job_problem problem = job_problem::no_id;
    std::uint64_t bytes = 0;  ///< Of the id.

    friend bool operator==(const job_error&, const job_error&) = default;
};

/// One line for a log, with what to do.
[[nodiscard]] inline std::string text(const job_error& e)
{
    const std::string bytes = std::to_string(e.bytes);
    const std::string most = std::to_string(most_session_bytes);
    switch (e.problem) {
        case job_problem::no_id:
            return "a session's id is empty: name it after its job, in 1 to " + most + " bytes";
        case job_problem::too_long:
            return "a session's id has " + bytes + " bytes, and " + most +
                   " at the most: shorten it, or take its hash";
        case job_problem::not_utf8: return "a session's id is no UTF-8: write its bytes as hex";
        case job_problem::control_character:
            return "a session's id has a control character in it: leave it out, or write it as hex";
        case job_problem::redriven_end:
            return "a session's id ends in ~ and a number, as those of redriven sessions do: "
                   "write something behind the number, or another mark for the ~";
        case job_problem::no_steps:
            return "a job has one step at least; leave the total out where nobody knows it yet";
    }
    return "?";
}

namespace detail {

/// In UTF-8: U+0000 to U+001F, and U+007F to U+009F.
[[nodiscard]] constexpr bool has_control_character(std::string_view text) noexcept
{
    unsigned before = 0;
    for (const char c : text) {
        const unsigned byte = static_cast<unsigned char>(c);
        if (byte < 0x20U || byte == 0x7FU || (before == 0xC2U && byte < 0xA0U)) return true;
        before = byte;
    }
    return false;
}

}  // namespace detail

/// Whether an id ends in "~" and a number without zeros in front, as those of redriven sessions do.
[[nodiscard]] constexpr bool ends_as_redriven(std::string_view id) noexcept
{
    std::size_t at = id.size();
    while (at != 0 && id[at - 1] >= '0' && id[at - 1] <= '9') --at;
    return at != id.size() && at != 0 && id[at] != '0' && id[at - 1] == '~';
}

/// Why `job` refuses this id; nothing where it takes it.
[[nodiscard]] constexpr std::optional<job_problem> session_id_problem(std::string_view id) noexcept
{
    if (id.empty()) return job_problem::no_id;
    if (id.size() > most_session_bytes) return job_problem::too_long;
    if (!is_utf8(id)) return job_problem::not_utf8;
    if (detail::has_control_character(id)) return job_problem::control_character;
    if (ends_as_redriven(id)) return job_problem::redriven_end;
    return std::nullopt;
}

/// The id of a step's message, as in "order-17/3": the same whenever the step is sent. It is
/// shortened as in redrive_names.hpp, and like there its form does not change any more.
[[nodiscard]] inline std::string step_message_id(const step_stamp& s, std::size_t most = 128)
{
    return detail::shortened_id(s.session, "/" + std::to_string(s.step), most);
}

/// The steps of one session, in the hands of who sends them.
class job {
public:
    /// A job of `total` steps.
    [[nodiscard]] static result<job, job_error> make(std::string id, std::uint64_t total)
    {
        if (total == 0) return unexpected(job_error{job_problem::no_steps, id.size()});
        return checked(std::move(id), total);
    }
    /// A job of which nobody knows yet how many steps it has.
    [[nodiscard]] static result<job, job_error> make(std::string id)
    {
        return checked(std::move(id), 0);
    }

    [[nodiscard]] const std::string& id() const noexcept { return id_; }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
    /// How many steps are stamped.
    [[nodiscard]] std::uint64_t stamped() const noexcept { return stamped_; }
    /// All are stamped. Whoever stamps one more gets a step after the last, and a pipeline parks
    /// it.
    [[nodiscard]] bool complete() const noexcept { return total_ != 0 && stamped_ >= total_; }

    /// A sender that begins again goes on behind so many steps.
    void resume_after(std::uint64_t stamped) noexcept { stamped_ = stamped; }

    /// The stamp of the step after those that are stamped.
    [[nodiscard]] step_stamp next()
    {
        stamped_ = saturating_add(stamped_, 1);
        return step(stamped_);
    }
    /// The same, and nothing comes after it. Where the total is known, it is the last by its number
    /// alone: one that comes too early contradicts it, and a pipeline parks it.
    [[nodiscard]] step_stamp last()
    {
        if (total_ == 0) total_ = saturating_add(stamped_, 1);
        step_stamp s = next();
        s.last = true;
        return s;
    }
    /// The stamp of any step, as often as it is asked for.
    [[nodiscard]] step_stamp step(std::uint64_t number) const
    {
        return {id_, number, 1, total_, total_ != 0 && number == total_};
    }

    friend bool operator==(const job&, const job&) = default;

private:
    job(std::string id, std::uint64_t total) : id_(std::move(id)), total_(total) {}

    static result<job, job_error> checked(std::string id, std::uint64_t total)
    {
        if (const auto p = session_id_problem(id)) return unexpected(job_error{*p, id.size()});
        return job(std::move(id), total);
    }

    std::string id_;
    std::uint64_t total_ = 0;
    std::uint64_t stamped_ = 0;
};

/// How far a job has come: `done` of `total`, and what keeps it.
struct job_progress {
    std::uint64_t done = 0;    ///< Steps behind it, those that are parked counted.
    std::uint64_t parked = 0;  ///< Of those.
    std::uint64_t total = 0;   ///< 0 where nobody knows.
    std::uint64_t failed = 0;  ///< The step that stopped it; 0 if none has.
    std::string why{};         ///< In its words.

    [[nodiscard]] bool finished() const noexcept
    {
        return failed == 0 && total != 0 && done >= total;
    }

    friend bool operator==(const job_progress&, const job_progress&) = default;
};

/// What the state of a session says of its job; `total` is for who knows more than the state does.
[[nodiscard]] inline job_progress progress_of(const session_progress& p, std::uint64_t total = 0)
{
    job_progress j{p.done, p.parked, p.total != 0 ? p.total : total, 0, {}};
    if (p.failed) {
        j.failed = p.failed->step;
        j.why = p.failed->text;
    }
    return j;
}

/// As in "2 of 5, stopped at step 3: no template", "17", "40 of 40, 2 of them parked".
[[nodiscard]] inline std::string text(const job_progress& p)
{
    std::string line = std::to_string(p.done);
    if (p.total != 0) line += " of " + std::to_string(p.total);
    if (p.parked != 0) line += ", " + std::to_string(p.parked) + " of them parked";
    if (p.failed != 0) line += ", stopped at step " + std::to_string(p.failed);
    if (!p.why.empty()) line += ": " + p.why;
    return line;
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_JOB_HPP
