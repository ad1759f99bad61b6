// SPDX-License-Identifier: MIT
//
// Messages of scaling, and the stored state of an autoscaler, as JSON.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <golden/scaling/values.hpp>
#include <support/golden.hpp>

#include <waybill/ext/json/scaling.hpp>

namespace json_scaling_messages_test {
namespace {

using namespace waybill;
namespace sc = waybill::scaling;
using nlohmann::json;

template <class T>
void check_golden(const char* file, const T& value)
{
    const std::string stored = tests_support::golden(file);
    CAPTURE(file);
    CHECK(json(value).dump(2) + "\n" == stored);
    const auto read = parse_json<T>(stored);
    REQUIRE_MESSAGE(read.has_value(), describe(read.error()));
    CHECK(*read == value);
}

// The first error in `j`, read as a T.
template <class T>
std::string wrong(const json& j)
{
    const auto read = read_json<T>(j);
    return read ? "nothing" : describe(read.error());
}

template <class T>
std::string wrong_field(const T& value, const char* field, const json& other)
{
    json j = value;
    j[field] = other;
    return wrong<T>(j);
}

}  // namespace

TEST_CASE("messages are written as in their golden files")
{
    check_golden("scaling/message_metric.json", golden_scaling::message_metric());
    check_golden("scaling/message_command.json", golden_scaling::message_command());
    check_golden("scaling/message_applied.json", golden_scaling::message_applied());
    check_golden("scaling/message_failed.json", golden_scaling::message_failed());
    check_golden("scaling/autoscale_state.json", golden_scaling::autoscale_state());
}

TEST_CASE("messages of the guide are read as the golden values")
{
    constexpr std::string_view shown = R"text(
{"version": 1, "resource": "orders", "metric": "backlog", "at": "2024-02-29T12:00:00Z", "value": 412.5}
{"version": 1, "resource": "orders", "id": 17, "from": 4, "to": 6}
{"version": 1, "resource": "orders", "applied": 17}
{"version": 1, "resource": "orders", "failed": 17, "text": "quota exceeded"}
)text";
    std::vector<std::string_view> lines;
    for (std::string_view rest = shown.substr(1); !rest.empty();) {
        const std::size_t end = rest.find('\n');
        lines.push_back(rest.substr(0, end));
        rest.remove_prefix(end + 1);
    }
    REQUIRE(lines.size() == 4);
    CHECK(*parse_json<sc::metric_message>(lines[0]) == golden_scaling::message_metric());
    CHECK(*parse_json<sc::command_message>(lines[1]) == golden_scaling::message_command());
    CHECK(*parse_json<sc::result_message>(lines[2]) == golden_scaling::message_applied());
    CHECK(*parse_json<sc::result_message>(lines[3]) == golden_scaling::message_failed());
}

TEST_CASE("commands and their results are read back")
{
    const sc::command c{UINT64_MAX, 0, UINT64_MAX};
    CHECK(*read_json<sc::command>(json(c)) == c);
    CHECK(json(sc::applied{3}).dump() == R"({"applied":3})");
    CHECK(json(sc::failed{3}).dump() == R"({"failed":3})");
    CHECK(*read_json<sc::applied>(json(sc::applied{3})) == sc::applied{3});
    CHECK(*read_json<sc::failed>(json(sc::failed{3})) == sc::failed{3});
    CHECK(wrong<sc::applied>(json(sc::failed{3})) == "/applied: expected a value, found nothing");
    CHECK(wrong<sc::command>({{"id", 1}, {"from", 2}}) == "/to: expected a value, found nothing");
    CHECK(wrong<sc::command>({{"id", 1}, {"from", 2}, {"to", -1}}) ==
          "/to: expected a whole number of at most 64 bits, found -1");
}

TEST_CASE("a message with an unknown field, without a field or of a later version is refused")
{
    const auto m = golden_scaling::message_metric();
    CHECK(wrong_field(m, "unit", "1") ==
          "/unit: expected one of the fields version, resource_base64, resource, "
          "metric_base64, metric, at, value, found \"1\"");
    CHECK(wrong_field(m, "version", 2) ==
          "/version: expected version 1 or older (update the program), found 2");
    CHECK(wrong_field(m, "value", "1") == "/value: expected a number, found \"1\"");
    CHECK(wrong_field(m, "at", 5).starts_with("/at: expected a time"));
    for (const char* field : {"version", "resource", "metric", "at", "value"}) {
        json j = m;
        j.erase(field);
        CHECK(wrong<sc::metric_message>(j) ==
              "/" + std::string(field) + ": expected a value, found nothing");
    }
    const auto c = golden_scaling::message_command();
    CHECK(wrong_field(c, "by", 1).starts_with("/by: expected one of the fields"));
    CHECK(wrong_field(c, "version", 2) ==
          "/version: expected version 1 or older (update the program), found 2");
    CHECK(wrong_field(c, "from", 0.5) ==
          "/from: expected a whole number of at most 64 bits, found 0.5");
    const auto r = golden_scaling::message_applied();
    CHECK(wrong_field(r, "failed", 17) ==
          "the document: expected either \"applied\" or \"failed\", found an object");
    CHECK(wrong<sc::result_message>({{"version", 1}, {"resource", "orders"}}) ==
          "the document: expected either \"applied\" or \"failed\", found an object");
    CHECK(wrong_field(r, "id", 17).starts_with("/id: expected one of the fields"));
}

TEST_CASE("a sample that is not finite is not written")
{
    sc::metric_message m = golden_scaling::message_metric();
    m.value = std::numeric_limits<double>::quiet_NaN();
    CHECK_FALSE(json(m).contains("value"));
    CHECK(wrong<sc::metric_message>(json(m)) == "/value: expected a value, found nothing");
    sc::autoscale_state s = golden_scaling::autoscale_state();
    s.metrics[0].samples[0].value = std::numeric_limits<double>::infinity();
    const auto read = read_json<sc::autoscale_state>(json(s));
    REQUIRE(read);
    CHECK(read->metrics[0].samples.size() == 1);
}

TEST_CASE("names that are not UTF-8 are read back")
{
    sc::command_message c{"orders \xff", {1, 2, 3}};
    CHECK(*parse_json<sc::command_message>(json(c).dump()) == c);
    sc::result_message r{"orders \xff", 1, false, "\xff"};
    CHECK(*parse_json<sc::result_message>(json(r).dump()) == r);
    sc::metric_message m{"\xfe", "\xff", {}, 1};
    CHECK(*parse_json<sc::metric_message>(json(m).dump()) == m);
}

TEST_CASE("the state of an autoscaler is read completely, or refused with the path")
{
    const auto s = golden_scaling::autoscale_state();
    CHECK(*read_json<sc::autoscale_state>(json(sc::autoscale_state{})) == sc::autoscale_state{});
    CHECK(wrong_field(s, "version", 2) ==
          "/version: expected version 1 or older (update the program), found 2");
    CHECK(wrong_field(s, "more", 2) ==
          "/more: expected one of the fields version, state, metrics, found 2");
    json j = s;
    j["metrics"][0]["samples"][1][1] = "x";
    CHECK(wrong<sc::autoscale_state>(j) ==
          "/metrics/0/samples/1/1: expected a number, found \"x\"");
    j["metrics"][0]["samples"][1] = 3;
    CHECK(wrong<sc::autoscale_state>(j) == "/metrics/0/samples/1: expected [time, value], found 3");
    j = s;
    j["state"]["last_id"] = 16;
    CHECK(wrong<sc::autoscale_state>(j).starts_with("/state/pending: expected an \"id\""));
}

TEST_CASE("the interval and the window of a policy are written if they differ from the default")
{
    sc::policy p = golden_scaling::policy_small();
    CHECK_FALSE(sc::write_policy(p)->contains("every"));
    p.every = duration::seconds(5);
    p.window = duration::seconds(90);
    const auto j = sc::write_policy(p);
    REQUIRE(j);
    CHECK((*j)["every"] == "5s");
    CHECK(*sc::read_policy(*j) == p);
}

}  // namespace json_scaling_messages_test
