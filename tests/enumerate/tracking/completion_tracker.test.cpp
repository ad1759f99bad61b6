// SPDX-License-Identifier: MIT
//
// All 2^20 subsets of 20 events that can be done, against std::set. The watermark after each
// completion, in three orders. The encoded bytes in each form, cut to every budget, and the state
// that the next owner decodes. The same for all windows of 13 with distant positions, and with
// gaps.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>

#include <waybill/tracking/completion_tracker.hpp>
#include <waybill/tracking/tracker_bytes.hpp>

namespace tracker_windows_test {
namespace {

using waybill::completion_tracker;
using waybill::encoded_done;
using waybill::event_result;
using waybill::tracked_event;
using waybill::detail::tracker_form;

// Fails once, at the first broken rule, and counts the rest: one CHECK each would take hours.
std::uint64_t wrong = 0;

void must(bool holds, const char* what, std::uint64_t pattern)
{
    if (holds) return;
    if (wrong++ < 5) {
        std::printf("window %05llx: not so: %s\n", static_cast<unsigned long long>(pattern), what);
    }
}

// Events in the order of begin, and the ones in flight.
struct model {
    std::optional<std::uint64_t> from;
    std::vector<std::uint64_t> begun;
    std::set<std::uint64_t> open;

    std::optional<std::uint64_t> watermark() const
    {
        std::optional<std::uint64_t> mark = from;
        for (const std::uint64_t s : begun) {
            if (!open.empty() && s >= *open.begin()) break;
            mark = s;
        }
        return mark;
    }
};

struct prepared {
    completion_tracker tracker;
    std::vector<tracked_event> tickets;
    model expected;
};

prepared begun(std::optional<std::uint64_t> from, const std::vector<std::uint64_t>& positions)
{
    prepared p{completion_tracker({}, from), {}, {from, positions, {}}};
    for (const std::uint64_t s : positions) {
        p.tickets.push_back(*p.tracker.begin(s));
        p.expected.open.insert(s);
    }
    return p;
}

// Completes the events of the pattern, in one of three orders, and compares after each.
prepared completed(const prepared& all, std::uint64_t pattern, unsigned order)
{
    prepared p = all;
    const std::size_t n = p.tickets.size();
    for (std::size_t i = 0; i != n; ++i) {
        const std::size_t at = order == 0 ? i : order == 1 ? n - 1 - i : i * 7 % n;
        if ((pattern >> at & 1U) == 0) continue;
        must(p.tracker.complete(p.tickets[at]) == event_result::applied, "in flight, so done",
             pattern);
        p.expected.open.erase(p.tickets[at].sequence);
        must(p.tracker.watermark() == p.expected.watermark(), "the watermark", pattern);
        must(p.tracker.complete(p.tickets[at]) == event_result::stale, "done once", pattern);
    }
    must(p.tracker.in_flight() == p.expected.open.size(), "in flight", pattern);
    return p;
}

// The next owner decodes the bytes, event by event. The first `kept` completed events are known as
// done. Events after `cut` and events in flight are begun again. In the end all are done.
void taken_over(const prepared& p, std::string_view bytes, std::uint64_t kept,
                std::uint64_t pattern)
{
    const std::optional<std::uint64_t> mark = p.tracker.watermark();
    const auto start = waybill::decode(mark, bytes);
    must(start.has_value(), "what was written is read", pattern);
    if (!start) return;
    completion_tracker next;
    next.resume(*start);
    must(next.watermark() == mark, "the watermark is kept", pattern);
    if (!bytes.empty()) {
        must(next.resume_at() == p.tracker.resume_at(), "and the next position", pattern);
        must(waybill::encode(next).bytes == bytes, "written again, it is the same", pattern);
    }
    std::vector<tracked_event> again;
    for (const std::uint64_t s : p.expected.begun) {
        if (mark && s <= *mark) {
            must(next.begin(s).error() == completion_tracker::track_error::behind,
                 "an event below the watermark is refused", pattern);
            continue;
        }
        const bool done = !p.expected.open.contains(s) && kept != 0;
        if (done) --kept;
        const auto t = next.begin(s);
        must(t.has_value() != done, "done before or not", pattern);
        if (t) again.push_back(*t);
        else
            must(t.error() == completion_tracker::track_error::done_before,
                 "the error is done_before", pattern);
    }
    must(kept == 0, "the number of kept events is exact", pattern);
    for (std::size_t i = again.size(); i != 0; --i) (void)next.complete(again[i - 1]);
    must(next.watermark() == p.expected.begun.back(), "all are done in the end", pattern);
}

struct counted {
    std::uint64_t windows = 0;
    std::uint64_t forms[4] = {};
    std::uint64_t longest = 0;
};

void every_window(const prepared& all, bool every_budget, counted& sum)
{
    const std::uint64_t windows = std::uint64_t{1} << all.tickets.size();
    for (std::uint64_t pattern = 0; pattern != windows; ++pattern) {
        const prepared p = completed(all, pattern, 0);
        must(completed(all, pattern, 1).tracker == p.tracker,
             "the tracker is the same in any order", pattern);
        must(completed(all, pattern, 2).tracker == p.tracker,
             "the tracker is the same in any order", pattern);
        const auto whole = waybill::encode(p.tracker);
        must(whole.outcome == encoded_done::encoded_as::whole && whole.dropped == 0,
             "all of it fits", pattern);
        must(whole.bytes.size() == waybill::encoded_done::full_size(p.tracker),
             "full_size is exact", pattern);
        taken_over(p, whole.bytes, whole.kept, pattern);
        ++sum.windows;
        if (!whole.bytes.empty()) ++sum.forms[static_cast<unsigned char>(whole.bytes[0]) & 3U];
        sum.longest = std::max<std::uint64_t>(sum.longest, whole.bytes.size());
        if (!every_budget) continue;
        std::uint64_t kept = 0;
        for (std::uint64_t most = 0; most <= whole.bytes.size(); ++most) {
            const auto cut = waybill::encode(p.tracker, {.max_bytes = most});
            must(cut.bytes.size() <= most, "within the budget", pattern);
            must(cut.kept >= kept, "more room keeps more", pattern);
            must(cut.kept + cut.dropped == whole.kept, "all are counted", pattern);
            kept = cut.kept;
            taken_over(p, cut.bytes, cut.kept, pattern);
        }
        must(kept == whole.kept, "in the end all", pattern);
    }
}

std::vector<std::uint64_t> row(std::uint64_t first, std::uint64_t step, std::uint64_t many)
{
    std::vector<std::uint64_t> r;
    for (std::uint64_t n = 0; n != many; ++n) r.push_back(first + n * step);
    return r;
}

}  // namespace

TEST_CASE("completion_tracker: all windows of 20 events equal a std::set model")
{
    constexpr std::uint64_t many = tests_support::brief ? 12 : 20;
    wrong = 0;
    counted sum;
    every_window(begun(41, row(42, 1, many)), false, sum);
    CHECK(wrong == 0);
    std::printf("%llu windows; runs %llu, open %llu, done %llu, bits %llu; at most %llu bytes\n",
                static_cast<unsigned long long>(sum.windows),
                static_cast<unsigned long long>(sum.forms[0]),
                static_cast<unsigned long long>(sum.forms[1]),
                static_cast<unsigned long long>(sum.forms[2]),
                static_cast<unsigned long long>(sum.forms[3]),
                static_cast<unsigned long long>(sum.longest));
}

TEST_CASE(
    "completion_tracker: all windows of 13 events, cut to every budget, equal a std::set "
    "model")
{
    constexpr std::uint64_t many = tests_support::brief ? 8 : 13;
    constexpr std::uint64_t last = ~std::uint64_t{0};
    wrong = 0;
    counted sum;
    every_window(begun({}, row(0, 1, many)), true, sum);
    every_window(begun({}, row(7, 3, many)), true, sum);
    every_window(begun(last - many, row(last - many + 1, 1, many)), true, sum);
    const prepared sparse = begun(99, row(100, 1'000'003, many));
    CHECK(!sparse.tracker.dense());
    every_window(sparse, true, sum);
    every_window(begun(1, row(last - (many - 1) * 1'000, 1'000, many)), true, sum);
    std::vector<std::uint64_t> apart = row(1, 1, many / 2);
    for (const std::uint64_t s : row(std::uint64_t{1} << 62U, 1, many - many / 2)) {
        apart.push_back(s);
    }
    every_window(begun(0, apart), true, sum);
    CHECK(wrong == 0);
    CHECK(sum.windows == (std::uint64_t{6} << many));
}

}  // namespace tracker_windows_test
