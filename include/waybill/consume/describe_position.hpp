// SPDX-License-Identifier: MIT
//
// describe_position: partitions, positions and checkpoints as text.

#ifndef WAYBILL_CONSUME_DESCRIBE_POSITION_HPP
#define WAYBILL_CONSUME_DESCRIBE_POSITION_HPP

#include <string>

#include <waybill/consume/position.hpp>
#include <waybill/core/describe.hpp>
#include <waybill/core/detail/line.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<partition_key> {
    static std::string text(const auto& k)
    {
        return concat(one_line(k.source), "/", one_line(k.group), "/", one_line(k.partition));
    }
};

template <>
struct line_of<position> {
    static std::string text(const auto& p)
    {
        if (p.offset.empty()) return concat(p.sequence);
        return concat(p.sequence, " (offset ", one_line(p.offset), ")");
    }
};

template <>
struct line_of<checkpoint> {
    static std::string text(const auto& c)
    {
        return concat("at ", line(c.at), ", epoch ", c.epoch);
    }
};

template <>
struct line_of<assignment> {
    static std::string text(const auto& a)
    {
        const std::string from = a.from ? "after " + line(*a.from) : "from the beginning";
        return concat(line(a.key), " ", from, ", epoch ", a.epoch);
    }
};

template <>
struct line_of<assignment::delivery_memory> {
    static std::string text(const auto& a)
    {
        return fields("last delivery", "handlers return reports", a.report_returned, "exceptions",
                      a.exceptions, "event", a.event);
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_CONSUME_DESCRIBE_POSITION_HPP
