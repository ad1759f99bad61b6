// SPDX-License-Identifier: MIT

#include "session.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>
#include <thread>

#include <fmt/format.h>

#include "../support/program.hpp"

namespace autoscaler {

namespace {

constexpr std::size_t half_of_all = 10'000;

volatile std::sig_atomic_t over = 0;

stored kept_in(const options& o, const rules& r)
{
    if (o.state.empty()) return {};
    return read_state(o.state, r).value_or(stored());
}

}  // namespace

session::session(const options& o, const rules& r)
    : o_(o),
      r_(r),
      kept_(kept_in(o, r)),
      records_(o.records, kept_.record_bytes),
      start_(kept_.known)
{
}

waybill::wall_time session::now()
{
    return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

std::vector<row> session::rows_of(const std::string& resource, const engines::depth_reading& d)
{
    if (!d) {
        ++unknown_;
        if (!was_unknown_) support::say(fmt::format("{}: unknown: {}\n", resource, d.error()));
        was_unknown_ = true;
        return {};
    }
    if (std::exchange(was_unknown_, false)) support::say(resource + ": known again\n");
    const waybill::wall_time at = now();
    const auto one = [&](std::string metric, std::uint64_t value) {
        return row{at, resource, std::move(metric), static_cast<double>(value), {}, 0};
    };
    std::vector<row> rows{one("backlog", d->ready), one("in_flight", d->in_flight)};
    if (d->age) rows.push_back(one("age", *d->age));
    return rows;
}

const std::vector<decided>& session::turn(std::vector<row> rows, std::vector<head_count> counted)
{
    forget_the_oldest();
    // If the system clock was set back, a decision has the time of the previous one.
    waybill::wall_time at = now();
    if (kept_.known.now) at = std::max(at, *kept_.known.now);
    rows_.push_back(std::move(rows));
    ticks_.push_back({.now = at,
                      .rows = rows_.back(),
                      .answers = std::exchange(answers_, {}),
                      .counted = std::move(counted)});
    intake told_later;
    made_.push_back(step(kept_.known, r_, ticks_.back(), told_later));
    report_decisions(o_, records_, made_.back());
    kept_.record_bytes = records_.bytes();
    if (!o_.state.empty()) write_state(o_.state, text_of(kept_, r_), true);
    return made_.back();
}

void session::forget_the_oldest()
{
    if (ticks_.size() == half_of_all) middle_ = kept_.known;
    if (ticks_.size() != 2 * half_of_all) return;
    start_ = std::exchange(middle_, kept_.known);
    rows_.erase(rows_.begin(), rows_.begin() + half_of_all);
    ticks_.erase(ticks_.begin(), ticks_.begin() + half_of_all);
    made_.erase(made_.begin(), made_.begin() + half_of_all);
}

int session::end(std::vector<std::string> flaws, std::string remarks)
{
    if (unknown_ != 0) {
        remarks += fmt::format("{} for the depth of the queue failed; their metrics were unknown\n",
                               support::counted(unknown_, "request"));
    }
    const run_so_far run{.made = made_,
                         .first = 0,
                         .start = start_,
                         .known = kept_.known,
                         .flaws = std::move(flaws),
                         .remarks = std::move(remarks)};
    return conclude(o_, r_, ticks_, run);
}

bool is_over()
{
    return over != 0;
}

int ending_signal()
{
    return over;
}

void end_on_request()
{
    struct sigaction end = {};
    end.sa_handler = [](int signal) { over = signal; };
    end.sa_flags = SA_RESTART;
    struct sigaction before = {};
    sigaction(SIGHUP, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &end, nullptr);
    sigaction(SIGINT, &end, nullptr);
    sigaction(SIGTERM, &end, nullptr);
}

waybill::steady_time steady_now()
{
    return std::chrono::steady_clock::now();
}

void sleep_until(waybill::steady_time due)
{
    // Sleeps in pieces: a signal just before a sleep does not interrupt it.
    while (!is_over() && steady_now() < due) {
        const waybill::duration left = due - steady_now();
        const waybill::duration piece = std::min(left, waybill::duration::milliseconds(50));
        std::this_thread::sleep_for(std::chrono::nanoseconds(piece));
    }
}

}  // namespace autoscaler
