// SPDX-License-Identifier: MIT

#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/testing/choices.hpp>

namespace choices_test {
namespace {

using waybill::testing::choices;

TEST_CASE("choices: enumerates each run once, changing the last choice first")
{
    choices c;
    std::vector<std::string> seen;
    do {
        // The second question is only asked after one answer to the first.
        std::string run = std::to_string(c.pick(3));
        if (run == "1") run += std::to_string(c.pick(2));
        seen.push_back(run);
    } while (c.next());
    CHECK(seen == std::vector<std::string>{"0", "10", "11", "2"});
    CHECK(c.completed() == 4);
    CHECK(!c.diverged());
}

TEST_CASE("choices: 4 choices of 5 give 625 different runs")
{
    choices c;
    std::set<std::string> lines;
    do {
        for (int i = 0; i != 4; ++i) (void)c.pick(5);
        lines.insert(c.line());
    } while (c.next());
    CHECK(c.completed() == 625);
    CHECK(lines.size() == 625);
}

TEST_CASE("choices: a program without choices has one run")
{
    choices c;
    CHECK(c.pick(0) == 0);
    CHECK(c.pick(1) == 0);
    CHECK(c.line() == "");
    CHECK(!c.next());
    CHECK(c.completed() == 1);
}

TEST_CASE("choices: runs that are cut short are not counted as completed")
{
    choices c;
    bool more = true;
    while (more) more = c.pick(4) == 2 ? c.cut() : c.next();
    CHECK(c.completed() == 3);
    CHECK(c.cut_short() == 1);
}

TEST_CASE("choices: replay repeats the run of a line, and no other")
{
    choices c;
    for (int i = 0; i != 3; ++i) {
        (void)c.pick(3);
        (void)c.pick(2);
        REQUIRE(c.next());
    }
    (void)c.pick(3);
    (void)c.pick(2);
    (void)c.pick(12);
    REQUIRE_MESSAGE(c.line() == "1/3 1/2 0/12", c.line());

    auto again = choices::replay(c.line());
    REQUIRE(again.has_value());
    CHECK(again->pick(3) == 1);
    CHECK(again->pick(2) == 1);
    CHECK(again->pick(12) == 0);
    CHECK(again->line() == c.line());
    CHECK(!again->next());
    CHECK(!again->diverged());
}

TEST_CASE("choices: replay refuses malformed lines")
{
    for (const char* line : {"1", "1/", "/2", "2/2", "0/1", "0/0", "1/2 ", "1/2  1/2", "x/2",
                             "-1/2", "1/2,1/2", "1/99999999999", " 1/2"}) {
        const bool ends_in_space = std::string(line) == "1/2 ";
        INFO(std::string(line));
        CHECK(choices::replay(line).has_value() == ends_in_space);
    }
    CHECK(choices::replay("").has_value());
}

TEST_CASE("choices: a program that depends on other state is detected as diverged")
{
    choices c;
    std::uint32_t outside = 2;
    do {
        (void)c.pick(2);
        (void)c.pick(outside++);
    } while (c.next() && c.completed() != 20);
    CHECK(c.diverged());

    auto other = choices::replay("1/2 1/2");
    REQUIRE(other.has_value());
    CHECK(other->pick(2) == 1);
    CHECK(!other->next());
    CHECK(other->diverged());
}

}  // namespace
}  // namespace choices_test
