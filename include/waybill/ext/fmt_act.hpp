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

[[nodiscard]] inline std::string line(const idle&)
{
    return "idle";
}
[[nodiscard]] inline std::string line(const wait_until& a)
{
    return "wait until " + line(a.time);
}

[[nodiscard]] inline std::string line(const retry_loop::call&)
{
    return "go";
}
[[nodiscard]] inline std::string line(const retry_loop::done&)
{
    return "done";
}
[[nodiscard]] inline std::string line(const retry_now&)
{
    return "retry now";
}
[[nodiscard]] inline std::string line(const give_up& a)
{
    if (a.reason == fault_kind::none) return "give up";
    return "give up: " + line(a.reason);
}

[[nodiscard]] inline std::string line(const batch_sender_types::send& a)
{
    return fmt::format("send attempt {}: {}, {}, closed by {}", a.attempt, line(a.items),
                       bytes(a.bytes), name(a.closed));
}
[[nodiscard]] inline std::string line(const batch_sender_types::report& a)
{
    return "settle " +
           describe(item_report{a.items, a.outcome, a.kind, a.bytes, a.limit, a.envelope, {}});
}

[[nodiscard]] inline std::string line(const batch_sender_types::replace& a)
{
    return fmt::format("replace item {}: {} where the limit is {}", a.item, bytes(a.bytes),
                       bytes(a.limit));
}

[[nodiscard]] inline std::string line(const batch_machine::load_crash_record&)
{
    return "recall";
}
[[nodiscard]] inline std::string line(const batch_machine::shorten& a)
{
    return "shorten to " + counted(a.events, "event", "events");
}
[[nodiscard]] inline std::string line(const batch_machine::begin&)
{
    return "begin";
}
[[nodiscard]] inline std::string line(const batch_machine::store_crash_record& a)
{
    return "note " + counted(a.row.suspects, "event", "events") + " after " +
           counted(a.row.deaths, "death", "deaths");
}
[[nodiscard]] inline std::string line(const batch_machine::clear_crash_record&)
{
    return "forget";
}
[[nodiscard]] inline std::string line(const batch_machine::savepoint&)
{
    return "savepoint";
}
[[nodiscard]] inline std::string line(const batch_machine::handle& a)
{
    return fmt::format("handle event {}", a.event);
}
[[nodiscard]] inline std::string line(const batch_machine::release_savepoint&)
{
    return "release";
}
[[nodiscard]] inline std::string line(const batch_machine::rollback_to_savepoint&)
{
    return "undo";
}
[[nodiscard]] inline std::string line(const batch_machine::write_dead_letter& a)
{
    return fmt::format("dead_letter event {}: {} after {}", a.event, name(a.kind),
                       counted(a.tries, "try", "tries"));
}
[[nodiscard]] inline std::string line(const batch_machine::ask& a)
{
    return "ask: " + counted(a.failed, "event", "events") + " failed";
}
[[nodiscard]] inline std::string line(const batch_machine::advance&)
{
    return "advance";
}
[[nodiscard]] inline std::string line(const batch_machine::commit&)
{
    return "commit";
}
[[nodiscard]] inline std::string line(const batch_machine::rollback&)
{
    return "rollback";
}
[[nodiscard]] inline std::string line(const batch_machine::check_commit&)
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
