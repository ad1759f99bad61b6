// SPDX-License-Identifier: MIT
//
// ext/fmt/detail/batch_steps: the actions of the batch consumer as lines.

#ifndef WAYBILL_EXT_FMT_DETAIL_BATCH_STEPS_HPP
#define WAYBILL_EXT_FMT_DETAIL_BATCH_STEPS_HPP

#include <string>

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/consume/batch_steps.hpp>
#include <waybill/ext/fmt/detail/line.hpp>

namespace waybill::inline v0_2::detail {

namespace words {

template <>
struct line_of<batch_machine_types::load_crash_record> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "recall";
    }
};

template <>
struct line_of<batch_machine_types::shorten> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "shorten to " + counted(a.events, "event", "events");
    }
};

template <>
struct line_of<batch_machine_types::begin> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "begin";
    }
};

template <>
struct line_of<batch_machine_types::store_crash_record> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "note " + counted(a.row.suspects, "event", "events") + " after " +
               counted(a.row.deaths, "death", "deaths");
    }
};

template <>
struct line_of<batch_machine_types::clear_crash_record> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "forget";
    }
};

template <>
struct line_of<batch_machine_types::savepoint> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "savepoint";
    }
};

template <>
struct line_of<batch_machine_types::handle> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("handle event {}", a.event);
    }
};

template <>
struct line_of<batch_machine_types::release_savepoint> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "release";
    }
};

template <>
struct line_of<batch_machine_types::rollback_to_savepoint> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "undo";
    }
};

template <>
struct line_of<batch_machine_types::write_dead_letter> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("dead_letter event {}: {} after {}", a.event, name(a.kind),
                           counted(a.tries, "try", "tries"));
    }
};

template <>
struct line_of<batch_machine_types::decide_all_failed> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return "decide about a batch without success: " + counted(a.failed, "event", "events") +
               " failed";
    }
};

template <>
struct line_of<batch_machine_types::advance> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "advance";
    }
};

template <>
struct line_of<batch_machine_types::commit> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "commit";
    }
};

template <>
struct line_of<batch_machine_types::rollback> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "rollback";
    }
};

template <>
struct line_of<batch_machine_types::check_commit> {
    template <class T>
    [[nodiscard]] static std::string text(const T&)
    {
        return "read back";
    }
};

}  // namespace words

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_FMT_DETAIL_BATCH_STEPS_HPP
