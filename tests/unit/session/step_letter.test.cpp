// SPDX-License-Identifier: MIT

#include <waybill/session/step_letter.hpp>

#include <chrono>
#include <string>
#include <variant>

#include <doctest/doctest.h>
#include <waybill/core/crc32c.hpp>
#include <waybill/session/letter_drain.hpp>
#include <waybill/session/redrive_names.hpp>

namespace step_letter_test {
namespace {

using namespace std::chrono_literals;
namespace act = waybill::act;
using waybill::fault_class;
using waybill::letter_keeps;
using waybill::park_reason;
using waybill::session_progress;
using waybill::step_letter;
using waybill::step_letter_policy;

const waybill::wall_time noon = waybill::wall_time::at(12h);

waybill::step_message message()
{
    return {{"order-17", 3, 1, 5, false}, {}, 42, "m3", "{\"total\":17}", noon - 1h};
}

TEST_CASE("step_letter: says all that brings its session back")
{
    const session_progress p{.done = 2, .total = 5};
    const step_letter l = make_step_letter(message(), act::park{park_reason::failed, 42, 3, 4}, "no template", p, noon);
    CHECK(l.stamp == message().stamp);
    CHECK(l.sequence == 42);
    CHECK(l.message_id == "m3");
    CHECK(l.cause == 42);
    CHECK(l.resume_at == 3);
    CHECK(l.tries == 4);
    CHECK(!l.alone);
    CHECK(l.body == "{\"total\":17}");
    CHECK(l.kept == letter_keeps::body);
    CHECK(l.size == 12);
    CHECK(l.checksum == waybill::crc32c("{\"total\":17}"));
    CHECK(l.parked == noon);
    CHECK(is_cause(l));
    CHECK(text(l) == "order-17, step 3 of 5 (42): failed: no template");

    waybill::step_message next = message();
    next.stamp.step = 4;
    next.sequence = 43;
    const auto behind = make_step_letter(next, act::park{park_reason::session_failed, 42, 3, 0}, "no template", p, noon);
    CHECK(behind.resume_at == 3);
    CHECK(!is_cause(behind));
    CHECK(text(behind) == "order-17, step 4 of 5 (43): session_failed by 42: no template");
}

TEST_CASE("step_letter: where the session stands, as far as anybody knows")
{
    const auto stands = [](park_reason why, const session_progress& p, std::uint64_t first = 1) {
        waybill::step_message m = message();
        m.stamp.first = first;
        return make_step_letter(m, act::park{why, 42, 3, 1}, "", p, noon).resume_at;
    };
    CHECK(stands(park_reason::gap, {.done = 1}) == 2);       // step 2 is missing
    CHECK(stands(park_reason::failed, {}, 3) == 3);          // a redriven session that has just begun
    CHECK(stands(park_reason::failed, {.done = UINT64_MAX}) == UINT64_MAX);
    CHECK(stands(park_reason::unreadable, {}) == 0);
    CHECK(stands(park_reason::broker, {}) == 0);
    const session_progress p{.done = 2};
    CHECK(make_broker_letter(message(), "", 10, &p, noon).resume_at == 3);
    CHECK(make_broker_letter(message(), "", 10, nullptr, noon).resume_at == 0);
    CHECK(make_broker_letter(message(), "MaxDeliveryCountExceeded", 10, nullptr, noon).text == "MaxDeliveryCountExceeded");
}

TEST_CASE("step_letter: texts are bounded, bodies kept as the policy says")
{
    const act::park a{park_reason::failed, 42, 3, 1};
    const std::string euros(600, '\xE2');
    std::string text_of_euros;
    for (int i = 0; i != 600; ++i) text_of_euros += "\xE2\x82\xAC";
    CHECK(make_step_letter(message(), a, text_of_euros, {}, noon).text.size() == 1'023);
    CHECK(make_step_letter(message(), a, text_of_euros, {}, noon, {.reason_bytes = 2}).text.empty());

    const auto kept = [&](step_letter_policy p, bool bare = false) {
        return make_step_letter(message(), act::park{park_reason::failed, 42, 3, 1, bare}, "", {}, noon, p);
    };
    const auto goes_on = [&](bool alone, step_letter_policy p) {
        return make_step_letter(message(), act::park{park_reason::failed, 42, 3, 1, false, alone}, "", {}, noon, p).alone;
    };
    CHECK(kept({.body_bytes = 11}).kept == letter_keeps::summary);
    CHECK(kept({.body_bytes = 12}).kept == letter_keeps::body);
    CHECK(kept({.keeps = letter_keeps::summary, .summary_bytes = 4}).body == "{\"to");
    CHECK(kept({.keeps = letter_keeps::pointer}).body.empty());
    CHECK(kept({}, true).kept == letter_keeps::pointer);
    CHECK(kept({}, true).size == 12);
    // Nothing at all is refused, and reads as a pointer.
    CHECK(check(step_letter_policy{.keeps = letter_keeps::nothing})->field == "keeps");
    CHECK(!check(step_letter_policy{}));
    CHECK(kept({.keeps = letter_keeps::nothing}).kept == letter_keeps::pointer);
    // The pipeline says whether its session goes on; of the broker's letters the policy does.
    const step_letter_policy import{.mode = waybill::pipeline_mode::independent};
    CHECK(goes_on(true, {}));
    CHECK(goes_on(true, import));
    CHECK(!goes_on(false, import));
    CHECK(make_broker_letter(message(), "", 10, nullptr, noon, import).alone);
    CHECK(!make_broker_letter(message(), "", 10, nullptr, noon).alone);
}

TEST_CASE("step_letter: the one that stopped its session has the state, if it is not too large")
{
    waybill::step_message m = message();
    m.state = "waybill/1 ...";
    const auto parked = [&](park_reason why, step_letter_policy p = {}, bool bare = false) {
        return make_step_letter(m, act::park{why, 42, 3, 1, bare}, "", {.done = 2}, noon, p);
    };
    CHECK(parked(park_reason::failed).state == m.state);
    CHECK(parked(park_reason::gap).state == m.state);
    CHECK(!parked(park_reason::failed).state_cut);
    CHECK(parked(park_reason::session_failed).state.empty());
    // One that cannot be read would stop the next session as well.
    CHECK(parked(park_reason::unreadable).state.empty());
    CHECK(!parked(park_reason::unreadable).state_cut);
    const act::park went_on{.reason = park_reason::failed, .cause = 42, .cause_step = 3, .tries = 1, .alone = true};
    CHECK(make_step_letter(m, went_on, "", {.done = 2}, noon).state.empty());
    CHECK(parked(park_reason::failed, {.state_bytes = 13}).state == m.state);
    CHECK(parked(park_reason::failed, {.state_bytes = 12}).state.empty());
    CHECK(parked(park_reason::failed, {.state_bytes = 12}).state_cut);
    CHECK(parked(park_reason::failed, {}, true).state_cut);
    const session_progress p{.done = 2};
    CHECK(make_broker_letter(m, "", 10, &p, noon).state == m.state);
    CHECK(make_broker_letter(m, "", 10, nullptr, noon).state.empty());
    m.state = {};
    CHECK(!parked(park_reason::failed, {}, true).state_cut);
    // Parked again by one that knows nothing of it.
    m.state = "s";
    const step_letter knows = parked(park_reason::failed);
    step_letter later = knows;
    later.state.clear();
    CHECK(merged_letter(knows, later) == knows);
    later.state = "t";
    CHECK(merged_letter(knows, later).state == "t");
}

TEST_CASE("step_letter: that of the last step has the state as well")
{
    waybill::step_message m = message();
    m.state = "waybill/1 ...";
    const auto behind = [&](const session_progress& p, step_letter_policy policy = {}, bool bare = false) {
        return make_step_letter(m, act::park{park_reason::session_failed, 42, 3, 0, bare}, "", p, noon, policy);
    };
    const session_progress two{.done = 2, .total = 5};
    CHECK(behind(two).state.empty());
    m.stamp.step = 5;
    CHECK(behind(two).state == m.state);
    // Whoever says that it is the last: the message, one before it, or both.
    m.stamp.total = 0;
    CHECK(behind(two).state == m.state);
    CHECK(behind({.done = 2}).state.empty());
    m.stamp.last = true;
    CHECK(behind({.done = 2}).state == m.state);
    // Where it is too large that is said, but not where there is no room for it in this letter:
    // the one that stopped the session has it.
    CHECK(behind(two, {.state_bytes = 12}).state_cut);
    CHECK(behind(two, {}, true).state.empty());
    CHECK(!behind(two, {}, true).state_cut);
    // A session that has done nothing has none that would be missed.
    CHECK(behind({}).state.empty());
    CHECK(!behind({}, {.state_bytes = 12}).state_cut);
    // Those that go on alone have none.
    const act::park alone{.reason = park_reason::failed, .cause = 42, .cause_step = 5, .tries = 1, .alone = true};
    CHECK(make_step_letter(m, alone, "", two, noon).state.empty());
}

TEST_CASE("step_letter: what a pipeline has written, and how far a redrive was, is not lost")
{
    auto mine = make_step_letter(message(), act::park{park_reason::failed, 42, 3, 1}, "no template", {.done = 2}, noon);
    const auto drained = make_broker_letter(message(), "MaxDeliveryCountExceeded", 10, nullptr, noon + 1h);
    CHECK(merged_letter(mine, drained) == mine);
    CHECK(merged_letter(drained, drained) == drained);
    step_letter over_drained = mine;
    CHECK(merged_letter(drained, mine) == over_drained);
    mine.sent_to = 4;
    CHECK(merged_letter(mine, drained) == mine);
    over_drained.text = "no printer";
    CHECK(merged_letter(mine, over_drained).text == "no printer");
    CHECK(merged_letter(mine, over_drained).sent_to == 4);
    // What the broker's letter alone has seen of the state, unless it is of an earlier step.
    step_letter seen = drained;
    seen.state = "s";
    seen.resume_at = mine.resume_at;
    mine.state.clear();
    CHECK(merged_letter(mine, seen).state == "s");
    CHECK(merged_letter(mine, seen).text == mine.text);
    CHECK(merged_letter(drained, seen).state == "s");
    seen.resume_at = mine.resume_at - 1;
    CHECK(merged_letter(mine, seen).state.empty());
    mine.state = "m";
    seen.resume_at = mine.resume_at;
    CHECK(merged_letter(mine, seen).state == "m");
    // Another message under the same number, once numbers have gone round.
    waybill::step_message other = message();
    other.message_id = "another";
    const auto later = make_broker_letter(other, "", 10, nullptr, noon + 2h);
    CHECK(merged_letter(mine, later) == later);
}

TEST_CASE("letter_drain: the letter first, then the message")
{
    const auto parks = [](const waybill::letter_drain& d) { return std::holds_alternative<act::park>(d.next({})); };
    const auto completes = [](const waybill::letter_drain& d) { return std::holds_alternative<act::complete>(d.next({})); };
    waybill::letter_drain d(10);
    CHECK(d.next({}) == waybill::letter_drain::action(act::park{park_reason::broker, 0, 0, 10}));
    CHECK(d.on(waybill::completed{}, {}) == waybill::heard::late);
    CHECK(d.on(waybill::step_parked{}, {}) == waybill::heard::taken);
    CHECK(completes(d));
    CHECK(d.on(waybill::step_parked{}, {}) == waybill::heard::late);
    CHECK(d.on(waybill::completed{}, {}) == waybill::heard::taken);
    CHECK(d.end() == waybill::drain_end::drained);
    CHECK(std::holds_alternative<act::idle>(d.next({})));
    CHECK(d.on(waybill::completed{}, {}) == waybill::heard::late);

    waybill::letter_drain fails;
    CHECK(fails.on(waybill::step_parked{fault_class::infrastructure}, {}) == waybill::heard::taken);
    CHECK(fails.end() == waybill::drain_end::left);

    waybill::letter_drain stays;
    CHECK(stays.on(waybill::step_parked{fault_class::permanent}, {}) == waybill::heard::taken);
    CHECK(stays.end() == waybill::drain_end::left);

    waybill::letter_drain large(0, waybill::when_refused::without_body);
    CHECK(large.on(waybill::step_parked{fault_class::permanent}, {}) == waybill::heard::taken);
    CHECK(parks(large));
    CHECK(std::get<act::park>(large.next({})).bare);
    waybill::letter_drain never = large;
    CHECK(never.on(waybill::step_parked{fault_class::permanent}, {}) == waybill::heard::taken);
    CHECK(never.end() == waybill::drain_end::left);
    CHECK(large.on(waybill::step_parked{}, {}) == waybill::heard::taken);
    CHECK(large.on(waybill::completed{fault_class::infrastructure}, {}) == waybill::heard::taken);
    CHECK(large.end() == waybill::drain_end::uncertain);
    for (const auto e : {waybill::drain_end::running, waybill::drain_end::drained, waybill::drain_end::left,
                         waybill::drain_end::uncertain}) {
        CHECK(name(e) != "?");
    }
}

TEST_CASE("redrive_names: follow from what is redriven, and have their bounds")
{
    CHECK(waybill::redriven_session("order-17", 1) == "order-17~1");
    CHECK(waybill::redriven_message_id("order-17", 42, 1) == "order-17/00000000000000000042~1");
    for (std::size_t n = 0; n != 300; ++n) {
        const std::string id(n, 'x');
        const std::string s = waybill::redriven_session(id, 7);
        const std::string m = waybill::redriven_message_id(id, 42, 7);
        CHECK(s.size() == (n <= 126 ? n + 2 : 128));
        CHECK(m.size() == (n <= 105 ? n + 23 : 128));
        CHECK(s.substr(s.size() - 2) == "~7");
        CHECK(waybill::redriven_session(id + "x", 7) != s);
        CHECK(waybill::redriven_message_id(id + "x", 42, 7) != m);
    }
    // Its form does not change any more.
    CHECK(waybill::redriven_session(std::string(200, 'a'), 1) ==
          std::string(93, 'a') + ".c2a908d98f5df987ade41b5fce213067~1");
    // Characters are not cut in two.
    std::string euros;
    for (int i = 0; i != 60; ++i) euros += "\xE2\x82\xAC";
    CHECK(waybill::redriven_session(euros, 12).size() == 93 - 1 + 33 + 3 - 2);
    CHECK(waybill::redriven_session(euros, UINT64_MAX, 1).size() <= 80);
}

}  // namespace
}  // namespace step_letter_test
