// SPDX-License-Identifier: MIT

#include <cstddef>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <golden/scaling/values.hpp>
#include <support/golden.hpp>

#include <waybill/ext/json/scaling.hpp>

namespace json_scaling_policy_test {
namespace {

using namespace waybill;
namespace sc = waybill::scaling;
using nlohmann::json;

void comes_back(const sc::policy& p)
{
    const auto written = sc::write_policy(p);
    REQUIRE(written.has_value());
    const auto read = sc::parse_policy(written->dump());
    REQUIRE_MESSAGE(read.has_value(), describe(read.error()));
    CHECK(*read == p);
    CHECK(*sc::write_policy(*read) == *written);
}

std::string wrong(std::string_view document)
{
    const auto read = sc::parse_policy(document);
    return read ? "nothing" : describe(read.error());
}

// A policy with this rule for up.
std::string wrong_rule(std::string_view rule)
{
    return wrong(R"({"instances": {"highest": 9}, "up":)" + std::string(rule) + "}");
}

std::string unwritten(const sc::policy& p)
{
    const auto written = sc::write_policy(p);
    return written ? "nothing" : describe(written.error());
}

sc::rule nested(std::size_t depth)
{
    sc::rule r = sc::mean("a") > 1;
    for (; depth != 1; --depth) r = !std::move(r);
    return r;
}

TEST_CASE("policies are written as in their golden files")
{
    const auto check = [](const char* file, const sc::policy& p) {
        const std::string stored = tests_support::golden(file);
        CAPTURE(file);
        REQUIRE(!sc::validate(p));
        CHECK(sc::write_policy(p)->dump(2) + "\n" == stored);
        CHECK(sc::parse_policy(stored) == p);
        comes_back(p);
    };
    check("scaling/policy_small.json", golden_scaling::policy_small());
    check("scaling/policy_full.json", golden_scaling::policy_full());
    check("scaling/policy_ladder.json", golden_scaling::policy_ladder());
}

TEST_CASE("each rule of the guide is read, and written the same")
{
    std::istringstream shown(R"text(
{"mean": "orders", "above": 300}
{"mean": "orders", "above": {"per_instance": 100}, "min_points": 5, "max_age": "3min"}
{"last": "orders", "at_least": {"by_instances": [[1, 100], [4, 350]]}, "if_missing": "fails"}
{"any": [{"mean": "cpu", "above": 80, "averaged": true}, {"not": {"points": "cpu", "above": 4}}]}
{"at_least": 2, "of": [{"mean": "a", "above": 1}, {"mean": "b", "above": 1}, {"mean": "c", "above": 1}]}
)text");
    int rules = 0;
    for (std::string line; std::getline(shown, line);) {
        if (line.empty()) continue;
        const json rule = json::parse(line);
        const auto read =
            sc::parse_policy(json{{"up", rule}, {"instances", {{"highest", 9}}}}.dump());
        REQUIRE_MESSAGE(read.has_value(), describe(read.error()));
        CHECK((*sc::write_policy(*read))["up"] == rule);
        ++rules;
    }
    CHECK(rules == 5);
}

TEST_CASE("a handwritten policy is read, and missing fields have their defaults")
{
    const auto p = sc::parse_policy(R"({
        "up": {"any": [{"mean": "orders", "above": {"per_instance": 100}},
                       {"highest": "age", "above": 300}]},
        "down": {"all": [{"highest": "orders", "below": 10}, {"highest": "mails", "below": 10}]},
        "min_points": 5, "cooldown": {"up": "1min", "down": "10min"},
        "instances": {"lowest": 1, "highest": 20}
    })");
    REQUIRE(p.has_value());
    // Missing fields have their defaults.
    sc::policy small = golden_scaling::policy_small();
    small.stabilise = sc::policy().stabilise;
    small.zero_after = sc::policy().zero_after;
    small.after_failure = sc::policy().after_failure;
    CHECK(*p == small);

    const auto rest = sc::parse_policy(R"({
        "targets": [{"last": "backlog", "each": 100}], "step": {"up": {"count": 2}},
        "bands": {"up": [{"when": {"sum": "x", "at_least": 9}, "by": {"percent": 50}}]},
        "instances": {"highest": "unlimited"}, "max_age": "forever", "allow": {"down": false}
    })");
    REQUIRE(rest.has_value());
    sc::policy same{.targets = {{sc::last("backlog"), 100}}};
    same.step.up.count = 2;
    same.bands.up = {{sc::sum("x") >= 9, {.percent = 50}}};
    same.instances.highest = unlimited;
    same.allow.down = false;
    CHECK(*rest == same);
}

TEST_CASE("an invalid rule is refused with its path and the expected fields")
{
    constexpr std::string_view statistics =
        "mean, highest, lowest, sum, first, last, variance, points, weight, rate, sampling_rate, "
        "coverage or age of a metric";
    const std::string rules = std::string(statistics) + ", or all, any, not, or at_least with of";
    CHECK(wrong_rule(R"({"median": "orders", "above": 3})") ==
          "/up/median: expected " + rules + ", found \"orders\"");
    CHECK(wrong_rule(R"({"any": [{"above": 3}]})") ==
          "/up/any/0: expected " + rules + ", found an object");
    CHECK(wrong_rule(R"({"at_least": 2, "off": []})") ==
          "/up/off: expected " + rules + ", found an array");
    CHECK(wrong_rule("3") == "/up: expected an object, found 3");
    CHECK(wrong_rule(R"({"mean": "a", "highest": "b", "above": 3})") ==
          "/up: expected one statistic, and \"mean\" and \"highest\" are two, found an object");
    CHECK(wrong_rule(R"({"mean": "a"})") ==
          "/up: expected a threshold under above, at_least, below or at_most, found an object");
    CHECK(wrong_rule(R"({"mean": "a", "abov": 3})") ==
          "/up/abov: expected one of the fields mean, min_points, max_age, if_missing, averaged, "
          "found 3");
    CHECK(wrong_rule(R"({"mean": "a", "above": 3, "below": 1})") ==
          "/up: expected one threshold, and \"above\" and \"below\" are two, found an object");
    CHECK(wrong_rule(R"({"mean": 3, "above": 3})") ==
          "/up/mean: expected a text in UTF-8, found 3");
    CHECK(wrong_rule(R"({"any": [], "all": []})") ==
          "/up: expected one of all, any, of and not, and \"all\" and \"any\" are two, found an "
          "object");
    CHECK(wrong_rule(R"({"of": [{"mean": "a", "above": 3}]})") ==
          "/up/at_least: expected a value, found nothing");
    CHECK(wrong_rule(R"({"any": [{"mean": "a", "above": 3}], "mean": "b"})") ==
          "/up/mean: expected one of the fields any, found \"b\"");
    CHECK(wrong_rule(R"({"mean": "a", "above": 3, "min_pionts": 4})") ==
          "/up/min_pionts: expected one of the fields mean, min_points, max_age, if_missing, "
          "averaged, above, found 4");
    CHECK(wrong_rule(R"({"mean": "a", "above": 3, "if_missing": "zero"})") ==
          "/up/if_missing: expected unknown, holds or fails, found \"zero\"");
    CHECK(wrong_rule(R"({"mean": "a", "above": 3, "max_age": 60})").starts_with("/up/max_age: "));
    CHECK(wrong_rule(R"({"not": [{"mean": "a", "above": 3}]})") ==
          "/up/not: expected an object, found an array");
    CHECK(wrong_rule(R"({"any": {"mean": "a", "above": 3}})") ==
          "/up/any: expected an array of at most 1000, found an object");
    CHECK(wrong(R"({"targets": [{"median": "a", "each": 3}]})") ==
          "/targets/0/median: expected " + std::string(statistics) + ", found \"a\"");
}

TEST_CASE("an invalid threshold is refused with its path")
{
    const auto wrong_limit = [](std::string_view limit) {
        return wrong_rule(R"({"mean": "a", "above": )" + std::string(limit) + "}");
    };
    constexpr std::string_view kinds =
        "expected a number, {\"per_instance\": 100} or {\"by_instances\": [[1, 100], [4, 350]]}";
    CHECK(wrong_limit("300") == "nothing");
    CHECK(wrong_limit("-0.5") == "nothing");
    CHECK(wrong_limit(R"("300")") == "/up/above: " + std::string(kinds) + ", found \"300\"");
    CHECK(wrong_limit("null") == "/up/above: " + std::string(kinds) + ", found null");
    CHECK(wrong_limit("{}") == "/up/above: " + std::string(kinds) + ", found an object");
    CHECK(wrong_limit("NaN").find("expected JSON in UTF-8") != std::string::npos);
    CHECK(wrong_limit("1e999").find("expected JSON in UTF-8") != std::string::npos);
    CHECK(wrong_limit(R"({"each": 3})") ==
          "/up/above/each: expected one of the fields per_instance, by_instances, found 3");
    CHECK(wrong_limit(R"({"per_instance": "3"})") ==
          "/up/above/per_instance: expected a number, found \"3\"");
    CHECK(wrong_limit(R"({"per_instance": 3, "by_instances": [[1, 2]]})") ==
          "/up/above: expected one kind of threshold, and \"per_instance\" and \"by_instances\" "
          "are two, found an object");
    CHECK(wrong_limit(R"({"by_instances": [[1, 2], [4]]})") ==
          "/up/above/by_instances/1: expected [instances, threshold], found an array");
    CHECK(wrong_limit(R"({"by_instances": [[1, 2], [-4, 3]]})") ==
          "/up/above/by_instances/1/0: expected a whole number of at most 64 bits, found -4");
    // These errors are those of `validate`, with its texts.
    CHECK(wrong_limit(R"({"by_instances": []})") ==
          "/up/above/by_instances: expected at least one step, found none");
    CHECK(wrong_limit(R"({"by_instances": [[4, 2], [4, 3]]})") ==
          "/up/above/by_instances/1: expected steps in ascending order of instances, found 4 "
          "after 4");

    json j = {{"up", {{"mean", "a"}, {"above", std::numeric_limits<double>::infinity()}}}};
    CHECK(describe(sc::read_policy(j).error()) == "/up/above: expected a number, found null");
    j["up"]["above"] = {{"per_instance", std::numeric_limits<double>::quiet_NaN()}};
    CHECK(sc::read_policy(j).error().path == "/up/above/per_instance");
}

TEST_CASE("any other invalid field is refused with its path")
{
    CHECK(wrong("") ==
          "the document: expected JSON in UTF-8, found a syntax error in line 1, "
          "column 1");
    CHECK(wrong("[]") == "the document: expected an object, found an array");
    CHECK(wrong(R"({"upp": 1})") ==
          "/upp: expected one of the fields up, down, targets, min_points, max_age, cooldown, "
          "instances, step, bands, stabilise, rate, warm_up, activation, zero_after, ladder, "
          "allow, if_unknown, patience, after_failure, every, window, found 1");
    CHECK(wrong(R"({"up": {"mean": "a", "mean": "b", "above": 1}})") ==
          "/up/mean: expected this name once, found it twice");
    CHECK(wrong(R"({"min_points": 2.5})") ==
          "/min_points: expected a whole number of at most 64 bits, found 2.5");
    CHECK(wrong(R"({"cooldown": {"up": 60}})").starts_with("/cooldown/up: expected a duration"));
    CHECK(wrong(R"({"cooldown": {"up": "-1min"}, "targets": [{"last": "a", "each": 1}]})") ==
          "/cooldown/up: expected a duration of at least 0, found -60000000000 ns");
    CHECK(wrong(R"({"instances": {"lowest": "1"}})") ==
          "/instances/lowest: expected a whole number of at most 64 bits, found \"1\"");
    CHECK(wrong(R"({"rate": {"up": [{"max_change": {"count": 1}}]}})") ==
          "/rate/up/0/per: expected a value, found nothing");
    CHECK(wrong(R"({"rate": {"up": [{"max_change": {"count": 1}, "per": "0s"}]},
                    "instances": {"highest": 9}, "targets": [{"last": "a", "each": 1}]})") ==
          "/rate/up/0/per: expected a duration above 0, found 0 ns");
    CHECK(wrong(R"({"bands": {"down": [{"by": {"count": 1}}]}})") ==
          "/bands/down/0/when: expected a value, found nothing");
    CHECK(wrong(R"({"allow": {"up": 1}})") == "/allow/up: expected true or false, found 1");
    CHECK(wrong(R"({"if_unknown": null})") ==
          "/if_unknown: expected a whole number of at most 64 bits, found null");
    CHECK(wrong(R"({"ladder": [{"name": "S1"}]})") ==
          "/ladder/0/capacity: expected a value, found nothing");
    CHECK(
        wrong(R"({"activation": {"mean": "a", "above": "x"}})").starts_with("/activation/above: "));
}

TEST_CASE("an error of validate has the path of its field")
{
    CHECK(wrong("{}") ==
          "/up: expected a rule or a target (nothing starts an instance), found none");
    CHECK(wrong_rule(R"({"any": [{"mean": "", "above": 3}]})") ==
          "/up/any/0/mean: expected the name of a metric, found \"\"");
    CHECK(wrong_rule(R"({"not": {"not": {"last": "", "above": 3}}})") ==
          "/up/not/not/last: expected the name of a metric, found \"\"");
    CHECK(wrong_rule(R"({"all": [{"any": []}]})") == "/up/all/0/any: expected a rule, found none");
    CHECK(wrong_rule(R"({"at_least": 3, "of": [{"mean": "a", "above": 3}]})") ==
          "/up/at_least: expected a number from 1 to 1, found 3");
    CHECK(wrong_rule(R"({"mean": "a", "above": 3, "max_age": "-1s"})") ==
          "/up/max_age: expected a duration of at least 0, found -1000000000 ns");
    CHECK(wrong(R"({"targets": [{"last": "", "each": 3}]})") ==
          "/targets/0/last: expected the name of a metric, found \"\"");
    CHECK(wrong(R"({"targets": [{"last": "a", "each": 0}]})") ==
          "/targets/0/each: expected a number above 0, found 0");
    CHECK(wrong(R"({"instances": {"highest": 1}, "up": {"mean": "orders", "above": 100},
                    "down": {"all": [{"highest": "mails", "below": 10},
                                     {"not": {"mean": "orders", "above": 120}}]}})") ==
          "/down/all/1/not/above: expected a threshold below 100 (at which \"orders\" scales "
          "up, with 1 instance), found 120");
}

TEST_CASE("rules are limited in depth and number")
{
    sc::policy p{.up = nested(sc::detail::max_rule_depth), .stabilise = {}};
    p.instances.highest = 9;
    comes_back(p);
    p.up = nested(sc::detail::max_rule_depth + 1);
    std::string inner;
    for (std::size_t n = 0; n != sc::detail::max_rule_depth; ++n) inner += "/not";
    CHECK(unwritten(p) == "/up" + inner + ": expected rules at most 64 deep, found more");

    std::string deep = R"({"mean": "a", "above": 1})";
    for (std::size_t n = 0; n != sc::detail::max_rule_depth; ++n) deep = R"({"not": )" + deep + "}";
    CHECK(wrong_rule(deep) == "/up" + inner + ": expected rules at most 64 deep, found an object");

    // A longer path is shortened, in read and in written documents.
    sc::rule any = sc::mean("a") > 1;
    for (std::size_t n = 0; n != sc::detail::max_rule_depth; ++n)
        any = sc::rule(sc::rule::kind::any, {any});
    p.up = any;
    deep = R"({"mean": "a", "above": 1})";
    for (std::size_t n = 0; n != sc::detail::max_rule_depth; ++n)
        deep = R"({"any": [)" + deep + "]}";
    for (const std::string& line : {unwritten(p), wrong_rule(deep)}) {
        CHECK(line.starts_with("/up/any/0/any/0/"));
        CHECK(line.find("/.../") != line.npos);
        CHECK(line.find(": expected rules at most 64 deep") <= 300);
    }

    for (const char* open : {"{\"not\":", "[", "{\"any\":["}) {
        std::string abyss;
        for (int n = 0; n != 100'000; ++n) abyss += open;
        CHECK(wrong_rule(abyss).find("expected at most 256 levels") != std::string::npos);
    }
    const std::string closed = std::string(200, '[') + std::string(200, ']');
    CHECK(wrong_rule(closed) == "/up: expected an object, found an array");

    std::vector<sc::rule> many(sc::detail::max_rules - 1, sc::mean("a") > 1);
    p.up = sc::rule(sc::rule::kind::any, many);
    comes_back(p);
    many.push_back(sc::mean("a") > 1);
    p.up = sc::rule(sc::rule::kind::any, many);
    CHECK(unwritten(p) == "/up/any/999: expected at most 1000 rules in a policy, found more");
    json too_many = {{"up", {{"any", json::array()}}}};
    for (std::size_t n = 0; n != sc::detail::max_rules; ++n) {
        too_many["up"]["any"].push_back({{"mean", "a"}, {"above", 1}});
    }
    CHECK(wrong(too_many.dump()) ==
          "/up/any/999: expected at most 1000 rules in a policy, found an object");
    too_many["up"]["any"].push_back(1);
    CHECK(wrong(too_many.dump()) == "/up/any: expected an array of at most 1000, found an array");
}

TEST_CASE("a policy that cannot be stored is not written")
{
    sc::policy p{
        .up = sc::any_of(sc::mean("a") > 1, sc::mean("b") >= sc::of_instances([](std::uint64_t n) {
                                                return 2.0 * static_cast<double>(n);
                                            })),
        .stabilise = {}};
    CHECK(unwritten(p) ==
          "/up/any/1/at_least: expected a threshold that can be stored, found a function");
    p.up = sc::mean("a") > std::numeric_limits<double>::infinity();
    CHECK(unwritten(p) == "/up/above: expected a finite number, found infinity");
    p.up = sc::mean("a\xff") > 1;
    CHECK(unwritten(p).starts_with("/up/mean: expected a text in UTF-8, found "));
    p.up = sc::rule(sc::rule::kind::opposite, {});
    CHECK(unwritten(p) == "/up/not: expected one rule, found 0");
    p.up = sc::mean("a") > 1;
    p.step.up.percent = std::numeric_limits<double>::quiet_NaN();
    CHECK(unwritten(p) == "/step/up/percent: expected a finite number, found NaN");
    p.step.up.percent = 0;
    p.ladder.assign(sc::detail::max_listed + 1, {"x", 1});
    CHECK(unwritten(p) == "/ladder: expected an array of at most 1000, found 1001");
}

TEST_CASE("after an error the policy is unchanged")
{
    sc::policy p = golden_scaling::policy_full();
    const sc::policy before = p;
    const json bad = {
        {"min_points", 9}, {"activation", {{"mean", "x"}, {"above", 1}}}, {"zero_after", 1}};
    std::optional<json_error> error;
    read_value(json_place{bad, {}, error}, p);
    CHECK(error->path == "/zero_after");
    CHECK(p == before);
}

}  // namespace
}  // namespace json_scaling_policy_test
