// SPDX-License-Identifier: MIT
//
// describe: batches of events, dead letters, policies, reports, actions and events as text.

#ifndef WAYBILL_CONSUME_DESCRIBE_HPP
#define WAYBILL_CONSUME_DESCRIBE_HPP

#include <string>

#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/dead_letter_run.hpp>
#include <waybill/consume/describe_position.hpp>
#include <waybill/consume/detail/describe_steps.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/prune.hpp>
#include <waybill/consume/prune_policy.hpp>
#include <waybill/consume/report_texts.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/describe.hpp>
#include <waybill/core/detail/decimal.hpp>
#include <waybill/core/detail/line.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<dead_letter> {
    static std::string text(const auto& d)
    {
        std::string result =
            concat(line(d.key), " at ", line(d.at), ": ", name(d.kind), " after ", tries(d.tries));
        if (!d.reason.empty()) result += ": " + one_line(d.reason);
        result += concat(" (dead-lettered ", line(d.dead_lettered_at));
        if (d.occurred != wall_time{}) result += ", occurred " + line(d.occurred);
        if (!d.body.empty()) result += ", " + bytes(d.body.size());
        if (d.kept != dead_letter_body::body) {
            result += concat(", ", name(d.kept), " of ", bytes(d.size));
        }
        return result + ")";
    }
};

template <>
struct line_of<batch_policy> {
    static std::string text(const auto& p)
    {
        std::string result =
            concat(tries(p.tries), ", then ", name(p.on_exhausted), ", ",
                   p.savepoints ? "with" : "without", " savepoints, reasons of at most ",
                   bytes(p.dead_letters.reason_bytes));
        const batch_policy defaults;
        const dead_letter_options& letters = p.dead_letters;
        if (letters.keeps != defaults.dead_letters.keeps)
            result += concat(", dead letters keep ", name(letters.keeps));
        if (letters.body_bytes != defaults.dead_letters.body_bytes)
            result += ", bodies of at most " + bytes(letters.body_bytes);
        if (p.check_commit != defaults.check_commit)
            result += concat(", checks commits: ", name(p.check_commit));
        if (p.decide_all_failed_from != defaults.decide_all_failed_from) {
            result += ", asks from " + counted(p.decide_all_failed_from, "event", "events");
        }
        if (!p.crash_records) result += ", deaths not counted";
        if (p.deaths != defaults.deaths) result += ", " + counted(p.deaths, "death", "deaths");
        return result;
    }
};

template <>
struct line_of<prune_policy::spike_limit> {
    static std::string text(const auto& s)
    {
        if (s.count == unlimited) return "no spike limit";
        return concat("spike ", counted(s.count, "row", "rows"), " within ", line(s.within));
    }
};

template <>
struct line_of<prune_policy> {
    static std::string text(const auto& p)
    {
        std::string result = "keeps " + line(p.age);
        if (p.count != unlimited) result += ", " + counted(p.count, "row", "rows");
        if (p.bytes != unlimited) result += ", " + bytes(p.bytes);
        return result +
               concat(", prunes to ", p.low_water, "; ", line(p.spike), "; ", name(p.full));
    }
};

template <>
struct line_of<idempotency_keys::options> {
    static std::string text(const auto& o)
    {
        return concat("keys of the ", name(o.scope), ", at most ", bytes(o.max_bytes));
    }
};

template <>
struct line_of<at_least_once_policy> {
    static std::string text(const auto& p)
    {
        std::string result = concat(tries(p.tries), ", then ", name(p.on_exhausted));
        if (p.commit_every != unlimited) result += concat(", commits every ", p.commit_every);
        result += ", reasons of at most " + bytes(p.dead_letters.reason_bytes);
        const at_least_once_policy defaults;
        const dead_letter_options& letters = p.dead_letters;
        if (letters.keeps != defaults.dead_letters.keeps)
            result += concat(", dead letters keep ", name(letters.keeps));
        if (letters.body_bytes != defaults.dead_letters.body_bytes)
            result += ", bodies of at most " + bytes(letters.body_bytes);
        if (p.check_commit != defaults.check_commit)
            result += concat(", checks commits: ", name(p.check_commit));
        if (p.decide_all_failed_from == unlimited) result += ", never asks";
        else if (p.decide_all_failed_from != defaults.decide_all_failed_from)
            result += ", asks from " + events(p.decide_all_failed_from);
        return result + "; " + line(p.keys);
    }
};

template <>
struct line_of<crash_record> {
    static std::string text(const auto& a)
    {
        const std::string from = a.from ? concat("after ", *a.from) : "from the beginning";
        std::string result = concat(events(a.suspects), " ", from, " up to ", a.to, ", ",
                                    counted(a.deaths, "death", "deaths"), ", ");
        if (a.incarnation != 0) result += concat("by ", a.incarnation, " of ");
        result += concat("epoch ", a.epoch);
        return result;
    }
};

template <>
struct line_of<prune_plan::removal> {
    static std::string text(const auto& r)
    {
        return concat("remove ", r.id, ": ", name(r.reason), ", ", bytes(r.bytes),
                      ", dead-lettered ", line(r.dead_lettered_at));
    }
};

template <>
struct line_of<prune_plan::totals> {
    static std::string text(const auto& t)
    {
        return concat(counted(t.rows, "row", "rows"), ", ", bytes(t.bytes));
    }
};

template <>
struct line_of<prune_plan> {
    static std::string text(const auto& p)
    {
        if (p.wrong) return concat("remove nothing of ", line(p.before), "; ", line(*p.wrong));
        std::string result = concat("remove ", p.removals.size(), " of ", line(p.before), "; ",
                                    line(p.after), " left");
        if (p.redriving.rows != 0) result += concat("; ", line(p.redriving), " being redriven");
        if (p.spike) result += concat("; spike, ", p.recent, " recent");
        if (p.limit_reached) result += "; a limit is reached";
        if (!p.rows_in_order) result += "; rows not in order";
        return result;
    }
};

template <>
struct line_of<batch_report::dropped_event> {
    static std::string text(const auto& a) { return concat("dropped at ", a.at, ": ", a.reason); }
};

template <>
struct line_of<dead_letter_options> {
    static std::string text(const auto& a)
    {
        std::string result =
            concat("keep ", a.keeps, ", reasons of at most ", bytes(a.reason_bytes));
        if (a.body_bytes != unlimited) result += ", bodies of at most " + bytes(a.body_bytes);
        return result;
    }
};

template <>
struct line_of<event_outcome> {
    static std::string text(const auto& a)
    {
        return a.skipped ? (a.reason.text.empty() ? std::string("skipped")
                                                  : "skipped: " + one_line(a.reason.text))
                         : line(a.reason);
    }
};

template <>
struct line_of<prune_plan::row> {
    static std::string text(const auto& a)
    {
        return fields(concat("row ", a.id), "bytes", a.bytes, "dead-lettered", a.dead_lettered_at,
                      "being redriven", a.redriving);
    }
};

template <>
struct line_of<dead_letter::run_policy> {
    static std::string text(const auto& p)
    {
        std::string result = "dead letters of ";
        result +=
            p.keys.empty() ? "all partitions" : counted(p.keys.size(), "partition", "partitions");
        if (p.kind != fault_kind::none) result += concat(", ", name(p.kind));
        result += p.max_per_second == 0 ? ", at any rate"
                                        : concat(", at most ", p.max_per_second, " each second");
        return result;
    }
};

}  // namespace waybill::inline v0_2::detail::words

#endif  // WAYBILL_CONSUME_DESCRIBE_HPP
