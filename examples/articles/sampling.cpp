// SPDX-License-Identifier: MIT
//
// sampling: estimates the number of events on each day from sampled telemetry.
//
//     sampling < FILE           rows of Application Insights, one JSON object a line
//     sampling NAME < FILE      only the rows with this name
//
// A row represents itemCount events. A row of a custom event with its own count represents
// customMeasurements.count * itemCount events. Rows without a duration count, too. The last 22 days
// are printed, each with the same weekday of the week before.

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <waybill/core/time_text.hpp>
#include <waybill/ext/chrono.hpp>
#include <waybill/window.hpp>

using namespace std::chrono_literals;
using nlohmann::json;

int main(int argc, char** argv)
{
    constexpr waybill::duration day = 24h;
    waybill::log_histogram<> milliseconds;
    std::optional<waybill::wall_time> newest;
    std::uint64_t unread = 0;
    //! [sampling]
    waybill::bins<waybill::weighted_stats<double>> daily(day);
    for (std::string line; std::getline(std::cin, line);) {
        try {
            const json row = json::parse(line);
            if (argc > 1 && row.at("name") != argv[1]) continue;
            const auto at = waybill::parse_wall_time(row.at("timestamp").get<std::string>());
            const json ms = row.value("duration", json());
            const double count = row.value("/customMeasurements/count"_json_pointer, 1.0);
            const double items = row.at("itemCount").get<double>();
            const std::uint64_t weight = items >= 1 && items < 4e9 ? std::uint64_t(items) : 0;
            if (!at || daily.add(*at, count, weight) != waybill::binned::added) {
                ++unread;
                continue;
            }
            if (ms.is_number()) milliseconds.add(ms.get<double>(), weight);
            newest = std::max(newest.value_or(*at), *at);
        } catch (const json::exception&) {
            ++unread;
        }
    }
    //! [sampling]
    fmt::print("day           rows     events  recorded  a week before\n");
    for (const auto& d : daily.with_gaps()) {
        if (d.from < daily.at(*newest).from - day * 21) continue;
        const double events = d.measure.sum().value_or(0);
        const auto before = daily.at(d.from - day * 7).measure.sum();
        fmt::print("{}  {:6} {:10} {:8.1f}%  {}\n", to_text(d.from).substr(0, 10), d.measure.points,
                   events, d.measure.sampling_rate().value_or(0),
                   before ? fmt::format("{:+.1f} %", 100 * (events / *before - 1)) : "unknown");
    }
    fmt::print("95 % took at most {} ms; ", milliseconds.quantile(0.95).value_or(0));
    fmt::print("{} lines are no rows\n", unread);
}
