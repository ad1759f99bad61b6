// SPDX-License-Identifier: MIT
//
// The texts of pipelines, redrives and sweeps, as lines.

#include <string>

#include <doctest/doctest.h>
#include <fmt/ranges.h>
#include <fmt/std.h>

#include <waybill/ext/fmt/session.hpp>
#include <waybill/session/detail/sealed_state.hpp>

namespace fmt_session_test {
namespace {

using namespace waybill;

template <class T>
std::string line(const T& value)
{
    return fmt::format("{}", value);
}

TEST_CASE("outcomes of sessions are formatted by name")
{
    CHECK(line(state_read::newer) == "newer");
    CHECK(line(state_format::cbor) == "cbor");
    CHECK(line(opened_state::problem_type::too_short) == "too_short");
    CHECK(line(text_state::read_result::problem_type::no_reserve) == "no_reserve");
    CHECK(line(dead_letter_reason::ended_process) == "ended_process");
    CHECK(line(pipeline_policy::pipeline_mode::independent) == "independent");
    CHECK(line(pipeline_policy::when_unreadable::hold) == "hold");
    CHECK(line(step_outcome::given_back) == "given_back");
    CHECK(line(sweep_item::sweep_verdict::no_time) == "no_time");
    CHECK(line(redrive_plan::skip_reason::already_done) == "already_done");
    CHECK(line(redrive::redrive_outcome::stopped) == "stopped");
    CHECK(line(dead_letter_import::import_outcome::uncertain) == "uncertain");
    CHECK(line(job::error::code::no_steps) == "no_steps");
    CHECK(line(step_properties::read_result::read_outcome::not_bool) == "not_bool");
    CHECK(line(row_key::read_outcome::other_width) == "other_width");
}

TEST_CASE("session progress, states and step properties")
{
    session_progress p{.done = 2, .total = 5, .tries = 1};
    CHECK(line(p) == "2 of 5 done, 1 try at the next");
    p.failed =
        session_progress::failure{3, 17, dead_letter_reason::exhausted, 5, "no\nprinter", {}};
    CHECK(line(p) ==
          "2 of 5 done, 1 try at the next; stopped by step 3 (message 17) exhausted "
          "after 5 tries at 1970-01-01T00:00:00Z: no\\nprinter");
    CHECK(line(session_progress{.done = 9, .dead_lettered = 2}) ==
          "9 done, 2 of them dead-lettered");
    CHECK(line(step_properties{"order-17", 2, 1, 5, true}) == "order-17, step 2 of 5, the last");
    CHECK(line(step_properties{"a\n", 2, 2}) == "a\\n, step 2, begins with step 2");
    CHECK(line(step_facts{.sequence = 7, .step = 2, .deliveries = 3}) ==
          "step 2, message 7, delivery 3");
    CHECK(line(detail::open_state("", 10))
              .starts_with("state: corrupt: the state is empty (0 bytes)"));
    CHECK(line(state_budget::too_large{3, 2}).starts_with("state: too large: 3 bytes"));
    CHECK(line(state_budget{}) == "262144 bytes, 2048 of them kept for a failure");
    CHECK(line(schema_version{2, 1}) == "2.1");
    CHECK(
        line(pipeline_dead_letter{.properties = {"s", 3, 1, 5}, .sequence = 17, .text = "a\nb"}) ==
        "s, step 3 of 5 (17): failed: a\\nb");
}

TEST_CASE("policies, actions and reports of sessions")
{
    CHECK(line(pipeline_policy{.retry = {.max_attempts = 3}}) ==
          "stop_on_failure: at most 3 tries of a step, in hand for 10s, 7 deliveries of 10; "
          "unreadable: dead_letter, refused: hold");
    CHECK(line(sweep_policy{}) ==
          "messages live for 336h, failed states for 720h, stuck after 24h");
    CHECK(line(pipeline{}.next(steady_time{})) == "load state");
    CHECK(line(pipeline::execute{3}) == "execute step 3");
    CHECK(line(pipeline::execute{3, 2}) == "execute step 3, try 2");
    CHECK(line(pipeline::save_state{}) == "save state");
    CHECK(line(pipeline::save_state{true}) == "save state, undone");
    CHECK(line(pipeline::clear_state{}) == "clear state");
    CHECK(line(pipeline::write_dead_letter{dead_letter_reason::session_failed, 17, 3, 1}) ==
          "write dead letter: session_failed by message 17 of step 3 after 1 try");
    CHECK(line(pipeline::write_dead_letter{.reason = dead_letter_reason::gap,
                                           .without_body = true}) ==
          "write dead letter: gap, without its body");
    CHECK(line(pipeline::write_dead_letter{.reason = dead_letter_reason::failed,
                                           .independent = true}) ==
          "write dead letter: failed, of an independent step");
    CHECK(line(session_progress{.done = 4, .total = 6, .first = 3}) ==
          "4 of 6 done, begins with step 3");
    CHECK(line(pipeline::give_back{steady_time::at(duration::seconds(5)), fault_kind::transient}) ==
          "give back until steady 5s: transient");
    CHECK(line(redrive::action{redrive::resubmit{4, 5}}) == "resubmit 5 dead letters from 4 on");
    CHECK(line(redrive::mark_sent{1, 1}) == "mark 1 session as sent, the first is number 1");
    redrive::redrive_report report{.outcome = redrive::redrive_outcome::stopped,
                                   .reason = infrastructure("down\nagain"),
                                   .sent = 2,
                                   .in_doubt = 1};
    report.refused.push_back({"order-17", 4, 17, permanent("too large")});
    CHECK(line(report) ==
          "stopped (infrastructure: down\\nagain): 2 sent, 0 removed, 0 held back, "
          "1 in doubt, 1 refused");
    CHECK(line(report.refused[0]) == "order-17, step 4 (17): permanent: too large");
    CHECK(line(redrive::remove_dead_letters{1, 2}) == "remove 2 dead letters from 1 on");
    CHECK(line(dead_letter_import::action{complete{}}) == "complete");
    CHECK(line(session_progress{.done = 4, .arrived = 5, .arrived_sequence = 9}) ==
          "4 done, 5 numbered by arrival");
    CHECK(line(pipeline::step{.job = "order-17", .number = 4, .attempt = 2}) ==
          "order-17/4, attempt 2");
    CHECK(line(session_report::run_outcome::queue_empty) == "queue_empty");
    CHECK(
        line(session_report{.sessions = 1,
                            .received = 2,
                            .lost = 2,
                            .faults = 1,
                            .last_fault = infrastructure("no\nroute")}) ==
        "1 session, 2 messages: 0 done, 2 with an unknown outcome; unfinished, 1 fault, the last: "
        "no\\nroute");
}

}  // namespace
}  // namespace fmt_session_test
