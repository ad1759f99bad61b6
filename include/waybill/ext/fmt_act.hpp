// SPDX-License-Identifier: MIT
//
// ext/fmt_act: the actions of the batch sender, the batch consumer and the retry loop as lines.
//
// Lines for other actions: fmt_consume.hpp, fmt_lease.hpp, fmt_retry.hpp and fmt_session.hpp.

#ifndef WAYBILL_EXT_FMT_ACT_HPP
#define WAYBILL_EXT_FMT_ACT_HPP

#include <string>
#include <variant>

#include <fmt/format.h>

#include <waybill/batch/send_report.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/core/act.hpp>
#include <waybill/ext/fmt_consume.hpp>
#include <waybill/ext/fmt_lease.hpp>
#include <waybill/ext/fmt_line.hpp>
#include <waybill/ext/fmt_retry.hpp>
#include <waybill/retry/decide.hpp>
#include <waybill/retry/retry_loop.hpp>

namespace waybill::inline v0_2::detail::words {

[[nodiscard]] inline std::string line(const act::idle&) { return "idle"; }
[[nodiscard]] inline std::string line(const act::wait_until& a)
{
    return "wait until " + line(a.time);
}

[[nodiscard]] inline std::string line(const act::call&)
{
    return "go";
}
[[nodiscard]] inline std::string line(const act::done&) { return "done"; }
[[nodiscard]] inline std::string line(const act::retry_now&) { return "retry now"; }
[[nodiscard]] inline std::string line(const act::give_up& a)
{
    if (a.reason == fault_kind::none) return "give up";
    return "give up: " + line(a.reason);
}

[[nodiscard]] inline std::string line(const act::send& a)
{
    return fmt::format("send attempt {}: {}, {}, closed by {}", a.attempt, line(a.items),
                       bytes(a.bytes), name(a.closed));
}
[[nodiscard]] inline std::string line(const act::settle& a)
{
    return "settle " +
           describe(item_report{a.items, a.outcome, a.kind, a.bytes, a.limit, a.envelope, {}});
}

[[nodiscard]] inline std::string line(const act::replace& a)
{
    return fmt::format("replace item {}: {} where the limit is {}", a.item, bytes(a.bytes),
                       bytes(a.limit));
}

[[nodiscard]] inline std::string line(const act::load_crash_record&)
{
    return "recall";
}
[[nodiscard]] inline std::string line(const act::shorten& a)
{
    return "shorten to " + counted(a.events, "event", "events");
}
[[nodiscard]] inline std::string line(const act::begin&) { return "begin"; }
[[nodiscard]] inline std::string line(const act::store_crash_record& a)
{
    return "note " + counted(a.row.suspects, "event", "events") + " after " +
           counted(a.row.deaths, "death", "deaths");
}
[[nodiscard]] inline std::string line(const act::clear_crash_record&)
{
    return "forget";
}
[[nodiscard]] inline std::string line(const act::savepoint&) { return "savepoint"; }
[[nodiscard]] inline std::string line(const act::handle& a)
{
    return fmt::format("handle event {}", a.event);
}
[[nodiscard]] inline std::string line(const act::release_savepoint&)
{
    return "release";
}
[[nodiscard]] inline std::string line(const act::rollback_to_savepoint&)
{
    return "undo";
}
[[nodiscard]] inline std::string line(const act::dead_letter& a)
{
    return fmt::format("dead_letter event {}: {} after {}", a.event, name(a.kind),
                       counted(a.tries, "try", "tries"));
}
[[nodiscard]] inline std::string line(const act::ask& a)
{
    return "ask: " + counted(a.failed, "event", "events") + " failed";
}
[[nodiscard]] inline std::string line(const act::advance&) { return "advance"; }
[[nodiscard]] inline std::string line(const act::commit&) { return "commit"; }
[[nodiscard]] inline std::string line(const act::rollback&) { return "rollback"; }
[[nodiscard]] inline std::string line(const act::check_commit&)
{
    return "read back";
}

/// The line of an action held in a variant. The overloads for its alternatives must be declared
/// before this function, here or in an included header.
template <class... Actions>
[[nodiscard]] std::string line(const std::variant<Actions...>& action)
{
    return std::visit([](const auto& a) { return line(a); }, action);
}

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_EXT_FMT_ACT_HPP
