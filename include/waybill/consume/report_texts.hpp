// SPDX-License-Identifier: MIT
//
// report_texts: the reports of the module's drivers as text, for `describe`.

#ifndef WAYBILL_CONSUME_REPORT_TEXTS_HPP
#define WAYBILL_CONSUME_REPORT_TEXTS_HPP

#include <string>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/batch_outcome.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/describe_position.hpp>
#include <waybill/consume/reprocess_report.hpp>
#include <waybill/consume/rewind.hpp>
#include <waybill/core/describe.hpp>
#include <waybill/core/detail/line.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<batch_report> {
    static std::string text(const auto& r)
    {
        std::string result(name(r.outcome));
        if (r.reached) result += " at " + line(*r.reached);
        if (r.outcome == batch_outcome::committed) {
            result += concat(": ", r.handled, " handled, ", r.dead_lettered, " dead-lettered");
        } else if (!r.reason.ok()) {
            result += ": " + line(r.reason);
        }
        if (r.dropped != 0) result += concat("; ", r.dropped, " dropped");
        if (r.skipped != 0) result += concat("; ", r.skipped, " skipped");
        if (r.repeated != 0) result += concat("; ", r.repeated, " repeated");
        if (r.not_delivered != 0) result += concat("; ", r.not_delivered, " left");
        return result;
    }
};

template <>
struct line_of<at_least_once_report> {
    static std::string text(const auto& r)
    {
        std::string result(name(r.outcome));
        if (r.reached) result += " at " + line(*r.reached);
        const bool shows_counts =
            r.outcome == batch_outcome::committed || r.handled != 0 || r.dead_lettered != 0;
        if (shows_counts)
            result += concat(": ", r.handled, " handled, ", r.dead_lettered, " dead-lettered");
        if (!r.reason.ok()) result += (shows_counts ? "; " : ": ") + line(r.reason);
        if (r.dropped != 0) result += concat("; ", r.dropped, " dropped");
        if (r.skipped != 0) result += concat("; ", r.skipped, " skipped");
        if (r.repeated != 0) result += concat("; ", r.repeated, " repeated");
        if (r.not_committed != 0) result += concat("; ", r.not_committed, " not committed");
        return result;
    }
};

template <>
struct line_of<rewind_report> {
    static std::string text(const auto& r)
    {
        std::string result = concat(name(r.outcome), ": ", line(r.mine));
        if (!r.reason.ok()) result += "; " + line(r.reason);
        return result;
    }
};

template <>
struct line_of<reprocess_report> {
    static std::string text(const auto& r)
    {
        if (r.reason.ok()) return std::string(name(r.outcome));
        return concat(name(r.outcome), ": ", line(r.reason));
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_CONSUME_REPORT_TEXTS_HPP
