// SPDX-License-Identifier: MIT

#include "check.hpp"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

namespace send_batches {

std::uint64_t fewest(const std::vector<trace>& lines, const destination& to,
                     const waybill::batch_limits& l)
{
    std::uint64_t batches = 0;
    std::uint64_t items = 0;
    std::uint64_t bytes = 0;
    for (const trace& t : lines) {
        const std::uint64_t size = to.size_of(t.size);
        if (!l.fits_alone(size)) continue;
        if (batches == 0 || items == l.items || bytes + size > l.bytes) {
            ++batches;
            items = 0;
            bytes = l.envelope;
        }
        ++items;
        bytes += size;
    }
    return batches;
}

namespace {

/// The number of lines that are in only one of the queue and the accepted lines, in any order.
std::uint64_t differences(std::vector<std::uint64_t> found, const std::vector<trace>& lines,
                          const std::vector<bool>& accepted)
{
    std::vector<std::uint64_t> expected;
    for (std::size_t n = 0; n != lines.size(); ++n)
        if (accepted[n]) expected.push_back(lines[n].sum);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    std::vector<std::uint64_t> differ;
    std::set_symmetric_difference(found.begin(), found.end(), expected.begin(), expected.end(),
                                  std::back_inserter(differ));
    return differ.size();
}

}  // namespace

void check_queue(const destination& to, const std::vector<trace>& lines, results& r)
{
    std::vector<bool> in(lines.size(), true);
    for (const waybill::item_report& i : r.report.outcomes) {
        const bool there = i.outcome == waybill::item_outcome::accepted;
        for (std::uint64_t n = i.items.first; n != i.items.end(); ++n) in[n] = there;
    }
    std::uint64_t at = 0;
    std::uint64_t found = 0;
    std::uint64_t misplaced = 0;
    std::vector<std::uint64_t> sums;
    to.read_back([&](std::string_view body) {
        while (at != lines.size() && !in[at]) ++at;
        ++found;
        sums.push_back(checksum(body));
        if (at == lines.size() || lines[at].sum != sums.back()) ++misplaced;
        if (at != lines.size()) ++at;
    });
    r.checked = true;
    // A line that was sent again after a partial outcome comes after later lines.
    r.in_order = misplaced == 0;
    if (r.partial != 0 && misplaced != 0) misplaced = differences(sums, lines, in);
    if (found != r.report.accepted) {
        r.wrong.push_back(fmt::format("{} lines are in the queue, but {} were accepted", found,
                                      r.report.accepted));
    }
    if (misplaced != 0) {
        r.wrong.push_back(fmt::format("{} lines are not in their place in the queue", misplaced));
    }
}

void check_report(std::uint64_t lines, results& r)
{
    std::vector<bool> ended(lines, false);
    for (const waybill::item_report& i : r.report.outcomes) {
        for (std::uint64_t n = i.items.first; n != i.items.end(); ++n) {
            if (n >= lines || ended[n]) {
                r.wrong.push_back(fmt::format("line {} has two outcomes", r.numbers.of(n)));
                return;
            }
            ended[n] = true;
        }
    }
    for (std::uint64_t n = 0; n != lines; ++n) {
        if (ended[n] || (r.report.stopped && n >= r.report.taken)) continue;
        r.wrong.push_back(fmt::format("line {} has no outcome", r.numbers.of(n)));
        return;
    }
}

}  // namespace send_batches
