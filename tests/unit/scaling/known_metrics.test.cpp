// SPDX-License-Identifier: MIT

#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/scaling/known_metrics.hpp>
#include <waybill/scaling/policy.hpp>

namespace known_metrics_test {
namespace {

namespace sc = waybill::scaling;

sc::policy full()
{
    sc::policy p{
        .up = sc::any_of(sc::mean("orders") > 1, !(sc::highest("age") > 2)),
        .down = sc::all_of(sc::mean("orders") < 1, sc::at_least_of(1, sc::sum("mails") < 3)),
        .targets = {{sc::last("backlog"), 100}},
        .stabilise = {}};
    p.bands.up = {{sc::rate("more") > 1, {.count = 5}}};
    p.bands.down = {{sc::rate("less") > 1, {.count = 5}}};
    p.activation = sc::all_of(sc::last("first") > 0);
    return p;
}

template <class P, class Names>
std::string unknown(const P& p, const Names& names)
{
    const auto bad = sc::unknown_metric(p, names);
    return bad ? sc::describe(*bad) : "none";
}

TEST_CASE("metrics_of returns each metric once, in the order of the rules")
{
    using all = std::vector<std::string_view>;
    const sc::policy p = full();
    CHECK(sc::metrics_of(p) == all{"orders", "age", "more", "mails", "less", "first", "backlog"});
    const sc::policy nothing{.stabilise = {}};
    CHECK(sc::metrics_of(nothing) == all{});
}

TEST_CASE("unknown_metric returns the path of a metric that is not in the list")
{
    const sc::policy p = full();
    std::set<std::string> names{"orders", "age", "more", "mails", "less", "first", "backlog", "x"};
    CHECK(unknown(p, names) == "none");
    const auto without = [&](const char* name) {
        auto some = names;
        some.erase(name);
        return sc::unknown_metric(p, some)->path;
    };
    CHECK(without("orders") == "/up/any/0/mean");
    CHECK(without("age") == "/up/any/1/not/highest");
    CHECK(without("more") == "/bands/up/0/when/rate");
    CHECK(without("mails") == "/down/all/1/of/0/sum");
    CHECK(without("less") == "/bands/down/0/when/rate");
    CHECK(without("first") == "/activation/all/0/last");
    CHECK(without("backlog") == "/targets/0/last");

    const std::array<std::string_view, 2> few{"age", "order"};
    CHECK(unknown(p, std::span(few)) ==
          "/up/any/0/mean: expected an existing metric (age, order), found \"orders\"");
    CHECK(unknown(p, std::vector<const char*>()) ==
          "/up/any/0/mean: expected no metric (none exists), found \"orders\"");
}

TEST_CASE("unknown_metric skips the caller's own conditions")
{
    const auto mine = [](const sc::situation&, std::vector<sc::evidence>&) {
        return sc::tribool::no;
    };
    auto p = sc::policy_of(mine, sc::mean("orders") < 1);
    CHECK(unknown(p, std::vector<std::string>{"orders"}) == "none");
    CHECK(sc::unknown_metric(p, std::vector<std::string>{"mails"})->path == "/down/mean");
}

}  // namespace
}  // namespace known_metrics_test
