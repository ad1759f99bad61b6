// SPDX-License-Identifier: MIT
//
// kinds: what it is worth to tell kinds of message apart, which is what S8 is about.
//
// One message in twenty there has a header of 3,000 bytes, the others one of 60, and their bodies
// look alike. A caller who knows by sight which is which (it has tracing baggage, say) adds a rough
// guess of the difference to the size that he states. The sender needs nothing new for that: the
// line that it learns has a slope, and what makes stated sizes differ in S8 is the guess above all,
// so the slope comes to be the truth over the guess. What bodies then have too much is made up for
// by the intercept, but for their own scatter.

#ifndef WAYBILL_BENCH_SIMULATION_KINDS_HPP
#define WAYBILL_BENCH_SIMULATION_KINDS_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "report.hpp"
#include "scenarios.hpp"

namespace simulation {

constexpr std::uint64_t rough_guess = 2'500;  // bytes, where 2,940 would be right
inline constexpr std::uint64_t guesses[] = {1'000, 2'000, 2'500, 2'940, 4'000, 6'000};

/// About the least that a sender can reach in S8 that knows the mean and the deviation of sizes and
/// sees no kinds. It stays below the limit by `m`, is refused with the probability Q(m / spread),
/// and needs 1 + Q sends then. What goes through with a first send is what is left of a mean of 1 -
/// m. The batch after a refused one has the same as all have on the average, or is full if it was
/// told the `sizes` of those messages: nobody has seen the messages of any other batch.
struct bound {
    double sends = 1e9;  // over the fewest
    double below = 0;    // m
    double refused = 0;  // Q
};

inline bound least_without_kinds(bool sizes)
{
    const double larger = 3'000 - 60;
    const double mean = 275 + 60 + 8 + 0.05 * larger;
    const double variance = (451.0 * 451.0 - 1) / 12 + 0.05 * 0.95 * larger * larger;
    const double room = static_cast<double>(full_limit - envelope);
    const double spread = std::sqrt(room / mean * variance) / room;
    bound least;
    for (double m = 0.001; m < 0.3; m += 0.001) {
        const double z = m / spread;
        const double q = std::erfc(z / std::sqrt(2.0)) / 2;
        const double density = std::exp(-z * z / 2) / std::sqrt(6.283185307179586);
        const double through = (1 - m) - ((1 - m) * q + spread * density);
        const double sends = (1 + q) / (through + q * (sizes ? 1 : 1 - m));
        if (sends < least.sends) least = {sends, m, q};
    }
    return least;
}

/// The ratio by guess and evidence, and what can be reached without.
inline void print_guesses(const std::vector<row>& rows)
{
    std::puts("\nS8, where the caller tells kinds apart: ratio, by the guess of what one has more");
    std::printf("%-14s", "");
    for (const std::uint64_t g : guesses) std::printf(" %11d", static_cast<int>(g));
    const std::size_t each = rows.size() / std::size(guesses);
    for (std::size_t i = 0; i != each; ++i) {
        std::printf("\n%-14s", label(rows[i]).c_str());
        for (std::size_t g = 0; g != std::size(guesses); ++g) {
            const row& r = rows[g * each + i];
            std::printf(" %11s%s", ratio_pair(r.of(8)["ratio"]).c_str(), r.sound() ? "" : " !");
        }
    }
    const bound blind = least_without_kinds(false);
    const bound told = least_without_kinds(true);
    std::printf("\nwithout kinds %.3f is about the least, and with sizes of a refused batch %.3f: "
                "one in\n%.0f is refused then, so those of few are known, and all others stay "
                "%.0f %% below the limit\n",
                blind.sends, told.sends, 1 / told.refused, 100 * told.below);
}

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_KINDS_HPP
