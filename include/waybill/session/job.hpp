// SPDX-License-Identifier: MIT
//
// job: numbers the steps of a session, so that whoever handles them sees what is missing.
//
//     auto job = waybill::job::make("order-17", 5);                   // result<job, job_error>
//     while (!job->complete()) send(body(), job->next());             // 1 of 5, 2 of 5, ...
//
//     auto import = waybill::job::make("import-3");                   // nobody knows yet how many
//     send(body(), import->next());
//     send(body(), import->end());                                    // and this one is the last
//
// A step is a number from 1 on, without gaps; the last one says that it is. A sender that begins
// again after a crash asks for `step(n)`, and two messages of one step are found by their number.
//
// An id has 1 to 128 bytes of UTF-8, which Service Bus and SQS take, and does not end in "~" and a
// number: so end the ids of sessions that are redriven (redrive_names.hpp), and no two may meet.

#ifndef WAYBILL_SESSION_JOB_HPP
#define WAYBILL_SESSION_JOB_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/result.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/session/progress.hpp>
#include <waybill/session/step.hpp>

namespace waybill::inline v0_1 {

/// The longest id of a session at Service Bus and SQS; bytes are no fewer than characters.
inline constexpr std::uint64_t most_session_bytes = 128;

enum class job_problem : std::uint8_t {
    no_id,         ///< Messages without a session have no order.
    too_long,      ///< The id has more bytes than brokers take.
    not_utf8,      ///< Brokers, tables and portals would each make something else of it.
    redriven_end,  ///< It ends as the ids of redriven sessions do.
    no_steps,      ///< A job has one step at least.
};

[[nodiscard]] constexpr std::string_view name(job_problem p) noexcept
{
    switch (p) {
        case job_problem::no_id: return "no_id";
        case job_problem::too_long: return "too_long";
        case job_problem::not_utf8: return "not_utf8";
        case job_problem::redriven_end: return "redriven_end";
        case job_problem::no_steps: return "no_steps";
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
        case job_problem::no_id: return "a session needs an id of 1 to " + most + " bytes";
        case job_problem::too_long:
            return "a session's id has " + bytes + " bytes, and " + most + " at the most";
        case job_problem::not_utf8: return "a session's id is no UTF-8: write its bytes as hex";
        case job_problem::redriven_end:
            return "a session's id ends in ~ and a number, as those of redriven sessions do";
        case job_problem::no_steps:
            return "a job has one step at least; leave the total out where nobody knows it yet";
    }
    return "?";
}

namespace detail {

/// How many bytes the character at the front has; 0 if there is none that UTF-8 allows.
[[nodiscard]] constexpr std::size_t utf8_step(std::string_view text) noexcept
{
    const auto byte = [&](std::size_t at) -> unsigned {
        return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
    };
    const auto follows = [&](std::size_t at) { return byte(at) >= 0x80U && byte(at) < 0xC0U; };
    const unsigned lead = byte(0);
    if (lead < 0x80U) return text.empty() ? 0 : 1;
    if (lead < 0xC2U || lead > 0xF4U || !follows(1)) return 0;
    if (lead < 0xE0U) return 2;
    if (!follows(2)) return 0;
    const unsigned two = lead << 8U | byte(1);
    if (lead < 0xF0U) return two < 0xE0A0U || (two >= 0xEDA0U && lead == 0xEDU) ? 0 : 3;
    return !follows(3) || two < 0xF090U || two >= 0xF490U ? 0 : 4;
}

[[nodiscard]] constexpr bool all_utf8(std::string_view text) noexcept
{
    while (!text.empty()) {
        const std::size_t n = utf8_step(text);
        if (n == 0) return false;
        text.remove_prefix(n);
    }
    return true;
}

}  // namespace detail

/// Whether an id ends in "~" and a number without zeros in front, as those of redriven sessions do.
[[nodiscard]] constexpr bool ends_as_redriven(std::string_view id) noexcept
{
    std::size_t at = id.size();
    while (at != 0 && id[at - 1] >= '0' && id[at - 1] <= '9') --at;
    return at != id.size() && at != 0 && id[at] != '0' && id[at - 1] == '~';
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

    /// The stamp of the step after those that are stamped.
    [[nodiscard]] step_stamp next()
    {
        stamped_ = saturating_add(stamped_, 1);
        return step(stamped_);
    }
    /// The same, and nothing comes after it. Where the total is known, it is the last by its number
    /// alone: one that comes too early contradicts it, and a pipeline parks it.
    [[nodiscard]] step_stamp end()
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
        const auto wrong = [&](job_problem p) { return unexpected(job_error{p, id.size()}); };
        if (id.empty()) return wrong(job_problem::no_id);
        if (id.size() > most_session_bytes) return wrong(job_problem::too_long);
        if (!detail::all_utf8(id)) return wrong(job_problem::not_utf8);
        if (ends_as_redriven(id)) return wrong(job_problem::redriven_end);
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

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_SESSION_JOB_HPP
