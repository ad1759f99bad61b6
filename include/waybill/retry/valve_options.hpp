// SPDX-License-Identifier: MIT
//
// valve_options: when a circuit breaker stops calls, for how long, and how it allows them again.
//
//     if (auto bad = waybill::check(options)) log(waybill::text(*bad));
//
// The defaults are taken from two guides, read in November 2026:
//   - Polly v8 (https://www.pollydocs.org/strategies/circuit-breaker#defaults): failure ratio 0.1,
//     minimum throughput 100, sampling duration 30 s, break duration 5 s.
//   - resilience4j (https://resilience4j.readme.io/docs/circuitbreaker): 50 % of the last 100
//     calls, however long they take. After successes, these are 50 consecutive failures.
// With these defaults, after 1,000 successful calls, 50 consecutive failures stop the calls, or 112
// failures of 1,112 calls within the period. A circuit breaker with fewer than 100 calls in 30 s
// needs a smaller `min_calls` or `in_a_row`.

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

/// The states of a circuit breaker, with the usual names of the first three.
enum class valve_state : std::uint8_t {
    flowing,    ///< Closed: all calls pass.
    shut,       ///< Open: no call passes until the end of the pause.
    probing,    ///< Half open: some calls pass, to find out if the dependency works again.
    held_open,  ///< All calls pass, whatever their results are, until the caller changes it.
    held_shut,  ///< No call passes until the caller changes it.
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
    /// For `min_calls` or `in_a_row`: disables this rule. Not both may be `never`.
    static constexpr std::uint64_t never = ~std::uint64_t{0};

    /// Share of failed calls within `period` at which calls are stopped. In (0, 1].
    double trip_at = 0.1;
    /// Number of calls within `period` from which `trip_at` applies. At least 1.
    std::uint64_t min_calls = 100;
    /// Time for which calls are counted. Above 0. The last nine to ten tenths of it count.
    duration period = duration::seconds(30);
    /// Number of consecutive failures at which calls are stopped. At least 1.
    std::uint64_t in_a_row = 50;
    /// A permit without a report after this time counts as a failure. Above 0.
    duration timeout = duration::seconds(60);
    /// Pause in the state `shut`. It grows with each failed `probing`.
    backoff shut_for{.base = duration::seconds(5),
                     .cap = duration::seconds(300),
                     .spread = jitter::none};
    /// Number of steps of 1, 2, 4 ... calls in `probing`; then all calls pass. 1 to 32.
    std::uint32_t ramp = 4;
    bool transient_counts = false;  ///< True if a `transient` fault also counts as a failure.

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
