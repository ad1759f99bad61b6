// SPDX-License-Identifier: MIT
//
// detail/describe_steps: the actions and events of the consumers as text.

#ifndef WAYBILL_CONSUME_DETAIL_DESCRIBE_STEPS_HPP
#define WAYBILL_CONSUME_DETAIL_DESCRIBE_STEPS_HPP

#include <string>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/core/detail/line.hpp>

namespace waybill::inline v0_2::detail {

namespace words {

template <>
struct line_of<batch_machine_types::load_crash_record> {
    static std::string text(const auto&) { return "load the crash record"; }
};

template <>
struct line_of<batch_machine_types::shorten> {
    static std::string text(const auto& a)
    {
        return "shorten to " + counted(a.events, "event", "events");
    }
};

template <>
struct line_of<batch_machine_types::begin> {
    static std::string text(const auto&) { return "begin a transaction"; }
};

template <>
struct line_of<batch_machine_types::store_crash_record> {
    static std::string text(const auto& a)
    {
        return "store a crash record: " + counted(a.row.suspects, "event", "events") + " after " +
               counted(a.row.deaths, "death", "deaths");
    }
};

template <>
struct line_of<batch_machine_types::clear_crash_record> {
    static std::string text(const auto&) { return "clear the crash record"; }
};

template <>
struct line_of<batch_machine_types::savepoint> {
    static std::string text(const auto&) { return "set a savepoint"; }
};

template <>
struct line_of<batch_machine_types::handle> {
    static std::string text(const auto& a) { return concat("handle event ", a.event); }
};

template <>
struct line_of<batch_machine_types::release_savepoint> {
    static std::string text(const auto&) { return "release the savepoint"; }
};

template <>
struct line_of<batch_machine_types::rollback_to_savepoint> {
    static std::string text(const auto&) { return "roll back to the savepoint"; }
};

template <>
struct line_of<batch_machine_types::write_dead_letter> {
    static std::string text(const auto& a)
    {
        return concat("dead-letter event ", a.event, ": ", name(a.kind), " after ", tries(a.tries));
    }
};

template <>
struct line_of<batch_machine_types::decide_all_failed> {
    static std::string text(const auto& a)
    {
        return "decide about a batch without success: " + counted(a.failed, "event", "events") +
               " failed";
    }
};

template <>
struct line_of<batch_machine_types::advance> {
    static std::string text(const auto&) { return "advance the checkpoint"; }
};

template <>
struct line_of<batch_machine_types::commit> {
    static std::string text(const auto&) { return "commit"; }
};

template <>
struct line_of<batch_machine_types::rollback> {
    static std::string text(const auto&) { return "roll back"; }
};

template <>
struct line_of<batch_machine_types::check_commit> {
    static std::string text(const auto&) { return "check the commit"; }
};

template <>
struct line_of<at_least_once_machine::commit_to> {
    static std::string text(const auto& a) { return concat("commit to event ", a.event); }
};

template <>
struct line_of<at_least_once_machine_types::commit_checked> {
    static std::string text(const auto& a)
    {
        return fields(concat("commit checked: ", a.at), "fault", a.kind);
    }
};

template <>
struct line_of<batch_machine_types::crash_record_loaded> {
    static std::string text(const auto& a)
    {
        return fields("crash record loaded", "found", a.found, "fault", a.kind);
    }
};

template <>
struct line_of<batch_machine_types::shortened> {
    static std::string text(const auto& a) { return "shortened: up to " + line(a.to); }
};

template <>
struct line_of<batch_machine_types::done> {
    static std::string text(const auto& a) { return fields("done", "fault", a.kind); }
};

template <>
struct line_of<batch_machine_types::handled> {
    static std::string text(const auto& a)
    {
        return fields("handled", "fault", a.kind, "skipped", a.skipped);
    }
};

template <>
struct line_of<batch_machine_types::all_failed_decided> {
    static std::string text(const auto& a)
    {
        return concat("decided about a batch without success: ", a.what);
    }
};

template <>
struct line_of<batch_machine_types::advanced> {
    static std::string text(const auto& a)
    {
        return fields(concat("checkpoint advanced: ", a.outcome), "fault", a.kind);
    }
};

template <>
struct line_of<batch_machine_types::committed> {
    static std::string text(const auto& a) { return concat("commit: ", a.outcome); }
};

template <>
struct line_of<batch_machine_types::loaded> {
    static std::string text(const auto& a)
    {
        return fields("checkpoint loaded", "found", a.stored, "fault", a.kind);
    }
};

}  // namespace words

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_DESCRIBE_STEPS_HPP
