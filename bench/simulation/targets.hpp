// SPDX-License-Identifier: MIT
//
// targets: the targets of our sender, for the median of the seeds. The worst is printed, too.
//
// In S8 a mean is not enough: the sum of a batch varies by 6 %, because there are two kinds of
// message. So the minimum is about 1.16 (see kinds.hpp). The sizes of a refused batch (H) do not
// help with the next batch, which has other items. Evidence about each item helps: kinds (K), even
// with a rough guess, or all sizes in advance (E).

#ifndef WAYBILL_BENCH_SIMULATION_TARGETS_HPP
#define WAYBILL_BENCH_SIMULATION_TARGETS_HPP

#include <cstddef>
#include <cstdio>
#include <string>
#include <vector>

#include "report.hpp"

namespace simulation {

struct target {
    const char* sees;      // the evidence of the row
    std::size_t scenario;  // 0 for S1 to S8 together
    const char* figure;
    double most;
};

inline const std::vector<target>& targets()
{
    static const std::vector<target> all{
        {"N+A", 0, "refused", 25}, {"N+A", 0, "mean", 1.05},  {"N+A", 0, "ratio", 1.05},
        {"R", 0, "mean", 1.13},    {"R", 0, "ratio", 1.13},   {"H", 1, "refused", 1},
        {"H", 2, "refused", 2},    {"N", 1, "refused", 1},    {"N", 2, "refused", 2},
        {"N+A", 8, "ratio", 1.20}, {"H+K", 8, "ratio", 1.03}, {"N+A+K", 8, "ratio", 1.03},
        {"E", 8, "ratio", 1.03},   {"N+A", 9, "ratio", 1.06}, {"N+A", 10, "ratio", 1.06},
        {"E", 0, "refused", 0},    {"E", 0, "mean", 1},       {"E", 9, "ratio", 1},
        {"E", 10, "ratio", 1},     {"E", 11, "ratio", 1},     {"E", 12, "ratio", 1},
    };
    return all;
}

/// Whether the medians meet all targets. Targets of scenarios that were not run are left out.
inline bool print_targets(const std::vector<row>& rows)
{
    bool good = true;
    std::printf("\n%-28s %8s %8s %8s\n", "target", "at most", "median", "worst");
    for (const target& t : targets()) {
        for (const row& r : rows) {
            if (r.name != "ours" || r.sees != t.sees) continue;
            if (t.scenario == 0 ? !r.ran_all_eight() : !r.ran(t.scenario)) continue;
            figures all = t.scenario == 0 ? r.together() : r.of(t.scenario);
            const figure& f = all[t.figure];
            const std::string where = t.scenario == 0 ? "S1-S8" : "S" + std::to_string(t.scenario);
            const bool met = f.median() <= t.most;
            good = good && met;
            std::printf("%-6s %-6s %-14s %8.6g %8.5g %8.5g   %s%s\n", t.sees, where.c_str(),
                        t.figure, t.most, f.median(), f.worst(), met ? "pass" : "FAIL",
                        met && f.worst() > t.most ? ", but not by the worst" : "");
        }
    }
    return good;
}

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_TARGETS_HPP
