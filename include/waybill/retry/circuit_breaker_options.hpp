// SPDX-License-Identifier: MIT
//
// circuit_breaker::config: the conditions under which a circuit breaker stops calls and allows them
// again.
//
//     if (auto bad = waybill::validate(options)) log(waybill::describe(*bad));
//
// These defaults are taken from two guides, read in November 2026:
//   - Polly v8 (https://www.pollydocs.org/strategies/circuit-breaker#defaults): failure ratio 0.1,
//     minimum throughput 100, sampling duration 30 s, break duration 5 s.
//   - resilience4j (https://resilience4j.readme.io/docs/circuitbreaker): 50 % of the last 100
//     calls, however long they take. After successful calls, 50 consecutive failures reach it.
// With these defaults, after 1,000 successful calls, 50 consecutive failures stop the calls, or 112
// failures of 1,112 calls within the period. A circuit breaker with fewer than 100 calls in 30 s
// needs a smaller `minimum_throughput` or `consecutive_failures`.

#ifndef WAYBILL_RETRY_CIRCUIT_BREAKER_OPTIONS_HPP
#define WAYBILL_RETRY_CIRCUIT_BREAKER_OPTIONS_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/time.hpp>
#include <waybill/retry/backoff.hpp>

namespace waybill::inline v0_2 {

/// The types of a `circuit_breaker`, which inherits them.
struct circuit_breaker_types {
    /// The states of a circuit breaker.
    enum class circuit_state : std::uint8_t {
        closed,     ///< All calls pass.
        open,       ///< No call passes until the end of the pause.
        half_open,  ///< Some calls pass, to find out if the dependency works again.
        /// All calls pass, whatever their results are, until the caller changes it.
        forced_closed,
        forced_open,  ///< No call passes until the caller changes it.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(circuit_state) noexcept
    {
        return "closed, open, half_open, forced_closed, forced_open";
    }

    struct config {
        /// For `minimum_throughput` or `consecutive_failures`: disables this rule. Not both may be
        /// `never`.
        static constexpr std::uint64_t never = ~std::uint64_t{0};

        /// Share of failed calls within `sampling_duration` at which calls are stopped. In (0, 1].
        double failure_ratio = 0.1;
        /// Number of calls within `sampling_duration` from which `failure_ratio` applies. At least
        /// 1.
        std::uint64_t minimum_throughput = 100;
        /// Time for which calls are counted. Above 0. The oldest calls expire a tenth of it at a
        /// time, so 90 to 100 % of it is counted.
        duration sampling_duration = duration::seconds(30);
        /// Number of consecutive failures at which calls are stopped. At least 1.
        std::uint64_t consecutive_failures = 50;
        /// A permit without a report after this time counts as a failure. Above 0.
        duration timeout = duration::seconds(60);
        /// Pause in the state `open`. It grows with each failure in `half_open`.
        backoff break_duration{.base = duration::seconds(5),
                               .cap = duration::seconds(300),
                               .spread = backoff::jitter::none};
        /// Number of steps of 1, 2, 4 ... calls in `half_open`; then all calls pass. 1 to 32.
        std::uint32_t half_open_steps = 4;
        bool transient_counts = false;  ///< True if a `transient` fault also counts as a failure.

        friend bool operator==(const config&, const config&) = default;
    };

    /// The permission to make one call. The caller reports it once, before its deadline. All fields
    /// are 64 bits wide, which makes a copy fast.
    struct permit {
        /// Generation of the circuit breaker. The permit is void in every other generation.
        std::uint64_t generation = 0;
        std::uint64_t number = 0;  ///< Unique. 0 if the permit is not tracked.
        steady_time deadline{};    ///< Without a report by then, the call counts as failed.
        std::uint64_t place = 0;   ///< Index of its entry in the circuit breaker.

        friend bool operator==(const permit&, const permit&) = default;
    };

    friend bool operator==(const circuit_breaker_types&, const circuit_breaker_types&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(
    const circuit_breaker_types::config& o) noexcept
{
    const auto positive = [](const char* field, duration d) -> std::optional<config_error> {
        if (d > duration{}) return {};
        return config_error{field, detail::magnitude(d), "nanoseconds must be more than", 0,
                            d < duration{}};
    };
    if (!(o.failure_ratio > 0 && o.failure_ratio <= 1)) {
        return detail::ratio_error("circuit_breaker.failure_ratio", o.failure_ratio,
                                   "must be a number of thousandths above 0, and at most", 1'000);
    }
    if (o.minimum_throughput == 0)
        return config_error{"circuit_breaker.minimum_throughput", 0, "must be at least", 1};
    if (const auto bad = positive("circuit_breaker.sampling_duration", o.sampling_duration))
        return bad;
    if (o.consecutive_failures == 0)
        return config_error{"circuit_breaker.consecutive_failures", 0, "must be at least", 1};
    if (o.minimum_throughput == circuit_breaker_types::config::never &&
        o.consecutive_failures == circuit_breaker_types::config::never) {
        return config_error{"circuit_breaker.consecutive_failures", o.consecutive_failures,
                            "must be less than never if minimum_throughput is never, or the "
                            "breaker never opens",
                            circuit_breaker_types::config::never};
    }
    if (const auto bad = positive("circuit_breaker.timeout", o.timeout)) return bad;
    if (o.half_open_steps == 0)
        return config_error{"circuit_breaker.half_open_steps", 0, "must be at least", 1};
    constexpr std::uint64_t max_steps = 32;  // step 32 allows 2^31 calls, more than any MaxPermits
    if (o.half_open_steps > max_steps)
        return config_error{"circuit_breaker.half_open_steps", o.half_open_steps, "must be at most",
                            max_steps};
    return validate(o.break_duration);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_RETRY_CIRCUIT_BREAKER_OPTIONS_HPP
