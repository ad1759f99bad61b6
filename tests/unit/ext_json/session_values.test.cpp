// SPDX-License-Identifier: MIT
//
// The values of the module session as JSON: policies, properties and dead letters are written and
// read back, the others are only written.

#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/ext/json/session.hpp>
#include <waybill/session/detail/sealed_state.hpp>

namespace json_session_values_test {
namespace {

using namespace waybill;
using nlohmann::json;

constexpr wall_time noon = wall_time::at(duration::seconds(1'709'208'000));

template <class T>
void there_and_back(const T& value)
{
    const std::string written = json(value).dump();
    CAPTURE(written);
    const auto again = parse_json<T>(written);
    REQUIRE_MESSAGE(again.has_value(), describe(again.error()));
    CHECK(*again == value);
    CHECK(json(*again).dump() == written);
}

pipeline_dead_letter a_letter()
{
    pipeline_dead_letter l;
    l.properties = {"order-17", 3, 2, 5, false};
    l.origin = {"order", 12, 1, 4};
    l.sequence = (1ULL << 48U) + 17;
    l.message_id = "m-\xFF";
    l.reason = dead_letter_reason::exhausted;
    l.cause = 9;
    l.resume_at = 3;
    l.independent = true;
    l.last_redriven_step = 4;
    l.text = "no printer answers";
    l.tries = 5;
    l.enqueued = noon;
    l.dead_lettered_at = noon + duration::milliseconds(1);
    l.kept = dead_letter_body::summary;
    l.state = std::string("\0\xff", 2);
    l.state_omitted = true;
    l.origin.state = "before";
    l.body = "{\"lines\"";
    l.size = 12'000;
    l.checksum = 0xFFFF'FFFF;
    return l;
}

}  // namespace

TEST_CASE("policies are read back, and missing fields have their defaults")
{
    there_and_back(pipeline_policy{});
    there_and_back(pipeline_policy{.mode = pipeline_policy::pipeline_mode::independent,
                                   .retry = {.max_attempts = 3},
                                   .max_wait_in_hand = duration::highest(),
                                   .max_deliveries = 4,
                                   .broker_max_deliveries = detail::highest_size,
                                   .unreadable = pipeline_policy::when_unreadable::hold,
                                   .refused = pipeline_policy::when_refused::without_body,
                                   .reason_bytes = 7});
    there_and_back(sweep_policy{.stuck_after = duration::seconds(3)});
    there_and_back(redrive_policy{.chunk = 7});
    there_and_back(redrive_policy{.max_per_second = 9, .options = {.damaged = true}});
    there_and_back(redrive_plan::options{.damaged = true, .max_id_bytes = 100});
    there_and_back(state_budget{.bytes = 1'000'000, .failure_reserve = 600});
    const auto some =
        parse_json<pipeline_policy>(R"({"mode":"independent","max_wait_in_hand":"5s"})");
    REQUIRE(some.has_value());
    CHECK(some->max_wait_in_hand == duration::seconds(5));
    CHECK(some->max_deliveries == pipeline_policy{}.max_deliveries);
    CHECK(describe(parse_json<pipeline_policy>(R"({"mode":"both"})").error()) ==
          "/mode: expected stop_on_failure or independent, found \"both\"");
    CHECK(parse_json<sweep_policy>(R"({"stuck":"1s"})").error().kind ==
          json_error::code::unknown_field);
}

TEST_CASE("step properties and dead letters are read back")
{
    there_and_back(step_properties{"order-17", 2, 1, 5, false});
    there_and_back(step_properties::origin{"order-17", 12, 1, 4});
    there_and_back(a_letter());
    there_and_back(pipeline_dead_letter{});
    json j = a_letter();
    CHECK(j["message_id_base64"] == "bS3/");
    j["version"] = 2;
    CHECK(read_json<pipeline_dead_letter>(j).error().kind == json_error::code::newer);
    j = a_letter();
    j.erase("properties");
    CHECK(describe(read_json<pipeline_dead_letter>(j).error()) ==
          "/properties: expected a value, found nothing");
    j = a_letter();
    j["reason"] = "eaten";
    CHECK(read_json<pipeline_dead_letter>(j).error().path == "/reason");
    CHECK(parse_json<step_properties>(R"({"session":"s","step":1})")->total == 0);
}

TEST_CASE("outcomes, reports and actions of sessions are written")
{
    CHECK(json(dead_letter_reason::ended_process) == "ended_process");
    CHECK(json(state_read::too_large) == "too_large");
    CHECK(json(detail::open_state("", 100)).dump() ==
          R"({"outcome":"corrupt","problem":"empty","size":0,"without_envelope":false})");
    CHECK(json(detail::open_state(std::string_view("{}"), 100))["without_envelope"] == true);
    CHECK(json(state_unwritten{state_unwritten::problem_type::too_large, 7, 5, {}}).dump() ==
          R"({"max_bytes":5,"problem":"too_large","size":7})");
    session_progress p{.done = 2, .total = 5, .begun = noon, .changed = noon};
    p.failed = session_progress::failure{3, 17, dead_letter_reason::gap, 1, "why", noon};
    const json j = p;
    CHECK(j["failed"]["reason"] == "gap");
    CHECK(j["begun"] == "2024-02-29T12:00:00Z");
    CHECK(json(step_facts{.sequence = 3})["deliveries"] == 1);
    CHECK(json(sweep_item{.verdict = sweep_item::sweep_verdict::clear_failed})["verdict"] ==
          "clear_failed");
    CHECK(json(redrive_plan{.ready = 3})["sessions"].empty());
    CHECK(json(job::progress{.done = 1, .total = 2}).dump() ==
          R"({"dead_lettered":0,"done":1,"total":2})");

    CHECK(json(pipeline{}.next(steady_time{})).dump() == R"({"act":"load_state"})");
    CHECK(json(pipeline::execute{3, 2}).dump() == R"({"act":"execute","step":3,"tries":2})");
    CHECK(json(pipeline::write_dead_letter{dead_letter_reason::session_failed, 17, 3, 1}).dump() ==
          R"({"act":"write_dead_letter","cause":17,"cause_step":3,"reason":"session_failed",)"
          R"("tries":1})");
    CHECK(json(pipeline::save_state{}).dump() == R"({"act":"save_state"})");
    CHECK(json(pipeline::save_state{true}).dump() == R"({"act":"save_state",)"
                                                     R"("keep_old_value":true})");
    CHECK(
        json(pipeline::write_dead_letter{.reason = dead_letter_reason::failed, .independent = true})
            .dump() == R"({"act":"write_dead_letter","independent":true,"reason":"failed",)"
                       R"("tries":0})");
    CHECK(json(pipeline::give_back{{}, fault_kind::infrastructure})["reason"] == "infrastructure");
    CHECK(json(redrive::action{redrive::resubmit{4, 5}}).dump() ==
          R"({"act":"resubmit","count":5,"offset":4})");
    CHECK(json(redrive::mark_sent{1, 2})["session"] == 1);
    CHECK(json(redrive::remove_dead_letters{1, 2})["count"] == 2);
    CHECK(json(dead_letter_import::action{complete{}})["act"] == "complete");
}

TEST_CASE("the progress member of a state equals the JSON of its progress")
{
    session_progress p{.done = 2, .total = 5, .dead_lettered = 1, .tries = 3, .begun = noon};
    p.changed = noon + duration::seconds(9);
    p.first = 2;
    p.failed = session_progress::failure{3, 17, dead_letter_reason::gap, 1, "\"why\"\n\x01", noon};
    const json nothing;
    std::string written;
    detail::json_out out{written};
    detail::put_progress(out, {p, nothing, {}}, p.failed->text);
    CHECK(json::parse(written) == json(p));
    CHECK(json::parse(written).dump() == written);  // sorted, as nlohmann's library has it
    std::string bytes;
    detail::cbor_out cbor{bytes};
    detail::put_progress(cbor, {p, nothing, {}}, p.failed->text);
    CHECK(json::from_cbor(bytes) == json(p));
    std::string same;
    json::to_cbor(json(p), same);
    CHECK(bytes == same);
}

}  // namespace json_session_values_test
