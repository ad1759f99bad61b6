// SPDX-License-Identifier: MIT
//
// The functions accept nlohmann::ordered_json: the fields keep the order in which they are written,
// and each value is read back.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <waybill/ext/json/batch.hpp>
#include <waybill/ext/json/consume.hpp>
#include <waybill/ext/json/queue.hpp>
#include <waybill/ext/json/retry.hpp>
#include <waybill/ext/json/scaling.hpp>
#include <waybill/ext/json/session.hpp>
#include <waybill/ext/json/window.hpp>
#include <waybill/window/measures.hpp>
#include <waybill/window/sliding_window.hpp>

namespace json_ordered_test {
namespace {

using namespace waybill;
using namespace std::chrono_literals;
using nlohmann::json;
using nlohmann::ordered_json;

/// True if `value` is read back from an ordered JSON value that equals the sorted one.
template <class T>
bool comes_back(const T& value)
{
    const ordered_json written = value;
    const auto read = read_json<T>(written);
    return read && *read == value && json::parse(written.dump()) == json(value);
}

TEST_CASE("ordered_json: policies are read back")
{
    CHECK(comes_back(retry_policy{.max_attempts = 4, .pauses = {.cap = 5s}}));
    CHECK(comes_back(send_policy{.limit = {.bytes = 1'000}, .linger = 20ms}));
    CHECK(comes_back(batch_policy{.decide_all_failed_from = 7}));
    CHECK(comes_back(settle_policy{.max_deliveries = 3}));
    CHECK(comes_back(pipeline_policy{.max_wait_in_hand = 9s}));
    CHECK(ordered_json(retry_levels{}).dump() ==
          R"({"immediate":5,"delayed":3,"pauses":{"base":"100ms","cap":"30s","factor":2.0,)"
          R"("spread":"full","step":"0s","highest_hint":"1h"}})");
}

TEST_CASE("ordered_json: stored states are read back")
{
    CHECK(comes_back(checkpoint{{17, "o"}, 3}));
    CHECK(ordered_json(checkpoint{{17, "\xFF"}, 3}).dump() ==
          R"({"version":1,"at":{"sequence":17,"offset_base64":"/w=="},"epoch":3})");
    CHECK(comes_back(detail::calibrator(batch_limits{.bytes = 1'000}).state()));
    CHECK(comes_back(dead_letter{.key = {"orders", "billing", "0"}, .body = "\x80"}));
    CHECK(comes_back(scaling::state{}));

    deferred_messages deferrals;
    deferrals.restore({.sequence = 5, .due = wall_time{}, .attempts = 2});
    CHECK(read_json_with<deferred_messages>(ordered_json(deferrals), {})->next_due() ==
          deferrals.next_due());

    using window = sliding_window<stats<std::int64_t>>;
    window w;
    w.insert(wall_time{}, -3);
    CHECK(ordered_json(w).dump() == R"({"version":1,"samples":[["1970-01-01T00:00:00Z",-3]]})");
    CHECK(*read_json_with<window>(ordered_json(w), {}) == w);
}

TEST_CASE("ordered_json: a scaling policy is read back")
{
    scaling::policy p;
    p.up = scaling::mean("orders") > 300;
    p.instances.highest = 20;
    const auto written = scaling::write_policy<ordered_json>(p);
    REQUIRE(written);
    CHECK((*written)["up"].dump() == R"({"mean":"orders","above":300.0})");
    const auto read = scaling::read_policy(*written);
    REQUIRE_MESSAGE(read.has_value(), describe(read.error()));
    CHECK(*read == p);
}

TEST_CASE("ordered_json: reports and actions are written")
{
    CHECK(ordered_json(item_report{{3, 2}, item_outcome::accepted}).dump() ==
          R"({"first":3,"count":2,"outcome":"accepted"})");
    CHECK(ordered_json(batch_report{.handled = 4})["handled"] == 4);
    CHECK(ordered_json(batch_sender::action(wait_until{steady_time{}})).dump() ==
          R"({"act":"wait_until","until_steady_ns":0})");
    CHECK(ordered_json(settlement(complete{})).dump() == R"({"act":"complete"})");
    CHECK(ordered_json(retry_loop::action(give_up{}))["act"] == "give_up");
    CHECK(ordered_json(fault{fault_kind::transient, "no route"}).dump() ==
          R"({"kind":"transient","text":"no route"})");
}

TEST_CASE("ordered_json: an error has the path and the value")
{
    const auto read = read_json<retry_policy>(ordered_json{{"pauses", {{"base", 100}}}});
    CHECK(describe(read.error()) ==
          "/pauses/base: expected a duration such as \"1.5s\" (ns, us, ms, s, min, h, or "
          "\"forever\"), found 100");
    CHECK(read_json<retry_policy>(ordered_json{{"max_attempts", 3}, {"least", 1}}).error().kind ==
          json_error::code::unknown_field);
}

struct order {
    std::uint64_t lines = 0;
    std::optional<std::string> note{};
};

template <class Json>
void read_value(const json_place<Json>& at, order& into)
{
    json_fields(at).required("lines", into.lines).optional("note", into.note).done();
}

TEST_CASE("a type of the caller is read from json and ordered_json")
{
    CHECK(read_json<order>(ordered_json{{"note", "n"}, {"lines", 3}})->note == "n");
    CHECK(parse_json<order>(R"({"lines":3})")->lines == 3);
    CHECK(parse_json<order>("{}").error().kind == json_error::code::missing);
}

}  // namespace
}  // namespace json_ordered_test
