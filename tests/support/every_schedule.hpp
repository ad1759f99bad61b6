// SPDX-License-Identifier: MIT
//
// every_schedule: runs all schedules of a small simulation until one of them breaks a rule.

#ifndef WAYBILL_TESTS_SUPPORT_EVERY_SCHEDULE_HPP
#define WAYBILL_TESTS_SUPPORT_EVERY_SCHEDULE_HPP

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/testing/choices.hpp>

namespace tests_support {

struct verdict {
    std::uint64_t schedules = 0;
    std::string rule;  // the broken rule; empty if no schedule breaks one
    std::string line;  // the choices of the schedule that breaks it
};

/// `run` is called with the choices of each schedule and returns the rule that it breaks, if any.
/// Ends at the first schedule that breaks a rule; if `wanted` is set, at the first one that breaks
/// that rule. The same choices must break the same rule again. Prints one line. For a broken
/// schedule it also prints the value of the environment variable `replay` that runs it again.
template <class Run>
verdict every_schedule(const char* group, const char* what, const Run& run,
                       std::string_view wanted = {}, const char* replay = "WAYBILL_REPLAY")
{
    waybill::testing::choices c;
    verdict v;
    bool goes_on = true;
    while (goes_on) {
        std::string broken = run(c);
        if (!broken.empty() && (wanted.empty() || broken == wanted)) {
            v.rule = std::move(broken);
            v.line = c.line();
        }
        goes_on = c.next() && v.rule.empty();
    }
    CHECK(!c.diverged());
    v.schedules = c.completed();
    std::printf("%s: %-50s %9llu schedules%s%s\n", group, what,
                static_cast<unsigned long long>(v.schedules),
                v.rule.empty() ? "" : ", broken: ", v.rule.c_str());
    if (v.rule.empty()) return v;
    std::printf("        %s='%s'\n", replay, v.line.c_str());
    std::optional<waybill::testing::choices> again = waybill::testing::choices::replay(v.line);
    REQUIRE(again.has_value());
    CHECK(run(*again) == v.rule);
    CHECK(again->line() == v.line);
    return v;
}

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_EVERY_SCHEDULE_HPP
