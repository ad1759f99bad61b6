// SPDX-License-Identifier: MIT
//
// ext/fmt/consume: checkpoints, dead letters, policies, reports and actions of consumers as lines.

#ifndef WAYBILL_EXT_FMT_CONSUME_HPP
#define WAYBILL_EXT_FMT_CONSUME_HPP


#include <string>
#include <waybill/consume/at_least_once.hpp>
#include <waybill/consume/batch_machine.hpp>
#include <waybill/consume/batch_outcome.hpp>
#include <waybill/consume/batch_policy.hpp>
#include <waybill/consume/batch_report.hpp>
#include <waybill/consume/batch_steps.hpp>
#include <waybill/consume/crash_record.hpp>
#include <waybill/consume/dead_letter_run.hpp>
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/process_at_least_once.hpp>
#include <waybill/consume/prune.hpp>
#include <waybill/consume/prune_policy.hpp>
#include <waybill/consume/reprocess.hpp>
#include <waybill/consume/rewind.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/batch_steps.hpp>
#include <waybill/ext/fmt/detail/line.hpp>
#include <waybill/ext/fmt/detail/package.hpp>

namespace waybill::inline v0_2::detail::words {

template <>
struct line_of<advance_outcome> : enumerator_line {};
template <>
struct line_of<batch_outcome> : enumerator_line {};
template <>
struct line_of<at_least_once_machine::checkpoint_found> : enumerator_line {
};
template <>
struct line_of<batch_policy::commit_check> : enumerator_line {};
template <>
struct line_of<commit_outcome> : enumerator_line {};
template <>
struct line_of<dead_letter_body> : enumerator_line {};
template <>
struct line_of<idempotency_options::scope_type> : enumerator_line {};
template <>
struct line_of<if_all_failed> : enumerator_line {};
template <>
struct line_of<prune_policy::when_full> : enumerator_line {};
template <>
struct line_of<prune_plan::removal::limit> : enumerator_line {};
template <>
struct line_of<reprocess_outcome> : enumerator_line {};
template <>
struct line_of<rewind_outcome> : enumerator_line {};
template <>
struct line_of<batch_policy::when_exhausted> : enumerator_line {};

template <>
struct line_of<batch_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        std::string result(name(r.outcome));
        if (r.reached) result += " at " + line(*r.reached);
        if (r.outcome == batch_outcome::committed) {
            result += fmt::format(": {} handled, {} dead-lettered", r.handled, r.dead_lettered);
        } else if (!r.reason.ok()) {
            result += ": " + line(r.reason);
        }
        if (r.dropped != 0) result += fmt::format("; {} dropped", r.dropped);
        if (r.skipped != 0) result += fmt::format("; {} skipped", r.skipped);
        if (r.repeated != 0) result += fmt::format("; {} repeated", r.repeated);
        if (r.not_delivered != 0) result += fmt::format("; {} left", r.not_delivered);
        return result;
    }
};

template <>
struct line_of<dead_letter> {
    template <class T>
    [[nodiscard]] static std::string text(const T& d)
    {
        std::string result = fmt::format("{} at {}: {} after {}", line(d.key), line(d.at),
                                         name(d.kind), counted(d.tries, "try", "tries"));
        if (!d.reason.empty()) result += ": " + one_line(d.reason);
        result += fmt::format(" (dead-lettered {}", line(d.dead_lettered_at));
        if (d.occurred != wall_time{}) result += ", occurred " + line(d.occurred);
        if (!d.body.empty()) result += ", " + bytes(d.body.size());
        if (d.kept != dead_letter_body::body) {
            result += fmt::format(", {} of {}", name(d.kept), bytes(d.size));
        }
        return result + ")";
    }
};

template <>
struct line_of<batch_policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        std::string result =
            fmt::format("{}, then {}, {} savepoints, reasons of at most {}",
                        counted(p.tries, "try", "tries"), name(p.on_exhausted),
                        p.savepoints ? "with" : "without", bytes(p.dead_letters.reason_bytes));
        const batch_policy defaults;
        const dead_letter_options& letters = p.dead_letters;
        if (letters.keeps != defaults.dead_letters.keeps)
            result += fmt::format(", letters keep {}", name(letters.keeps));
        if (letters.body_bytes != defaults.dead_letters.body_bytes)
            result += ", bodies of at most " + bytes(letters.body_bytes);
        if (p.check_commit != defaults.check_commit)
            result += fmt::format(", read back {}", name(p.check_commit));
        if (p.decide_all_failed_from != defaults.decide_all_failed_from) {
            result += ", ask from " + counted(p.decide_all_failed_from, "event", "events");
        }
        if (!p.crash_records) result += ", deaths not counted";
        if (p.deaths != defaults.deaths) result += ", " + counted(p.deaths, "death", "deaths");
        return result;
    }
};

template <>
struct line_of<prune_policy::spike_limit> {
    template <class T>
    [[nodiscard]] static std::string text(const T& s)
    {
        if (s.count == unlimited) return "no spike";
        return fmt::format("spike {} within {}", counted(s.count, "row", "rows"), line(s.within));
    }
};

template <>
struct line_of<prune_policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        std::string result = "keeps " + line(p.age);
        if (p.count != unlimited) result += ", " + counted(p.count, "row", "rows");
        if (p.bytes != unlimited) result += ", " + bytes(p.bytes);
        return result +
               fmt::format(", prunes to {}; {}; {}", p.low_water, line(p.spike), name(p.full));
    }
};

template <>
struct line_of<idempotency_options> {
    template <class T>
    [[nodiscard]] static std::string text(const T& o)
    {
        return fmt::format("keys of the {}, at most {}", name(o.scope), bytes(o.max_bytes));
    }
};

template <>
struct line_of<at_least_once_policy> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        std::string result =
            fmt::format("{}, then {}", counted(p.tries, "try", "tries"), name(p.on_exhausted));
        if (p.commit_every != unlimited)
            result += fmt::format(", commits every {}", p.commit_every);
        result += ", reasons of at most " + bytes(p.dead_letters.reason_bytes);
        const at_least_once_policy defaults;
        const dead_letter_options& letters = p.dead_letters;
        if (letters.keeps != defaults.dead_letters.keeps)
            result += fmt::format(", letters keep {}", name(letters.keeps));
        if (letters.body_bytes != defaults.dead_letters.body_bytes)
            result += ", bodies of at most " + bytes(letters.body_bytes);
        if (p.check_commit != defaults.check_commit)
            result += fmt::format(", read back {}", name(p.check_commit));
        if (p.decide_all_failed_from == unlimited)
            result += ", never asks";
        else if (p.decide_all_failed_from != defaults.decide_all_failed_from)
            result += ", asks from " + events(p.decide_all_failed_from);
        return result + "; " + line(p.keys);
    }
};

template <>
struct line_of<crash_record> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        const std::string from = a.from ? fmt::format("after {}", *a.from) : "from the beginning";
        std::string result = fmt::format("{} {} up to {}, {}, ", events(a.suspects), from, a.to,
                                         counted(a.deaths, "death", "deaths"));
        if (a.incarnation != 0) result += fmt::format("by {} of ", a.incarnation);
        result += fmt::format("epoch {}", a.epoch);
        return result;
    }
};

template <>
struct line_of<at_least_once_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        std::string result(name(r.outcome));
        if (r.reached) result += " at " + line(*r.reached);
        const bool shows_counts =
            r.outcome == batch_outcome::committed || r.handled != 0 || r.dead_lettered != 0;
        if (shows_counts)
            result += fmt::format(": {} handled, {} dead-lettered", r.handled, r.dead_lettered);
        if (!r.reason.ok()) result += (shows_counts ? "; " : ": ") + line(r.reason);
        if (r.dropped != 0) result += fmt::format("; {} dropped", r.dropped);
        if (r.skipped != 0) result += fmt::format("; {} skipped", r.skipped);
        if (r.repeated != 0) result += fmt::format("; {} repeated", r.repeated);
        if (r.not_committed != 0) result += fmt::format("; {} not committed", r.not_committed);
        return result;
    }
};

template <>
struct line_of<rewind_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        std::string result = fmt::format("{}: {}", name(r.outcome), line(r.mine));
        if (!r.reason.ok()) result += "; " + line(r.reason);
        return result;
    }
};

template <>
struct line_of<reprocess_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        if (r.reason.ok()) return std::string(name(r.outcome));
        return fmt::format("{}: {}", name(r.outcome), line(r.reason));
    }
};

template <>
struct line_of<dead_letter::run_report> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return one_line(describe(r));
    }
};

template <>
struct line_of<dead_letter::run_report::failed_letter> {
    template <class T>
    [[nodiscard]] static std::string text(const T& l)
    {
        return one_line(describe(l));
    }
};

template <>
struct line_of<dead_letter::run_report::run_outcome> : enumerator_line {};

template <>
struct line_of<at_least_once_machine::commit_to> {
    template <class T>
    [[nodiscard]] static std::string text(const T& a)
    {
        return fmt::format("commit to event {}", a.event);
    }
};

template <>
struct line_of<prune_plan::removal> {
    template <class T>
    [[nodiscard]] static std::string text(const T& r)
    {
        return fmt::format("remove {}: {}, {}, dead-lettered {}", r.id, name(r.reason),
                           bytes(r.bytes), line(r.dead_lettered_at));
    }
};

template <>
struct line_of<prune_plan::totals> {
    template <class T>
    [[nodiscard]] static std::string text(const T& t)
    {
        return fmt::format("{}, {}", counted(t.rows, "row", "rows"), bytes(t.bytes));
    }
};

template <>
struct line_of<prune_plan> {
    template <class T>
    [[nodiscard]] static std::string text(const T& p)
    {
        if (p.wrong) return fmt::format("remove nothing of {}; {}", line(p.before), line(*p.wrong));
        std::string result = fmt::format("remove {} of {}; {} left", p.removals.size(),
                                         line(p.before), line(p.after));
        if (p.redriving.rows != 0) result += fmt::format("; {} being redriven", line(p.redriving));
        if (p.spike) result += fmt::format("; spike, {} recent", p.recent);
        if (p.limit_reached) result += "; a limit is reached";
        if (!p.rows_in_order) result += "; rows not in order";
        return result;
    }
};

template <>
struct line_of<batch_machine::action> : action_line {};
template <>
struct line_of<at_least_once_machine::action> : action_line {};

}  // namespace waybill::inline v0_2::detail::words
#include <waybill/consume/describe.hpp>
#include <waybill/ext/fmt/core.hpp>
#include <waybill/ext/fmt/detail/line.hpp>

// Full specialisations: only those take precedence over the partial specialisations for variants
// and ranges in the headers of {fmt}.
template <>
struct fmt::formatter<waybill::batch_machine::action>
    : waybill::detail::line_formatter<waybill::batch_machine::action> {};
template <>
struct fmt::formatter<waybill::at_least_once_machine::action>
    : waybill::detail::line_formatter<waybill::at_least_once_machine::action> {};

#endif  // WAYBILL_EXT_FMT_CONSUME_HPP
