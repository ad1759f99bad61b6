// SPDX-License-Identifier: MIT
//
// support: the events, the count of arrivals and the report of the tests of engines.
//
//     const auto events = engines_test::make_events(100'000);
//     engines_test::arrivals found(events);
//     found.add(body);                                  // for each body that the engine returns
//     engines_test::report("kill -9", found, begin, {.missing = at_least(kills, 2, "kills")}, "");
//
// An event is its number, a space and random letters. Its size is lognormal: median 220 bytes, mean
// 300 bytes, the largest of 100,000 about 7 KiB. The key of event n is n % 64.

#ifndef WAYBILL_TESTS_ENGINES_SUPPORT_HPP
#define WAYBILL_TESTS_ENGINES_SUPPORT_HPP

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <support/environment.hpp>

#include <waybill/batch.hpp>
#include <waybill/core/time.hpp>

namespace engines_test {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::uint64_t keys = 64;

/// 100,000, or the value of WAYBILL_EVENTS.
inline std::size_t event_count()
{
    const char* const given = std::getenv("WAYBILL_EVENTS");
    return given != nullptr ? std::strtoull(given, nullptr, 10) : 100'000;
}

inline std::vector<std::string> make_events(std::size_t count)
{
    std::mt19937_64 engine(7);
    std::lognormal_distribution<double> sizes(std::log(220.0), 0.8);
    std::vector<std::string> all;
    all.reserve(count);
    for (std::size_t n = 0; n != count; ++n) {
        std::string body = std::to_string(n) + ' ';
        const auto size = static_cast<std::size_t>(sizes(engine));
        while (body.size() < size) {
            std::uint64_t bits = engine();
            for (int i = 0; i != 12; ++i, bits /= 26) body += static_cast<char>('a' + bits % 26);
        }
        all.push_back(std::move(body));
    }
    return all;
}

inline std::string key_of(std::uint64_t n)
{
    return "k" + std::to_string(n % keys);
}

/// Counts the results of an engine, independently of the adapters.
class arrivals {
public:
    explicit arrivals(const std::vector<std::string>& events)
        : events_(events), counts_(events.size()), last_(keys, -1)
    {
    }

    /// The engine keeps the order of a key, or that of `partition` (below 64) if it is given.
    void add(std::string_view body, std::optional<std::size_t> partition = {})
    {
        std::uint64_t n = 0;
        const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), n);
        if (error != std::errc{} || n >= events_.size() || events_[n] != body) {
            ++damaged_;
            return;
        }
        if (counts_[n]++ != 0) {
            ++repeated_;
            return;
        }
        ++distinct_;
        auto& last = last_.at(partition.value_or(n % keys));
        if (static_cast<std::int64_t>(n) < last) ++out_of_order_;
        last = std::max(last, static_cast<std::int64_t>(n));
    }

    [[nodiscard]] std::uint64_t distinct() const { return distinct_; }
    [[nodiscard]] std::uint64_t lost() const { return events_.size() - distinct_; }
    [[nodiscard]] std::uint64_t repeated() const { return repeated_; }
    [[nodiscard]] std::uint64_t damaged() const { return damaged_; }
    /// First arrivals after a later event of their key or partition.
    [[nodiscard]] std::uint64_t out_of_order() const { return out_of_order_; }
    [[nodiscard]] std::size_t expected() const { return events_.size(); }

private:
    const std::vector<std::string>& events_;
    std::vector<std::uint32_t> counts_;
    std::vector<std::int64_t> last_;
    std::uint64_t distinct_ = 0;
    std::uint64_t repeated_ = 0;
    std::uint64_t damaged_ = 0;
    std::uint64_t out_of_order_ = 0;
};

inline int failures = 0;

/// One line: engine, version, fault, events, seconds, result.
inline void report_line(const std::string& fault, std::size_t events, clock::time_point begin,
                        const std::string& problem, const std::string& detail)
{
    const char* const engine = std::getenv("ENGINE");
    const char* const version = std::getenv("VERSION");
    const double s = std::chrono::duration<double>(clock::now() - begin).count();
    if (!problem.empty()) ++failures;
    std::string text = problem + detail;
    std::replace(text.begin(), text.end(), '\n', ' ');
    std::printf("%-10s %-8s %-42s %7zu %6.1f s  %s: %s\n", engine ? engine : "engine",
                version ? version : "-", fault.c_str(), events, s,
                problem.empty() ? "ok" : "FAILED", text.c_str());
    std::fflush(stdout);
}

/// The promise of an engine and its adapter: the order and the number of arrivals.
struct promise {
    std::uint64_t max_repeated = 0;  ///< Duplicates that were reported as possible.
    bool ordered = true;             ///< First arrivals of a key are in order.
    std::string missing{};           ///< Faults that were too rare, by `at_least`.
};

/// Empty if `count` is at least `least`. Otherwise a text for `promise::missing`.
inline std::string at_least(std::uint64_t count, std::uint64_t least, const std::string& what)
{
    if (count >= least) return {};
    return std::to_string(count) + ' ' + what + " instead of at least " + std::to_string(least) +
           ", ";
}
/// The same for a count that must be 0.
inline std::string none(std::uint64_t count, const std::string& what)
{
    return count == 0 ? std::string() : std::to_string(count) + ' ' + what + ", ";
}

inline void report(const std::string& fault, const arrivals& found, clock::time_point begin,
                   const promise& p, const std::string& detail)
{
    std::string problem;
    const auto add = [&](bool wrong, std::uint64_t n, const char* text) {
        if (wrong) problem += std::to_string(n) + text;
    };
    add(found.lost() != 0, found.lost(), " lost, ");
    add(found.damaged() != 0, found.damaged(), " damaged, ");
    add(found.repeated() > p.max_repeated, found.repeated(), " repeated and not reported, ");
    add(p.ordered && found.out_of_order() != 0, found.out_of_order(), " out of order, ");
    problem += p.missing;
    const std::string counts = found.repeated() == 0
                                   ? std::string("each event once")
                                   : std::to_string(found.repeated()) + " of " +
                                         std::to_string(p.max_repeated) + " reported duplicates";
    report_line(fault, found.expected(), begin, problem,
                (problem.empty() ? counts : std::string()) + (detail.empty() ? "" : "; ") + detail);
}

/// An environment that requests a stop when the flag is set.
struct stoppable : support::standard_environment {
    const std::atomic<bool>* stop = nullptr;
    bool stop_requested() const { return stop != nullptr && *stop; }
    void sleep_until(waybill::steady_time t)
    {
        while (!stop_requested() && now() < t) std::this_thread::sleep_for(milliseconds(5));
    }
};

/// Waits until `holds()` is true, at most for `limit`.
template <class F>
bool wait_for(F holds, seconds limit)
{
    for (const auto until = clock::now() + limit; clock::now() < until;) {
        if (holds()) return true;
        std::this_thread::sleep_for(milliseconds(20));
    }
    return holds();
}

/// The result of `send_everything`.
struct sending_totals {
    std::uint64_t rounds = 0;  ///< Calls of send_all for the whole or a part of the input.
    std::uint64_t sends = 0;
    std::uint64_t maybe_twice = 0;  ///< Items that may be in the engine more than once.
    std::uint64_t faults = 0;       ///< Batches that were not accepted.
    std::uint64_t unknown = 0;      ///< Items of batches whose outcome was unknown.
    std::string text{};             ///< Of the last failure.
    bool complete = false;
};

/// Sends all events with send_all. Sends those that did not arrive again until `limit` ends, as an
/// application with a durable input does. `transmit(bodies, attempt)` is the adapter.
template <class Transmit, class Size>
sending_totals send_everything(const std::vector<std::string>& events, waybill::send_policy policy,
                               const Size& size, Transmit transmit, seconds limit)
{
    support::standard_environment env;
    waybill::batch_sender sender{policy};
    sending_totals t;
    std::vector<std::string_view> left(events.begin(), events.end());
    std::vector<std::string_view> batch_bodies;
    const auto until = clock::now() + limit;
    while (!left.empty() && clock::now() < until) {
        ++t.rounds;
        // A sender that has stopped sends nothing more.
        if (t.rounds != 1) sender = waybill::batch_sender{policy};
        const auto report = waybill::send_all(
            left, [&](std::string_view b) { return size(b.size()); }, sender,
            [&](auto batch) -> waybill::send_outcome {
                batch_bodies.assign(batch.begin(), batch.end());
                auto o = transmit(std::span<const std::string_view>(batch_bodies),
                                  t.rounds * 1'000'000'000 + batch.attempt());
                if (!waybill::holds_alternative<waybill::batch_sender::accepted>(o)) ++t.faults;
                if (waybill::holds_alternative<waybill::batch_sender::outcome_unknown>(o))
                    t.unknown += batch_bodies.size();
                return o;
            },
            env);
        t.sends += report.sends;
        t.maybe_twice += report.maybe_twice;
        std::vector<std::string_view> rest;
        for (const waybill::item_report& r : report.outcomes) {
            if (r.outcome == waybill::item_outcome::accepted) continue;
            t.text = r.text;
            if (r.outcome == waybill::item_outcome::in_doubt) t.maybe_twice += r.items.count;
            for (auto n = r.items.first; n != r.items.end(); ++n) rest.push_back(left[n]);
        }
        for (auto n = report.taken; n < left.size(); ++n) rest.push_back(left[n]);
        std::sort(rest.begin(), rest.end(), [](std::string_view a, std::string_view b) {
            return std::strtoull(a.data(), nullptr, 10) < std::strtoull(b.data(), nullptr, 10);
        });
        if (!rest.empty()) std::this_thread::sleep_for(milliseconds(200));
        left = std::move(rest);
    }
    t.complete = left.empty();
    return t;
}

}  // namespace engines_test

#endif  // WAYBILL_TESTS_ENGINES_SUPPORT_HPP
