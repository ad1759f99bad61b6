// SPDX-License-Identifier: MIT
//
// send_answers: the possible answers of a broker, and the plan of a small schedule.

#ifndef WAYBILL_TESTS_ENUMERATE_BATCH_SEND_ANSWERS_HPP
#define WAYBILL_TESTS_ENUMERATE_BATCH_SEND_ANSWERS_HPP

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <support/send_audit.hpp>

#include <waybill/batch/batch_sender.hpp>

namespace send_schedules {

using namespace waybill;
using send_audit::audit;
using send_audit::event;

// An answer and the data of its spans.
struct answer {
    event what;
    std::vector<batch_sender::entry_fault> entries;
    std::vector<std::uint64_t> sizes;
    std::string name;

    /// True if no item of the batch ends or uses up a try.
    [[nodiscard]] bool only_delays(std::size_t items) const
    {
        if (waybill::holds_alternative<batch_sender::throttled>(what)) return true;
        std::set<std::uint64_t> delayed;
        for (const batch_sender::entry_fault& f : entries) {
            const auto* x = waybill::get_if<batch_sender::failed>(&f.answer);
            if (waybill::holds_alternative<batch_sender::throttled>(f.answer) ||
                (x && (x->kind == fault_kind::infrastructure || x->kind == fault_kind::none)))
                delayed.insert(f.index);
        }
        return delayed.size() == items;
    }

    [[nodiscard]] event on(std::uint64_t attempt) const
    {
        event e = what;
        waybill::match(e, [&](auto& x) { x.attempt = attempt; });
        if (batch_sender::partial* p = waybill::get_if<batch_sender::partial>(&e))
            p->failed = entries;
        if (batch_sender::too_large* r = waybill::get_if<batch_sender::too_large>(&e))
            r->item_sizes = sizes;
        return e;
    }
};

/// The events of a sender beside answers: late, invented or contradictory ones.
enum class hearing : std::uint8_t { answers, noise, all_noise };

struct plan {
    const char* name = "";
    send_policy policy{};
    std::vector<std::uint64_t> sizes{};
    std::vector<std::uint64_t> keys{};          // none: all items have key 0
    std::vector<std::uint64_t> replacements{};  // sizes that may replace an item
    bool streaming = false;  // items arrive one by one between other steps, else all at once
    bool stops = false;      // a stop is possible at every step
    int wide = 0;            // the number of first answers that may be any answer; -1: all
    int narrow = 0;          // the number of further answers from a short list; later ones accept
    hearing noise = hearing::all_noise;
    bool at_once = true;    // an answer may come without `started`
    int resumes = 0;        // keys that may be resumed
    int throttles = -1;     // throttled answers; -1: no limit of their own
    bool canonical = true;  // simulations that differ in names only count as one
    bool numbers = true;    // answers may contain sizes and limits
    // Entries may be throttled, too large or unknown, and a batch of several may fail for good. Both
    // make about six times as many simulations.
    bool all_kinds = true;
};

inline const std::vector<answer>& wide_answers(std::size_t items)
{
    static std::vector<std::vector<answer>> all(8);
    std::vector<answer>& a = all[items];
    if (!a.empty()) return a;
    const auto add = [&](event e, std::string name) {
        a.push_back({std::move(e), {}, {}, std::move(name)});
    };
    add(batch_sender::accepted{}, "accepted");
    add(batch_sender::accepted{.actual = 11 * items}, "accepted, with its size");
    add(batch_sender::too_large{}, "refused");
    add(batch_sender::too_large{.actual = 40, .limit = 25}, "refused, with numbers");
    add(batch_sender::too_large{.actual = 0, .limit = 0}, "refused, with zeros");
    add(batch_sender::too_large{.actual = 3, .limit = unlimited}, "refused, with lies");
    a.push_back({batch_sender::too_large{.actual = 12 * items},
                 {},
                 std::vector<std::uint64_t>(items, 12),
                 "refused, with all sizes"});
    a.push_back({batch_sender::too_large{},
                 {},
                 std::vector<std::uint64_t>(items, unlimited),
                 "refused, with wild sizes"});
    for (std::uint64_t some = 1; some < (std::uint64_t{1} << items); ++some) {
        for (const fault_kind how :
             {fault_kind::transient, fault_kind::permanent, fault_kind::infrastructure,
              fault_kind::ownership_lost, fault_kind::cancelled, fault_kind::none}) {
            std::vector<batch_sender::entry_fault> entries;
            for (std::uint64_t i = 0; i != items; ++i) {
                if ((some >> i) % 2 != 0) entries.push_back({i, how});
            }
            entries.push_back(entries.front());  // reported twice
            a.push_back(
                {batch_sender::partial{},
                 entries,
                 {},
                 "all but " + std::to_string(some) + " " + std::string(waybill::name(how))});
        }
        // The other answers for entries: for one of the first, the last and all.
        if (some == 1 || some == std::uint64_t{1} << (items - 1) ||
            some == (std::uint64_t{1} << items) - 1) {
            using entry = batch_sender::entry_fault;
            for (const entry& kind :
                 {entry(0, batch_sender::throttled{.retry_after = duration::milliseconds(2)}),
                  entry(0, batch_sender::too_large{}), entry(0, batch_sender::outcome_unknown{})}) {
                std::vector<entry> entries;
                for (std::uint64_t i = 0; i != items; ++i) {
                    if ((some >> i) % 2 == 0) continue;
                    entries.push_back(kind);
                    entries.back().index = i;
                }
                a.push_back({batch_sender::partial{},
                             entries,
                             {},
                             "all but " + std::to_string(some) + " answer " +
                                 std::to_string(kind.answer.index())});
            }
        }
        // transient and permanent faults in one answer
        std::vector<batch_sender::entry_fault> mixed;
        for (std::uint64_t i = 0; i != items; ++i) {
            mixed.push_back(
                {i, (some >> i) % 2 != 0 ? fault_kind::transient : fault_kind::permanent});
        }
        a.push_back(
            {batch_sender::partial{}, mixed, {}, "none, " + std::to_string(some) + " for now"});
    }
    add(batch_sender::partial{}, "all but none");
    add(batch_sender::throttled{}, "throttled");
    add(batch_sender::throttled{.retry_after = duration::seconds(5), .random = 0.0},
        "throttled for long");
    for (const fault_kind how :
         {fault_kind::transient, fault_kind::permanent, fault_kind::infrastructure,
          fault_kind::ownership_lost, fault_kind::cancelled}) {
        add(batch_sender::failed{.kind = how}, "failed " + std::string(waybill::name(how)));
    }
    add(batch_sender::outcome_unknown{}, "unknown");
    return a;
}

inline const std::vector<answer>& narrow_answers(std::size_t items)
{
    static std::vector<std::vector<answer>> all(8);
    std::vector<answer>& a = all[items];
    if (!a.empty()) return a;
    a.push_back({batch_sender::accepted{}, {}, {}, "accepted"});
    a.push_back({batch_sender::too_large{}, {}, {}, "refused"});
    a.push_back(
        {batch_sender::partial{}, {{items - 1, fault_kind::transient}}, {}, "all but the last"});
    a.push_back({batch_sender::partial{}, {{0, fault_kind::permanent}}, {}, "all but the first"});
    a.push_back({batch_sender::failed{.kind = fault_kind::transient}, {}, {}, "failed"});
    a.push_back({batch_sender::outcome_unknown{}, {}, {}, "unknown"});
    return a;
}

/// Those of `wide_answers` without numbers; see `plan::all_kinds`.
inline const std::vector<answer>& plain_answers(std::size_t items, bool all_kinds)
{
    static std::vector<std::vector<answer>> all(16);
    std::vector<answer>& a = all[2 * items + (all_kinds ? 1 : 0)];
    if (!a.empty()) return a;
    for (const answer& x : wide_answers(items)) {
        const auto* yes = waybill::get_if<batch_sender::accepted>(&x.what);
        const auto* no = waybill::get_if<batch_sender::too_large>(&x.what);
        if ((yes && yes->actual) || (no && (no->actual || !x.sizes.empty()))) continue;
        const auto* failed = waybill::get_if<batch_sender::failed>(
            x.entries.empty() ? &x.what : &x.entries.front().answer);
        const bool isolates =
            x.entries.empty() && items > 1 && failed && failed->kind == fault_kind::permanent;
        if (all_kinds || (!isolates && (failed || x.entries.empty()))) a.push_back(x);
    }
    return a;
}

inline send_policy policy_of(std::uint32_t in_flight,
                             send_policy::when_unknown u = send_policy::when_unknown::repeat)
{
    send_policy p{
        .limit = {.bytes = 35, .items = 3, .single = 30}, .in_flight = in_flight, .on_unknown = u};
    p.retry = {.max_attempts = 2,
               .pauses = {.base = duration::milliseconds(1), .spread = backoff::jitter::none}};
    return p;
}

}  // namespace send_schedules

#endif  // WAYBILL_TESTS_ENUMERATE_BATCH_SEND_ANSWERS_HPP
