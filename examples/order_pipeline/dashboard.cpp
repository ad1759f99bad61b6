// SPDX-License-Identifier: MIT

#include "dashboard.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "shop.hpp"
#include <waybill/session/job.hpp>

namespace order_pipeline {

namespace {

constexpr std::size_t most_lines = 20;
constexpr std::size_t most_signs = 40;

/// "1 2 3 4x 5-"; of an import, only the steps with another mark than done.
std::string marks_of(const row& r)
{
    const bool all = !is_import(r.job);
    constexpr std::size_t most = 8;
    std::string line;
    std::size_t said = 0;
    for (std::size_t n = 0; n != r.marks.size(); ++n) {
        const mark m = r.marks[n];
        const bool done = m == mark::done || m == mark::returned;
        if (!all && (done || m == mark::waiting)) continue;
        if (!all && ++said > most) continue;
        if (!line.empty()) line += ' ';
        line += std::to_string(n + 1);
        if (m == mark::failed) line += 'x';
        if (m == mark::after_failure) line += '-';
        if (m == mark::waiting) line += '.';
    }
    if (said > most) line += fmt::format(" and {} more", said - most);
    return line;
}

/// The sign of the worst of some steps.
char sign_of(const row& r, std::size_t begin, std::size_t end)
{
    char sign = '+';
    for (std::size_t n = begin; n != end; ++n) {
        if (r.marks[n] == mark::failed) return 'x';
        if (r.marks[n] == mark::after_failure) sign = '-';
        if (r.marks[n] == mark::waiting && sign == '+') sign = '.';
    }
    return sign;
}

/// All steps of an import, with a sign for each step or, if there are many, for a few steps.
std::string strip_of(const row& r)
{
    const std::size_t steps = r.marks.size();
    const std::size_t signs = std::min<std::size_t>(steps, most_signs);
    std::string line = "[";
    for (std::size_t n = 0; n != signs; ++n) {
        line += sign_of(r, n * steps / signs, (n + 1) * steps / signs);
    }
    return line + "]";
}

void print_sums(const dashboard& b)
{
    std::uint64_t complete = 0;
    std::uint64_t returned = 0;
    std::uint64_t stopped = 0;
    std::uint64_t letters = 0;
    for (const row& r : b) {
        const std::uint64_t parked = r.count(mark::failed) + r.count(mark::after_failure);
        letters += parked;
        if (r.complete()) ++complete;
        if (r.has_returned()) ++returned;
        if (parked != 0) ++stopped;
    }
    fmt::print("{} of {} complete", support::grouped(complete), support::counted(b.size(), "job"));
    if (returned != 0) fmt::print(", {} of them after a redrive", support::grouped(returned));
    if (stopped != 0) {
        fmt::print("; {} with dead-lettered steps, {} in all", support::grouped(stopped),
                   support::grouped(letters));
    }
    fmt::print("\n");
}

/// Finds the row of a job.
class places {
public:
    explicit places(dashboard& b) : b_(b)
    {
        for (std::size_t n = 0; n != b.size(); ++n) at_.emplace(b[n].job, n);
    }

    /// Null if there is no such job, or it has no such step.
    [[nodiscard]] row* find(std::string_view job, std::uint64_t step) const
    {
        const auto found = at_.find(job);
        if (found == at_.end()) return nullptr;
        row& r = b_[found->second];
        return step != 0 && step <= r.marks.size() ? &r : nullptr;
    }

private:
    dashboard& b_;
    std::map<std::string, std::size_t, std::less<>> at_{};
};

/// The meaning of the numbers, and of the marks in use.
std::string legend_of(const dashboard& b)
{
    std::string line;
    const auto add = [&](std::string_view what, auto&& in_row) {
        if (!std::any_of(b.begin(), b.end(), in_row)) return;
        line.append(line.empty() ? "" : "; ").append(what);
    };
    const auto has = [](mark m) { return [m](const row& r) { return r.count(m) != 0; }; };
    add("1 number, 2 total, 3 payment, 4 receipt, 5 mail",
        [](const row& r) { return !is_import(r.job); });
    add("[] all steps in order, each sign is the worst result of several steps; + done",
        [](const row& r) { return is_import(r.job); });
    add("x failed", has(mark::failed));
    add("- dead-lettered after it", has(mark::after_failure));
    add(". has not run", has(mark::waiting));
    return line;
}

}  // namespace

std::string line_of(const row& r)
{
    std::string line = fmt::format("{:<11}", r.job);
    if (is_import(r.job)) {
        const std::uint64_t parked = r.count(mark::failed) + r.count(mark::after_failure);
        const std::uint64_t settled = r.marks.size() - r.count(mark::waiting);
        line +=
            strip_of(r) + "   " + describe(waybill::job::progress{settled, parked, r.marks.size()});
    }
    if (const std::string marks = marks_of(r); !marks.empty()) {
        if (is_import(r.job)) line += "   ";
        line += marks;
    }
    if (r.session != r.job) line += fmt::format("   redriven as {}", r.session);
    if (!r.why.empty()) line += "   " + r.why;
    return line;
}

std::uint64_t row::count(mark m) const
{
    return static_cast<std::uint64_t>(std::count(marks.begin(), marks.end(), m));
}

bool row::complete() const
{
    return count(mark::done) + count(mark::returned) == marks.size();
}

dashboard read_effects(shop_services& w)
{
    dashboard b;
    for (const job_row& j : w.tables.jobs()) {
        row& r = b.emplace_back();
        r.job = r.session = j.job;
        r.marks.resize(j.total);
    }
    const places rows(b);
    for (const effect_row& e : w.tables.effects()) {
        row* const r = rows.find(e.job, e.step);
        if (r == nullptr) continue;
        r->marks[e.step - 1] = e.session == r->job ? mark::done : mark::returned;
        if (e.session != r->job) r->session = e.session;
    }
    return b;
}

dashboard read_dashboard(shop_services& w)
{
    const auto letters = w.letters.list();
    if (!letters) throw support::complaint(letters.error().text);
    dashboard b = read_effects(w);
    const places rows(b);
    for (const waybill::pipeline_dead_letter& l : *letters) {
        const std::string& job = l.origin.generation == 0 ? l.properties.session : l.origin.session;
        row* const r = rows.find(job, l.properties.step);
        if (r == nullptr) continue;
        r->marks[l.properties.step - 1] = l.is_cause() ? mark::failed : mark::after_failure;
        if (l.is_cause() && r->why.empty()) r->why = l.text;
        if (l.origin.generation != 0) r->session = l.properties.session;
    }
    return b;
}

/// The rows to show: failed and redriven jobs, then the first ones.
std::vector<bool> chosen(const dashboard& b, shown what)
{
    std::vector<bool> lines(b.size());
    std::size_t left = most_lines;
    const auto choose = [&](auto&& which) {
        for (std::size_t n = 0; n != b.size() && left != 0; ++n) {
            if (lines[n] || !which(b[n])) continue;
            lines[n] = true;
            --left;
        }
    };
    if (what == shown::all) choose([](const row& r) { return !r.complete(); });
    choose([](const row& r) { return r.was_sent_again(); });
    if (what == shown::all) choose([](const row&) { return true; });
    return lines;
}

void print(const dashboard& b, shown what)
{
    const std::vector<bool> lines = chosen(b, what);
    std::size_t left_out = 0;
    for (std::size_t n = 0; n != b.size(); ++n) {
        if (lines[n]) fmt::print("{}\n", line_of(b[n]));
        else ++left_out;
    }
    if (left_out != 0) fmt::print("{} are not shown\n", support::counted(left_out, "job"));
    print_sums(b);
    if (const std::string legend = legend_of(b); !legend.empty()) fmt::print("({})\n", legend);
}

}  // namespace order_pipeline
