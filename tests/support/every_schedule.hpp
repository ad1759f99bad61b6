// SPDX-License-Identifier: MIT
//
// every_schedule: runs all schedules of a small simulation, and reports which of them break a rule.

#ifndef WAYBILL_TESTS_SUPPORT_EVERY_SCHEDULE_HPP
#define WAYBILL_TESTS_SUPPORT_EVERY_SCHEDULE_HPP

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdio>
#include <string>

#include <support/brief.hpp>
#include <waybill/testing/choices.hpp>

namespace tests_support {

struct verdict {
    std::uint64_t schedules = 0;
    std::uint64_t broken = 0;
    std::string rule;  // the first broken rule; `line` breaks it
    std::string line;
};

/// `run` is called with the choices of each schedule and returns the rule that it breaks, if any. A
/// brief run stops at the first broken schedule. Prints one line. For a broken schedule it also
/// prints the value of the environment variable `replay` that runs it again.
template <class Run>
verdict every_schedule(const char* group, const char* what, const Run& run,
                       const char* replay = "WAYBILL_REPLAY")
{
    waybill::testing::choices c;
    verdict v;
    do {
        const std::string broken = run(c);
        if (broken.empty()) continue;
        if (v.broken++ == 0) {
            v.rule = broken;
            v.line = c.line();
        }
    } while (!(brief && v.broken != 0) && c.next());
    CHECK(!c.diverged());
    v.schedules = c.completed();
    std::printf("%s: %-46s %9llu schedules, %8llu broken%s%s\n", group, what,
                static_cast<unsigned long long>(v.schedules), static_cast<unsigned long long>(v.broken),
                v.broken == 0 ? "" : ", the first: ", v.rule.c_str());
    if (v.broken != 0) std::printf("        %s='%s'\n", replay, v.line.c_str());
    return v;
}

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_EVERY_SCHEDULE_HPP
