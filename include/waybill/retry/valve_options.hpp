// SPDX-License-Identifier: MIT
//
// valve_options: when a valve shuts, for how long, and how carefully it opens again.
//
//     if (auto bad = waybill::check(options)) log(waybill::text(*bad));
//
// The defaults are those of two guides, read in November 2026:
//   - Polly v8 (https://www.pollydocs.org/strategies/circuit-breaker#defaults): a failure ratio of
//     0.1, a minimum throughput of 100, a sampling duration of 30 s, a break duration of 5 s;
//   - resilience4j (https://resilience4j.readme.io/docs/circuitbreaker): 50 % of the last 100 calls,
//     however long they take. After a success that is 50 failures in a row.
// So after 1,000 calls that worked, 50 failures in a row shut the valve, or 112 of 1,112 within the
// period. A valve that sees fewer than 100 calls in 30 s needs a smaller `min_calls` or `in_a_row`.

#ifndef WAYBILL_RETRY_VALVE_OPTIONS_HPP
#define WAYBILL_RETRY_VALVE_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/check.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>
#include <waybill/retry/nanoseconds.hpp>

namespace waybill::inline v0_2 {

enum class valve_state : std::uint8_t {
    flowing,    ///< All may pass.
    shut,       ///< None may, until a time.
    probing,    ///< Some may, to find out.
    held_open,  ///< All may, whatever happens, until somebody says otherwise.
    held_shut,  ///< None may, likewise.
};

[[nodiscard]] constexpr std::string_view name(valve_state s) noexcept
{
    switch (s) {
        case valve_state::flowing: return "flowing";
        case valve_state::shut: return "shut";
        case valve_state::probing: return "probing";
        case valve_state::held_open: return "held_open";
        case valve_state::held_shut: return "held_shut";
    }
    return "?";
}

struct valve_options {
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    double trip_at = 0.1;                      ///< Shuts where at least this share of calls failed
    std::uint64_t min_calls = 100;             ///< of at least this many (`never`: not by share)
    duration period = duration::seconds(30);   ///< within about this time;
    std::uint64_t in_a_row = 50;               ///< or if this many failed in a row
                                               ///< (`never`: not by that; not both).
    duration timeout = duration::seconds(60);  ///< A permit not reported by then counts as failed.
    backoff shut_for{.base = duration::seconds(5),  ///< Grows with each round of failed probes.
                     .cap = duration::seconds(300),
                     .spread = jitter::none};
    std::uint32_t ramp = 4;         ///< Steps of 1, 2, 4 ... calls, and then all; 0 reads as 1.
    bool transient_counts = false;  ///< A transient fault counts as failed, too.

    friend bool operator==(const valve_options&, const valve_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const valve_options& o) noexcept
{
    const auto positive = [](const char* field, duration d) -> std::optional<config_error> {
        if (d > duration{}) return {};
        return config_error{field, detail::magnitude(d), "nanoseconds must be more than", 0,
                            d < duration{}};
    };
    if (!(o.trip_at > 0 && o.trip_at <= 1)) {
        return detail::wrong_share("valve.trip_at", o.trip_at,
                                   "must be a number of thousandths above 0, and at most", 1'000);
    }
    if (o.min_calls == 0) return config_error{"valve.min_calls", 0, "must be at least", 1};
    if (const auto bad = positive("valve.period", o.period)) return bad;
    if (o.in_a_row == 0) return config_error{"valve.in_a_row", 0, "must be at least", 1};
    if (o.min_calls == valve_options::never && o.in_a_row == valve_options::never) {
        return config_error{"valve.in_a_row", o.in_a_row,
                            "or min_calls must be less than never, or it never shuts",
                            valve_options::never};
    }
    if (const auto bad = positive("valve.timeout", o.timeout)) return bad;
    if (o.ramp == 0) return config_error{"valve.ramp", 0, "must be at least", 1};
    if (o.ramp > 32) return config_error{"valve.ramp", o.ramp, "must be at most", 32};
    return check(o.shut_for);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_VALVE_OPTIONS_HPP
