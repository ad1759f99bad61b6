// SPDX-License-Identifier: MIT
//
// kinds: the gain of distinguishing kinds of message, in scenario S8.
//
// In S8 one message in twenty has a header of 3,000 bytes, the others have 60, and the bodies have
// one distribution. A caller that recognises the kind (for example by tracing baggage) adds a rough
// guess of the difference to the stated size. The sender needs no change: it learns a line, and in
// S8 the stated sizes differ mainly by the guess. So the slope approaches the actual difference
// over the guess. The intercept corrects the error in the mean size of bodies, but not their
// variation.

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

constexpr std::uint64_t rough_guess = 2'500;  // bytes; the actual difference is 2,940
inline constexpr std::uint64_t guesses[] = {1'000, 2'000, 2'500, 2'940, 4'000, 6'000};

/// The approximate minimum of sends in S8 for a sender that has the mean and the deviation of
/// sizes, but no kinds. It stays below the limit by `m`, and is refused with probability Q(m /
/// spread). Then it needs 1 + Q sends. The first sends carry a mean of 1 - m without the refused
/// part. A batch after a refused one has the mean fill. If the `sizes` of the refused messages are
/// reported, it is full: only these messages have known sizes.
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

/// Prints the ratio by guess and evidence, and the minimum without kinds.
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
    std::printf(
        "\nwithout kinds %.3f is about the least, and with sizes of a refused batch %.3f: "
        "one in\n%.0f is refused then, so those of few are known, and all others stay "
        "%.0f %% below the limit\n",
        blind.sends, told.sends, 1 / told.refused, 100 * told.below);
}

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_KINDS_HPP
