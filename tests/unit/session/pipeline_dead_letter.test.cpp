// SPDX-License-Identifier: MIT

#include <chrono>
#include <string>
#include <variant>

#include <doctest/doctest.h>
#include <support/held.hpp>

#include <waybill/core/crc32c.hpp>
#include <waybill/session/dead_letter_import.hpp>
#include <waybill/session/detail/redrive_names.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>

namespace step_letter_test {
namespace {

using namespace std::chrono_literals;
using waybill::dead_letter_body;
using waybill::dead_letter_reason;
using waybill::fault_kind;
using waybill::pipeline_dead_letter;
using waybill::session_progress;

const waybill::wall_time noon = waybill::wall_time::at(12h);

waybill::pipeline_dead_letter::message message()
{
    return {{"order-17", 3, 1, 5, false}, {}, 42, "m3", "{\"total\":17}", noon - 1h};
}

TEST_CASE("pipeline_dead_letter: contains all that a redrive needs")
{
    const session_progress p{.done = 2, .total = 5};
    const pipeline_dead_letter l = make_pipeline_dead_letter(
        message(), waybill::pipeline::write_dead_letter{dead_letter_reason::failed, 42, 3, 4},
        "no template", p, noon);
    CHECK(l.properties == message().properties);
    CHECK(l.sequence == 42);
    CHECK(l.message_id == "m3");
    CHECK(l.cause == 42);
    CHECK(l.resume_at == 3);
    CHECK(l.tries == 4);
    CHECK(!l.independent);
    CHECK(l.body == "{\"total\":17}");
    CHECK(l.kept == dead_letter_body::body);
    CHECK(l.size == 12);
    CHECK(l.checksum == waybill::crc32c("{\"total\":17}"));
    CHECK(l.dead_lettered_at == noon);
    CHECK(l.is_cause());
    CHECK(describe(l) == "order-17, step 3 of 5 (42): failed: no template");

    waybill::pipeline_dead_letter::message next = message();
    next.properties.step = 4;
    next.sequence = 43;
    const auto behind = make_pipeline_dead_letter(
        next, waybill::pipeline::write_dead_letter{dead_letter_reason::session_failed, 42, 3, 0},
        "no template", p, noon);
    CHECK(behind.resume_at == 3);
    CHECK(!behind.is_cause());
    CHECK(describe(behind) == "order-17, step 4 of 5 (43): session_failed by 42: no template");
}

TEST_CASE("pipeline_dead_letter: resume_at is the next step, or 0 if unknown")
{
    const auto stands = [](dead_letter_reason why, const session_progress& p,
                           std::uint64_t first = 1) {
        waybill::pipeline_dead_letter::message m = message();
        m.properties.first = first;
        return make_pipeline_dead_letter(m, waybill::pipeline::write_dead_letter{why, 42, 3, 1}, "",
                                         p, noon)
            .resume_at;
    };
    CHECK(stands(dead_letter_reason::gap, {.done = 1}) == 2);  // step 2 is missing
    CHECK(stands(dead_letter_reason::failed, {}, 3) ==
          3);  // a redriven session that has just begun
    CHECK(stands(dead_letter_reason::failed, {.done = UINT64_MAX}) == UINT64_MAX);
    CHECK(stands(dead_letter_reason::unreadable, {}) == 0);
    CHECK(stands(dead_letter_reason::broker, {}) == 0);
    const session_progress p{.done = 2};
    CHECK(make_broker_dead_letter(message(), "", 10, &p, noon).resume_at == 3);
    CHECK(make_broker_dead_letter(message(), "", 10, nullptr, noon).resume_at == 0);
    CHECK(make_broker_dead_letter(message(), "MaxDeliveryCountExceeded", 10, nullptr, noon).text ==
          "MaxDeliveryCountExceeded");
}

TEST_CASE(
    "pipeline_dead_letter: texts are bounded, and the policy decides what is kept of the body")
{
    const waybill::pipeline::write_dead_letter a{dead_letter_reason::failed, 42, 3, 1};
    const std::string euros(600, '\xE2');
    std::string text_of_euros;
    for (int i = 0; i != 600; ++i) text_of_euros += "\xE2\x82\xAC";
    CHECK(make_pipeline_dead_letter(message(), a, text_of_euros, {}, noon).text.size() == 1'023);
    CHECK(make_pipeline_dead_letter(message(), a, text_of_euros, {}, noon,
                                    {.dead_letters = {.reason_bytes = 2}})
              .text.empty());

    const auto kept = [&](pipeline_dead_letter::policy p, bool bare = false) {
        return make_pipeline_dead_letter(
            message(),
            waybill::pipeline::write_dead_letter{dead_letter_reason::failed, 42, 3, 1, bare}, "",
            {}, noon, p);
    };
    const auto goes_on = [&](bool alone, pipeline_dead_letter::policy p) {
        return make_pipeline_dead_letter(message(),
                                         waybill::pipeline::write_dead_letter{
                                             dead_letter_reason::failed, 42, 3, 1, false, alone},
                                         "", {}, noon, p)
            .independent;
    };
    CHECK(kept({.dead_letters = {.body_bytes = 11}}).kept == dead_letter_body::summary);
    CHECK(kept({.dead_letters = {.body_bytes = 12}}).kept == dead_letter_body::body);
    CHECK(kept({.dead_letters = {.keeps = dead_letter_body::summary, .summary_bytes = 4}}).body ==
          "{\"to");
    CHECK(kept({.dead_letters = {.keeps = dead_letter_body::pointer}}).body.empty());
    CHECK(kept({}, true).kept == dead_letter_body::pointer);
    CHECK(kept({}, true).size == 12);
    // Keeping nothing is refused, and counts as a pointer.
    CHECK(
        validate(pipeline_dead_letter::policy{.dead_letters = {.keeps = dead_letter_body::discard}})
            ->field == "dead_letters.keeps");
    CHECK(!validate(pipeline_dead_letter::policy{}));
    CHECK(kept({.dead_letters = {.keeps = dead_letter_body::discard}}).kept ==
          dead_letter_body::pointer);
    // The pipeline decides whether its session continues. For the broker's letters the policy
    // decides.
    const pipeline_dead_letter::policy import{
        .mode = waybill::pipeline_policy::pipeline_mode::independent};
    CHECK(goes_on(true, {}));
    CHECK(goes_on(true, import));
    CHECK(!goes_on(false, import));
    CHECK(make_broker_dead_letter(message(), "", 10, nullptr, noon, import).independent);
    CHECK(!make_broker_dead_letter(message(), "", 10, nullptr, noon).independent);
}

TEST_CASE(
    "pipeline_dead_letter: the letter that stopped its session has the state, within state_bytes")
{
    waybill::pipeline_dead_letter::message m = message();
    m.state = "waybill/1 ...";
    const auto parked = [&](dead_letter_reason why, pipeline_dead_letter::policy p = {},
                            bool bare = false) {
        return make_pipeline_dead_letter(
            m, waybill::pipeline::write_dead_letter{why, 42, 3, 1, bare}, "", {.done = 2}, noon, p);
    };
    CHECK(parked(dead_letter_reason::failed).state == m.state);
    CHECK(parked(dead_letter_reason::gap).state == m.state);
    CHECK(!parked(dead_letter_reason::failed).state_omitted);
    CHECK(parked(dead_letter_reason::session_failed).state.empty());
    // An unreadable state would stop the next session, too.
    CHECK(parked(dead_letter_reason::unreadable).state.empty());
    CHECK(!parked(dead_letter_reason::unreadable).state_omitted);
    const waybill::pipeline::write_dead_letter went_on{.reason = dead_letter_reason::failed,
                                                       .cause = 42,
                                                       .cause_step = 3,
                                                       .tries = 1,
                                                       .independent = true};
    CHECK(make_pipeline_dead_letter(m, went_on, "", {.done = 2}, noon).state.empty());
    CHECK(parked(dead_letter_reason::failed, {.state_bytes = 13}).state == m.state);
    CHECK(parked(dead_letter_reason::failed, {.state_bytes = 12}).state.empty());
    CHECK(parked(dead_letter_reason::failed, {.state_bytes = 12}).state_omitted);
    CHECK(parked(dead_letter_reason::failed, {}, true).state_omitted);
    const session_progress p{.done = 2};
    CHECK(make_broker_dead_letter(m, "", 10, &p, noon).state == m.state);
    CHECK(make_broker_dead_letter(m, "", 10, nullptr, noon).state.empty());
    m.state = {};
    CHECK(!parked(dead_letter_reason::failed, {}, true).state_omitted);
    // Dead-lettered again without the state.
    m.state = "s";
    const pipeline_dead_letter knows = parked(dead_letter_reason::failed);
    pipeline_dead_letter later = knows;
    later.state.clear();
    CHECK(waybill::pipeline_dead_letter::merged(knows, later) == knows);
    later.state = "t";
    CHECK(waybill::pipeline_dead_letter::merged(knows, later).state == "t");
}

TEST_CASE("pipeline_dead_letter: the letter of the last step also has the state")
{
    waybill::pipeline_dead_letter::message m = message();
    m.state = "waybill/1 ...";
    const auto behind = [&](const session_progress& p, pipeline_dead_letter::policy policy = {},
                            bool bare = false) {
        return make_pipeline_dead_letter(m,
                                         waybill::pipeline::write_dead_letter{
                                             dead_letter_reason::session_failed, 42, 3, 0, bare},
                                         "", p, noon, policy);
    };
    const session_progress two{.done = 2, .total = 5};
    CHECK(behind(two).state.empty());
    m.properties.step = 5;
    CHECK(behind(two).state == m.state);
    // The last step is known from the message, from an earlier one, or from both.
    m.properties.total = 0;
    CHECK(behind(two).state == m.state);
    CHECK(behind({.done = 2}).state.empty());
    m.properties.last = true;
    CHECK(behind({.done = 2}).state == m.state);
    // A state that is too large is marked as omitted. It is not marked if this letter had no space
    // for it, because the letter that stopped the session has it.
    CHECK(behind(two, {.state_bytes = 12}).state_omitted);
    CHECK(behind(two, {}, true).state.empty());
    CHECK(!behind(two, {}, true).state_omitted);
    // A session without any completed step needs no state.
    CHECK(behind({}).state.empty());
    CHECK(!behind({}, {.state_bytes = 12}).state_omitted);
    // Letters of independent steps have no state.
    const waybill::pipeline::write_dead_letter alone{.reason = dead_letter_reason::failed,
                                                     .cause = 42,
                                                     .cause_step = 5,
                                                     .tries = 1,
                                                     .independent = true};
    CHECK(make_pipeline_dead_letter(m, alone, "", two, noon).state.empty());
}

TEST_CASE("pipeline_dead_letter: merged keeps the pipeline's letter and the progress of a redrive")
{
    auto mine = make_pipeline_dead_letter(
        message(), waybill::pipeline::write_dead_letter{dead_letter_reason::failed, 42, 3, 1},
        "no template", {.done = 2}, noon);
    const auto drained =
        make_broker_dead_letter(message(), "MaxDeliveryCountExceeded", 10, nullptr, noon + 1h);
    CHECK(waybill::pipeline_dead_letter::merged(mine, drained) == mine);
    CHECK(waybill::pipeline_dead_letter::merged(drained, drained) == drained);
    pipeline_dead_letter over_drained = mine;
    CHECK(waybill::pipeline_dead_letter::merged(drained, mine) == over_drained);
    mine.last_redriven_step = 4;
    CHECK(waybill::pipeline_dead_letter::merged(mine, drained) == mine);
    over_drained.text = "no printer";
    CHECK(waybill::pipeline_dead_letter::merged(mine, over_drained).text == "no printer");
    CHECK(waybill::pipeline_dead_letter::merged(mine, over_drained).last_redriven_step == 4);
    // The state that only the broker's letter has, unless it is of an earlier step.
    pipeline_dead_letter seen = drained;
    seen.state = "s";
    seen.resume_at = mine.resume_at;
    mine.state.clear();
    CHECK(waybill::pipeline_dead_letter::merged(mine, seen).state == "s");
    CHECK(waybill::pipeline_dead_letter::merged(mine, seen).text == mine.text);
    CHECK(waybill::pipeline_dead_letter::merged(drained, seen).state == "s");
    seen.resume_at = mine.resume_at - 1;
    CHECK(waybill::pipeline_dead_letter::merged(mine, seen).state.empty());
    mine.state = "m";
    seen.resume_at = mine.resume_at;
    CHECK(waybill::pipeline_dead_letter::merged(mine, seen).state == "m");
    // Another message with the same number, after the numbers have wrapped.
    waybill::pipeline_dead_letter::message other = message();
    other.message_id = "another";
    const auto later = make_broker_dead_letter(other, "", 10, nullptr, noon + 2h);
    CHECK(waybill::pipeline_dead_letter::merged(mine, later) == later);
}

TEST_CASE("dead_letter_import: writes the dead letter before it completes the message")
{
    const auto parks = [](const waybill::dead_letter_import& d) {
        return waybill::holds_alternative<waybill::pipeline::write_dead_letter>(d.next({}));
    };
    const auto completes = [](const waybill::dead_letter_import& d) {
        return waybill::holds_alternative<waybill::complete>(d.next({}));
    };
    waybill::dead_letter_import d(10);
    CHECK(d.next({}) == waybill::dead_letter_import::action(waybill::pipeline::write_dead_letter{
                            dead_letter_reason::broker, 0, 0, 10}));
    CHECK(d.on(waybill::pipeline::completed{}, {}) == waybill::event_result::stale);
    CHECK(d.on(waybill::pipeline::step_dead_lettered{}, {}) == waybill::event_result::applied);
    CHECK(completes(d));
    CHECK(d.on(waybill::pipeline::step_dead_lettered{}, {}) == waybill::event_result::stale);
    CHECK(d.on(waybill::pipeline::completed{}, {}) == waybill::event_result::applied);
    CHECK(d.outcome() == waybill::dead_letter_import::import_outcome::drained);
    CHECK(waybill::holds_alternative<waybill::idle>(d.next({})));
    CHECK(d.on(waybill::pipeline::completed{}, {}) == waybill::event_result::stale);

    waybill::dead_letter_import fails;
    CHECK(fails.on(waybill::pipeline::step_dead_lettered{fault_kind::infrastructure}, {}) ==
          waybill::event_result::applied);
    CHECK(fails.outcome() == waybill::dead_letter_import::import_outcome::left);

    waybill::dead_letter_import stays;
    CHECK(stays.on(waybill::pipeline::step_dead_lettered{fault_kind::permanent}, {}) ==
          waybill::event_result::applied);
    CHECK(stays.outcome() == waybill::dead_letter_import::import_outcome::left);

    waybill::dead_letter_import large(0, waybill::pipeline_policy::when_refused::without_body);
    CHECK(large.on(waybill::pipeline::step_dead_lettered{fault_kind::permanent}, {}) ==
          waybill::event_result::applied);
    CHECK(parks(large));
    CHECK(tests_support::held<waybill::pipeline::write_dead_letter>(large.next({})).without_body);
    waybill::dead_letter_import never = large;
    CHECK(never.on(waybill::pipeline::step_dead_lettered{fault_kind::permanent}, {}) ==
          waybill::event_result::applied);
    CHECK(never.outcome() == waybill::dead_letter_import::import_outcome::left);
    CHECK(large.on(waybill::pipeline::step_dead_lettered{}, {}) == waybill::event_result::applied);
    CHECK(large.on(waybill::pipeline::completed{fault_kind::infrastructure}, {}) ==
          waybill::event_result::applied);
    CHECK(large.outcome() == waybill::dead_letter_import::import_outcome::uncertain);
    for (const auto e : {waybill::dead_letter_import::import_outcome::running,
                         waybill::dead_letter_import::import_outcome::drained,
                         waybill::dead_letter_import::import_outcome::left,
                         waybill::dead_letter_import::import_outcome::uncertain}) {
        CHECK(name(e) != "?");
    }
}

TEST_CASE("redrive_names: depend on the redriven id, and are bounded")
{
    CHECK(waybill::detail::redriven_session("order-17", 1) == "order-17~1");
    CHECK(waybill::detail::redriven_message_id("order-17", 42, 1) ==
          "order-17/00000000000000000042~1");
    for (std::size_t n = 0; n != 300; ++n) {
        const std::string id(n, 'x');
        const std::string s = waybill::detail::redriven_session(id, 7);
        const std::string m = waybill::detail::redriven_message_id(id, 42, 7);
        CHECK(s.size() == (n <= 126 ? n + 2 : 128));
        CHECK(m.size() == (n <= 105 ? n + 23 : 128));
        CHECK(s.substr(s.size() - 2) == "~7");
        CHECK(waybill::detail::redriven_session(id + "x", 7) != s);
        CHECK(waybill::detail::redriven_message_id(id + "x", 42, 7) != m);
    }
    // Its form does not change any more.
    CHECK(waybill::detail::redriven_session(std::string(200, 'a'), 1) ==
          std::string(93, 'a') + ".c2a908d98f5df987ade41b5fce213067~1");
    // Characters are not cut in two.
    std::string euros;
    for (int i = 0; i != 60; ++i) euros += "\xE2\x82\xAC";
    CHECK(waybill::detail::redriven_session(euros, 12).size() == 93 - 1 + 33 + 3 - 2);
    CHECK(waybill::detail::redriven_session(euros, UINT64_MAX, 1).size() <= 80);
}

}  // namespace
}  // namespace step_letter_test
