// SPDX-License-Identifier: MIT
//
// ext/fmt/detail/position: partitions, positions and checkpoints as lines.

#ifndef WAYBILL_EXT_FMT_DETAIL_POSITION_HPP
#define WAYBILL_EXT_FMT_DETAIL_POSITION_HPP

#include <string>

#include <waybill/ext/fmt/detail/package.hpp>

#include <waybill/consume/position.hpp>
#include <waybill/ext/fmt/detail/line.hpp>

namespace waybill::inline v0_2::detail {

namespace words {

template <>
struct line_of<partition_key> {
    template <class T>
    [[nodiscard]] static std::string text(const T& k)
    {
        return fmt::format("{}/{}/{}", one_line(k.source), one_line(k.group),
                           one_line(k.partition));
    }
};

template <>
struct line_of<position> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        if (p.offset.empty()) return fmt::format("{}", p.sequence);
        return fmt::format("{} (offset {})", p.sequence, one_line(p.offset));
    }
};

template <>
struct line_of<checkpoint> {
    template <class T>
    [[nodiscard]] static std::string text(const T& c)
    {
        return fmt::format("at {}, epoch {}", line(c.at), c.epoch);
    }
};

template <>
struct line_of<assignment> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        const std::string from = a.from ? "after " + line(*a.from) : "from the beginning";
        return fmt::format("{} {}, epoch {}", line(a.key), from, a.epoch);
    }
};

}  // namespace words

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_FMT_DETAIL_POSITION_HPP
