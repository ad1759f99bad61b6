// SPDX-License-Identifier: MIT

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <golden/scaling/values.hpp>
#include <support/golden.hpp>
#include <support/scaling_replay.hpp>

#include <waybill/ext/json/scaling.hpp>

namespace json_scaling_state_test {
namespace {

using namespace waybill;
namespace sc = waybill::scaling;
using nlohmann::json;

std::string wrong(const json& document)
{
    const auto read = read_json<sc::state>(document);
    return read ? "nothing" : describe(read.error());
}

// A valid state with one wrong field.
template <class V>
std::string wrong_field(const char* field, const V& value)
{
    json j = golden_scaling::state_typical();
    j[field] = value;
    return wrong(j);
}

TEST_CASE("states are written as in their golden files")
{
    const auto check = [](const char* file, const sc::state& s) {
        const std::string stored = tests_support::golden(file);
        CAPTURE(file);
        CHECK(json(s).dump(2) + "\n" == stored);
        const auto read = parse_json<sc::state>(stored);
        REQUIRE_MESSAGE(read.has_value(), describe(read.error()));
        CHECK(*read == s);
    };
    check("scaling/state_empty.json", golden_scaling::state_empty());
    check("scaling/state_typical.json", golden_scaling::state_typical());
    check("scaling/state_full.json", golden_scaling::state_full());
}

TEST_CASE("the state of the guide is read, and written the same")
{
    constexpr std::string_view shown = R"text(
{"version": 1, "last_id": 3, "warm_instances": 4, "last_up": "2024-02-29T12:40:00Z",
 "highest": "czm5oy0b5dkw 4 czm6i9qr0hog 2", "lowest": "", "applied_changes": "czm5oy0b5dkw 2 4"}
)text";
    const auto read = parse_json<sc::state>(shown);
    REQUIRE_MESSAGE(read.has_value(), describe(read.error()));
    CHECK(json(*read) == json::parse(shown));
}

TEST_CASE("a full state has fewer than 2,048 bytes")
{
    const sc::state full = golden_scaling::state_full();
    CHECK(full.highest.is_full());
    CHECK(full.lowest.is_full());
    CHECK(full.applied_changes.is_full());
    CHECK(json(full).dump().size() < 2'048);
    CHECK(json(golden_scaling::state_typical()).dump().size() < 400);
}

TEST_CASE("times are exact to the nanosecond")
{
    for (const std::int64_t ns : {INT64_MIN, INT64_MIN + 1, std::int64_t{-1}, std::int64_t{0},
                                  std::int64_t{1}, INT64_MAX - 1, INT64_MAX}) {
        const wall_time t = wall_time::at(duration::nanoseconds(ns));
        sc::state s;
        s.last_up = t;
        s.highest.push({t, 3});
        s.applied_changes.push({t, 1, 2});
        const auto read = read_json<sc::state>(json(s));
        REQUIRE(read.has_value());
        CHECK(*read == s);
    }
}

TEST_CASE("an invalid state is refused with its path")
{
    CHECK(wrong(json::array()) == "the document: expected an object, found an array");
    CHECK(wrong(json::object()) == "/version: expected a value, found nothing");
    CHECK(wrong({{"version", 1}}) == "/last_id: expected a value, found nothing");
    CHECK(wrong_field("version", 2) ==
          "/version: expected version 1 or older (update the program), found 2");
    CHECK(read_json<sc::state>(json{{"version", 2}}).error().kind == json_error::code::newer);
    CHECK(wrong_field("version", 0) == "/version: expected version 1 or older, found 0");
    CHECK(wrong_field("more", 1) ==
          "/more: expected one of the fields version, last_id, warm_instances, highest, lowest, "
          "applied_changes, pending, last_up, last_down, last_failure, warm_at, inactive_since, "
          "found 1");
    CHECK(wrong_field("last_id", -1) ==
          "/last_id: expected a whole number of at most 64 bits, found -1");
    CHECK(wrong_field("last_up", 5) ==
          "/last_up: expected a time such as \"2024-02-29T12:00:00.25Z\", found 5");
    CHECK(wrong_field("last_down", nullptr).starts_with("/last_down: expected a time"));
    CHECK(wrong_field("warm_at", "2023-02-29T12:00:00Z").starts_with("/warm_at: expected a time"));
    CHECK(wrong_field("pending", 3) == "/pending: expected an object, found 3");
    CHECK(wrong_field("last_id", 16) ==
          "/pending: expected an \"id\" of 1 to \"last_id\", found an object");
    json j = golden_scaling::state_typical();
    j["pending"]["id"] = 0;
    CHECK(wrong(j) == "/pending: expected an \"id\" of 1 to \"last_id\", found an object");
    j["pending"]["id"] = 17;
    j["pending"]["to"] = 4;
    CHECK(wrong(j) == "/pending: expected \"to\" other than \"from\", found an object");
    j = sc::state{};
    j["warm_at"] = "2262-01-01T00:00:00Z";
    CHECK(wrong(j) ==
          "/warm_at: expected no value, because \"last_up\" is missing, found "
          "\"2262-01-01T00:00:00Z\"");
}

TEST_CASE("a state written after a clock was hours ahead and set back is read again")
{
    sc::state s;
    for (const std::int64_t minute : {0, 30, 120, 0}) {  // the last one has the right time
        sc::decision d{.from = 20, .desired = 20 - s.highest.size(), .to = 20};
        d.now = wall_time::at(duration::seconds(60 * minute));
        d.stabilise.down = duration::seconds(10'800);
        s.on(d);
    }
    CHECK(s.highest.size() > 3);
    const auto read = read_json<sc::state>(json(s));
    REQUIRE(read.has_value());
    CHECK(*read == s);
}

TEST_CASE("lists are in order, and limited in length")
{
    CHECK(wrong_field("applied_changes", 5) ==
          "/applied_changes: expected numbers in base 36, found 5");
    CHECK(wrong_field("applied_changes", "a 1 2 b 3") ==
          "/applied_changes: expected a time and instances in base 36 as entry 1, found \"a 1 2 b "
          "3\"");
    CHECK(wrong_field("applied_changes", "a 1 -2").find("as entry 0") != std::string::npos);
    CHECK(wrong_field("applied_changes", "a 1 2 ").find("as entry 1") != std::string::npos);
    CHECK(wrong_field("applied_changes", "a  1 2").find("as entry 0") != std::string::npos);
    CHECK(wrong_field("applied_changes", " a 1 2").find("as entry 0") != std::string::npos);
    CHECK(wrong_field("applied_changes", "zzzzzzzzzzzzzz 1 2").find("as entry 0") !=
          std::string::npos);
    CHECK(wrong_field("applied_changes", "a 4w5e11264sgsf 2").find("as entry 0") !=
          std::string::npos);
    for (const char* other : {"A 1 2", "0a 1 2", "-0 1 2", "a 01 2"}) {
        CHECK(wrong_field("applied_changes", other) ==
              "/applied_changes: expected numbers in base 36 as waybill writes them, found \"" +
                  std::string(other) + "\"");
    }
    CHECK(wrong_field("applied_changes", "b 1 2 a 2 3") == "nothing");  // clocks are set back
    CHECK(wrong_field("highest", "b 5 a 4") ==
          "/highest: expected entry 1 not earlier than entry 0, found \"b 5 a 4\"");
    CHECK(wrong_field("highest", "a 5 a 4") == "nothing");
    CHECK(wrong_field("highest", "a 5 b 5") ==
          "/highest: expected fewer than 5 instances in entry 1, found \"a 5 b 5\"");
    CHECK(wrong_field("lowest", "a 5 b 6 c 6") ==
          "/lowest: expected more than 6 instances in entry 2, found \"a 5 b 6 c 6\"");
    CHECK(wrong_field("lowest", "c 5 b 6").find("entry 1 not earlier") != std::string::npos);
    std::string many;
    for (std::size_t n = 0; n <= sc::state::changes; ++n) many += n == 0 ? "1 2 3" : " 1 2 3";
    CHECK(wrong_field("applied_changes", many)
              .starts_with("/applied_changes: expected at most 16 entries, found "));
}

TEST_CASE("after an error the state is unchanged")
{
    json bad = golden_scaling::state_full();
    bad["inactive_since"] = "noon";
    sc::state s = golden_scaling::state_typical();
    std::optional<json_error> error;
    read_value(json_place{bad, {}, error}, s);
    CHECK(error->path == "/inactive_since");
    CHECK(s == golden_scaling::state_typical());
}

TEST_CASE("a restart changes no decision")
{
    const sc::policy p = tests_support::replay_policy();
    const auto undisturbed = tests_support::replay(p, [](sc::state&) {});
    std::size_t longest = 0;
    const auto restarted = tests_support::replay(p, [&](sc::state& s) {
        const std::string row = json(s).dump();
        longest = row.size() > longest ? row.size() : longest;
        const auto read = parse_json<sc::state>(row);
        REQUIRE(read.has_value());
        CHECK(*read == s);
        s = *read;
    });
    CHECK(undisturbed == restarted);
    CHECK(longest < 400);
}

TEST_CASE("the store of the guide of scaling")
{
    std::optional<std::string> row;
    //! [scaling_store]
    struct row_store {
        std::optional<std::string>& row;  // of a table, a file ...

        waybill::result<sc::autoscale_state> load()
        {
            if (!row) return sc::autoscale_state{};  // nothing is stored yet
            auto s = waybill::parse_json<sc::autoscale_state>(*row);
            if (!s) return waybill::unexpected(waybill::permanent(describe(s.error())));
            return *s;
        }
        waybill::fault save(const sc::autoscale_state& s)  // durable when it returns
        {
            row = nlohmann::json(s).dump();
            return {};
        }
    };
    //! [scaling_store]
    row_store store{row};
    static_assert(sc::state_store<row_store>);
    CHECK(*store.load() == sc::autoscale_state{});
    const sc::autoscale_state s{golden_scaling::state_typical(),
                                {{"orders", {{golden_scaling::noon, 5}}}}};
    CHECK(store.save(s).ok());
    CHECK(*store.load() == s);
    row = "{";
    CHECK(store.load().error().kind == fault_kind::permanent);
}

}  // namespace
}  // namespace json_scaling_state_test
