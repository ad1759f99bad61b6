// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <waybill/session/detail/step_numbers.hpp>
#include <waybill/session/step_order.hpp>

namespace step_order_test {
namespace {

using waybill::dead_letter_reason;
using waybill::session_progress;
using waybill::step_facts;

session_progress at(std::uint64_t done, std::uint64_t total = 0)
{
    session_progress p;
    p.done = done;
    p.total = total;
    return p;
}

TEST_CASE("step_order: the next step follows the last one that is done, or is the first")
{
    CHECK(waybill::detail::expected_step({1, 3, 1}, at(0)) == 1);
    CHECK(waybill::detail::expected_step({1, 3, 3}, at(0)) == 3);
    CHECK(waybill::detail::expected_step({1, 3, 1}, at(4)) == 5);
    CHECK(waybill::detail::expected_step({}, at(waybill::detail::highest_size)) ==
          waybill::detail::highest_size);
}

TEST_CASE("step_order: a step up to the last completed one is a repetition")
{
    CHECK(waybill::detail::is_repeated({1, 3}, at(3), true));
    CHECK(waybill::detail::is_repeated({1, 2}, at(3), true));
    CHECK(!waybill::detail::is_repeated({1, 4}, at(3), true));
    CHECK(waybill::detail::is_repeated({1, 3}, at(3), false));
    CHECK(!waybill::detail::is_repeated({1, 2}, at(3), false));
    CHECK(!waybill::detail::is_repeated({1, 0}, at(0), false));
    session_progress tried = at(3);
    tried.tries = 1;
    CHECK(!waybill::detail::is_repeated({1, 3}, tried, false));
    CHECK(waybill::detail::is_repeated({1, 3}, tried, true));
}

TEST_CASE("step_order: the last step is known from its mark or the total")
{
    CHECK(waybill::detail::is_last({1, 5, 1, 0, true}, at(4)));
    CHECK(!waybill::detail::is_last({1, 5, 1, 0, false}, at(4)));
    CHECK(waybill::detail::is_last({1, 5, 1, 5, false}, at(4)));
    CHECK(waybill::detail::is_last({1, 5, 1, 0, false}, at(4, 5)));
    CHECK(!waybill::detail::is_last({1, 4, 1, 5, true}, at(3)));
    CHECK(!waybill::detail::is_last({1, 3, 1, 3, true}, at(2, 5)));
}

TEST_CASE("step_order: the last step ends the session, unless the first step is missing")
{
    session_progress p = at(4, 5);
    CHECK(waybill::detail::ends_session({1, 5, 1, 5, true}, p));
    CHECK(!waybill::detail::ends_session({1, 4, 1, 5, false}, p));
    CHECK(!waybill::detail::ends_session({1, 6, 1, 0, true}, p));  // after the last
    p.failed.emplace(waybill::session_progress::failure{}).reason = dead_letter_reason::gap;
    CHECK(waybill::detail::ends_session({1, 5, 1, 5, true}, p));
    p.done = 0;
    CHECK(!waybill::detail::ends_session({1, 5, 1, 5, true}, p));
    p.failed->reason = dead_letter_reason::contradiction;
    CHECK(!waybill::detail::ends_session({1, 5, 1, 5, true}, p));
    p.failed->reason = dead_letter_reason::ended_process;
    CHECK(waybill::detail::ends_session({1, 5, 1, 5, true}, p));
}

TEST_CASE("step_order: consistent step numbers are no contradiction")
{
    for (std::uint64_t n = 1; n != 6; ++n) {
        CHECK(waybill::detail::contradiction({n, n, 1, 5, n == 5}, at(n - 1, n == 1 ? 0 : 5))
                  .empty());
        CHECK(waybill::detail::contradiction({n, n, 1, 0, n == 5}, at(n - 1)).empty());
        CHECK(waybill::detail::contradiction({n, n, 1, 5, false}, at(0))
                  .empty());  // the total is enough
    }
}

TEST_CASE("step_order: another first step than that of the session is a contradiction")
{
    session_progress p = at(5);
    for (const std::uint64_t first : {1U, 3U, 4U, 5U})
        CHECK(waybill::detail::contradiction({1, 6, first}, p).empty());
    p.first = 4;
    CHECK(waybill::detail::contradiction({1, 6, 4}, p).empty());
    for (const std::uint64_t first : {1U, 3U, 5U, 6U}) {
        CHECK(waybill::detail::contradiction({1, 6, first}, p) ==
              "the session has another first step");
    }
}

TEST_CASE("step_order: each reason has a text")
{
    for (const auto r : {dead_letter_reason::failed, dead_letter_reason::exhausted,
                         dead_letter_reason::ended_process, dead_letter_reason::session_failed,
                         dead_letter_reason::gap, dead_letter_reason::contradiction,
                         dead_letter_reason::unreadable, dead_letter_reason::broker}) {
        CHECK(describe(r, {1, 2, 1, 5, false, 3}, at(0)).starts_with("step 2 "));
    }
    for (const auto s :
         {waybill::state_read::absent, waybill::state_read::ok, waybill::state_read::newer,
          waybill::state_read::corrupt, waybill::state_read::too_large}) {
        CHECK(!describe(s).empty());
    }
}

}  // namespace
}  // namespace step_order_test
