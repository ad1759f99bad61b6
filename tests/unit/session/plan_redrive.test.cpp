// SPDX-License-Identifier: MIT

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <list>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/dice.hpp>

#include <waybill/session/plan_redrive.hpp>
#include <waybill/session/redrive_plan.hpp>

namespace plan_redrive_test {
namespace {

using namespace std::chrono_literals;
using waybill::dead_letter_reason;
using waybill::pipeline_dead_letter;
using waybill::plan_redrive;
using waybill::redrive_plan;
using letters = std::vector<pipeline_dead_letter>;

// A letter of a step after step 3, which failed with the sequence number 103; or of step 3 itself.
pipeline_dead_letter letter(std::string session, std::uint64_t step, std::uint64_t sequence)
{
    pipeline_dead_letter l;
    l.properties = {std::move(session), step, 1, 5, step == 5};
    l.sequence = sequence;
    l.reason = step == 3 ? dead_letter_reason::failed : dead_letter_reason::session_failed;
    l.cause = 103;
    l.resume_at = 3;
    l.text = "no template";
    l.tries = 2;
    l.dead_lettered_at = waybill::wall_time::at(1h);
    return l;
}
letters order_17(std::initializer_list<std::uint64_t> steps = {3, 4, 5})
{
    letters v;
    for (const std::uint64_t s : steps) v.push_back(letter("order-17", s, 100 + s));
    return v;
}
std::vector<std::uint64_t> steps(const letters& v)
{
    std::vector<std::uint64_t> all;
    for (const pipeline_dead_letter& l : v) all.push_back(l.properties.step);
    return all;
}
// The only session of it.
waybill::redrive_plan::planned_session only(letters& v,
                                            const waybill::redrive_plan::options& o = {})
{
    const redrive_plan p = plan_redrive(v, {}, o);
    REQUIRE(p.sessions.size() == 1);
    CHECK(p.ready + p.held_back + p.filtered == v.size());
    CHECK(!describe(p.sessions[0], v).empty());
    return p.sessions[0];
}

TEST_CASE("plan_redrive: a session is sent under a new id from the step where it stopped")
{
    letters v = order_17({5, 3, 4});
    v[1].state = "two done";
    const redrive_plan p = plan_redrive(v);
    CHECK(steps(v) == std::vector<std::uint64_t>{3, 4, 5});
    REQUIRE(p.sessions.size() == 1);
    CHECK(p.ready == 3);
    CHECK("\n" + describe(p.sessions[0], v) + "\n" == R"text(
order-17 -> order-17~1: 3 dead letters, steps 3 to 5 of 5: failed: no template
)text");
    CHECK(describe(p) == "3 dead letters of 1 session to send, 0 of 0 held back, 0 not selected");
    const auto first = p.step(v, 0);
    CHECK(first.properties == waybill::step_properties{"order-17~1", 3, 3, 5, false});
    CHECK(first.origin == waybill::step_properties::origin{"order-17", 103, 1, 2, "two done"});
    CHECK(first.message_id == "order-17/00000000000000000103~1");
    CHECK(p.step(v, 2).properties == waybill::step_properties{"order-17~1", 5, 3, 5, true});
    letters again = v;
    CHECK(plan_redrive(again) == p);
    CHECK(plan_redrive(std::span<pipeline_dead_letter>()).sessions.empty());
}

TEST_CASE("plan_redrive: the first message of a session has the state at which it stopped")
{
    const auto states = [](letters v, const waybill::redrive_plan::options& o = {}) {
        std::string all;
        const redrive_plan p = plan_redrive(v, {}, o);
        for (std::uint64_t n = 0; n != p.ready; ++n) all += p.step(v, n).origin.state + ';';
        return all;
    };
    letters v = order_17();
    CHECK(states(v) == ";;;");
    v[0].state = "two done";
    CHECK(states(v) == "two done;;;");
    // It stopped at step 4, since 3 came too late.
    v[0].state.clear();
    v[1].state = "two done";
    CHECK(states(v) == "two done;;;");
    // The state that the session began with counts if no later one was written.
    v[0].origin.state = "one done";
    CHECK(states(v) == "two done;;;");
    v[1].state.clear();
    CHECK(states(v) == "one done;;;");
    // Of two states, the one with more completed steps.
    v[1].state = "two done";
    v[2].state = "three done";
    v[2].resume_at = 4;
    CHECK(states({v[1], v[2]}) == "three done;;");
    // A session that was sent already has got its state.
    v = order_17({3, 4});
    v[0].state = "two done";
    v[0].last_redriven_step = 3;
    CHECK(states(v) == ";;");
    for (pipeline_dead_letter& l : v) l.independent = true;
    v[0].last_redriven_step = 0;
    CHECK(states(v) == ";;");

    v = order_17();
    v[0].state_omitted = true;
    CHECK(only(v).reason == redrive_plan::skip_reason::damaged);
    CHECK(only(v).marks.state_omitted);
    CHECK(only(v, {.damaged = true}).reason == redrive_plan::skip_reason::none);
    CHECK(only(v, {.damaged = true}).total == 5);
}

TEST_CASE("plan_redrive: the first step in a message completes no earlier steps")
{
    // Step 2 has failed, and step 5 has itself as the first step of its session.
    letters v = order_17({2, 3, 4, 5});
    for (pipeline_dead_letter& l : v) {
        l.reason = l.properties.step == 2 ? dead_letter_reason::failed
                                          : dead_letter_reason::session_failed;
        l.resume_at = 2;
    }
    v[3].resume_at = 5;  // as in a letter that trusts this
    const auto s = only(v);
    CHECK(s.reason == redrive_plan::skip_reason::damaged);
    CHECK(s.marks.contradictory);
    CHECK(s.count == 4);
    CHECK(only(v, {.damaged = true}).first == 2);
}

TEST_CASE(
    "plan_redrive: a letter without a step number is held back, and others keep their numbers")
{
    letters v = order_17({0, 3, 4, 5});
    v[0].reason = dead_letter_reason::contradiction;
    for (const bool damaged : {false, true}) {
        letters now = v;
        const redrive_plan p = plan_redrive(now, {}, {.damaged = damaged});
        REQUIRE(p.sessions.size() == 2);
        CHECK(p.ready == 3);
        CHECK(steps(now) == std::vector<std::uint64_t>{3, 4, 5, 0});
        CHECK(p.step(now, 2).properties == waybill::step_properties{"order-17~1", 5, 3, 5, true});
        CHECK(p.sessions[1].reason == redrive_plan::skip_reason::damaged);
        CHECK(p.sessions[1].marks.unnumbered);
    }
    for (pipeline_dead_letter& l : v) l.properties.step = 0;
    CHECK(only(v, {.damaged = true}).total == 4);
}

TEST_CASE("plan_redrive: a session that was sent in part is sent to its end")
{
    // Only the last step has the total. All was sent, and the last letters are removed.
    letters v = order_17();
    for (pipeline_dead_letter& l : v) l.properties.total = 0;
    redrive_plan p = plan_redrive(v);
    CHECK(p.sessions[0].total == 5);
    const pipeline_dead_letter mark = p.marked(v, 0);
    CHECK(mark.properties.total == 5);
    letters left{mark};
    p = plan_redrive(left);
    CHECK(p.ready == 1);
    CHECK(p.was_sent(0));
    CHECK(!p.sessions[0].keeps_first);
    // A filter does not exclude the rest of a started session, unless it selects another session.
    CHECK(plan_redrive(left, {.reasons = {dead_letter_reason::gap}}).ready == 1);
    CHECK(plan_redrive(left, {.session = "order-18"}).filtered == 1);
    // Its body is not needed any more.
    left[0].kept = waybill::dead_letter_body::pointer;
    CHECK(plan_redrive(left).ready == 1);
    left[0].last_redriven_step = 0;
    CHECK(only(left).reason == redrive_plan::skip_reason::no_body);

    // The rest of a session that was sent without a total does not get another one.
    letters open = order_17({3, 4});
    p = plan_redrive(open);
    letters rest{p.marked(open, 0), letter("order-17", 4, 104)};
    rest[0].last_redriven_step = 3;
    const auto s = only(rest, {.close = true});
    CHECK(s.total == 5);
    CHECK(!s.keeps_first);
    CHECK(s.reason == redrive_plan::skip_reason::none);
    // Values that were sent take precedence over contradicting letters.
    letters partly_sent = order_17({3, 4});
    partly_sent[0].last_redriven_step = 4;
    partly_sent[0].properties.total = 6;
    CHECK(!only(partly_sent).marks.contradictory);
    CHECK(only(partly_sent).total == 6);
}

TEST_CASE("plan_redrive: letters with equal message ids are held back")
{
    letters v = order_17();
    for (pipeline_dead_letter& l : v) l.origin = {"order-17", 0, 1, 0};
    CHECK(only(v).reason == redrive_plan::skip_reason::damaged);
    for (std::size_t n = 0; n != v.size(); ++n) v[n].origin.sequence = n + 1;
    CHECK(only(v).reason == redrive_plan::skip_reason::none);
    // Nor can there be a generation after the last.
    for (pipeline_dead_letter& l : v) l.origin.generation = UINT64_MAX;
    CHECK(only(v).reason == redrive_plan::skip_reason::damaged);
}

TEST_CASE("pipeline_dead_letter::with_mark: raises the mark, and never lowers it")
{
    letters v = order_17({3, 4});
    pipeline_dead_letter stored = v[0];
    pipeline_dead_letter mark = v[0];
    mark.last_redriven_step = 4;
    mark.resume_at = 3;
    mark.properties.total = 7;
    mark.text = "read before";
    stored.text = "written since";
    const pipeline_dead_letter now = waybill::pipeline_dead_letter::with_mark(stored, mark);
    CHECK(now.last_redriven_step == 4);
    CHECK(now.properties.total == 7);
    CHECK(now.text == "written since");
    mark.last_redriven_step = 3;
    mark.properties.total = 6;
    CHECK(waybill::pipeline_dead_letter::with_mark(now, mark) == now);
    // A letter that is written again does not undo it, either.
    CHECK(waybill::pipeline_dead_letter::merged(now, v[0]).properties.total == 7);
    CHECK(waybill::pipeline_dead_letter::merged(v[1], v[1]) == v[1]);
}

TEST_CASE("plan_redrive: a second redrive has the next generation, and the same origin")
{
    letters v;
    for (const std::uint64_t s : {4U, 5U}) {
        v.push_back(letter("order-17~1", s, 200 + s));
        v.back().origin = {"order-17", 100 + s, 1, 2};
        v.back().resume_at = 4;
    }
    const redrive_plan p = plan_redrive(v);
    CHECK(p.sessions[0].id == "order-17~2");
    CHECK(p.step(v, 0).origin == waybill::step_properties::origin{"order-17", 104, 2, 4});
    v[0].message_id = "order-17/00000000000000000104~1";
    v[0].origin.message_id = "m4";
    CHECK(p.step(v, 0).origin.message_id == "m4");
    letters first = order_17();
    first[0].message_id = "m3";
    CHECK(plan_redrive(first).step(first, 0).origin.message_id == "m3");
    CHECK(p.step(v, 0).message_id == "order-17/00000000000000000104~2");
}

TEST_CASE(
    "plan_redrive: missing steps and contradictions hold a session back, unless `damaged` is set")
{
    letters head = order_17({4, 5});
    auto s = only(head);
    CHECK(s.reason == redrive_plan::skip_reason::damaged);
    CHECK(s.marks.head_missing);
    CHECK(describe(s, head) ==
          "order-17: 2 dead letters, steps 4 to 5, held back: damaged (its first step is missing, "
          "without its state)");
    s = only(head, {.damaged = true});
    CHECK(s.reason == redrive_plan::skip_reason::none);
    CHECK(s.first == 4);

    letters hole = order_17({3, 5});
    CHECK(only(hole).marks.hole);
    CHECK(only(hole).reason == redrive_plan::skip_reason::damaged);

    letters broker = order_17({5});
    broker[0].resume_at = 0;
    broker[0].reason = dead_letter_reason::broker;
    CHECK(only(broker).marks.start_unknown);
    CHECK(only(broker).reason == redrive_plan::skip_reason::damaged);
    broker[0].properties.first = 5;  // then it begins with it
    CHECK(only(broker).reason == redrive_plan::skip_reason::none);

    letters totals = order_17();
    totals[1].properties.total = 6;
    CHECK(only(totals).marks.contradictory);
    letters after_last = order_17({3, 4, 5});
    after_last.push_back(letter("order-17", 6, 106));
    CHECK(only(after_last).marks.contradictory);
    CHECK(only(after_last, {.damaged = true}).total == 6);
    letters two_lasts = order_17({3, 4, 5});
    for (pipeline_dead_letter& l : two_lasts) l.properties.total = 0;
    two_lasts[1].properties.last = true;
    CHECK(only(two_lasts).marks.contradictory);
    letters origins = order_17();
    origins[1].origin = {"order-18", 1, 0, 0};
    CHECK(!only(origins).marks.contradictory);  // it has not been redriven
    origins[1].origin.generation = 1;
    CHECK(only(origins).marks.contradictory);

    letters none = order_17({3});
    none[0].properties.session.clear();
    CHECK(only(none, {.damaged = true}).reason == redrive_plan::skip_reason::no_session);
}

TEST_CASE("plan_redrive: without its last step, the first letter of a session stays and is marked")
{
    letters v = order_17({3, 4});
    redrive_plan p = plan_redrive(v);
    CHECK(p.sessions[0].marks.open);
    CHECK(p.sessions[0].reason == redrive_plan::skip_reason::none);
    CHECK(p.sessions[0].keeps_first);
    CHECK(!p.step(v, 1).properties.last);
    const pipeline_dead_letter mark = p.marked(v, 0);
    CHECK(mark.last_redriven_step == 4);
    CHECK(mark.resume_at == 3);

    letters waiting{mark};
    CHECK(only(waiting).reason == redrive_plan::skip_reason::end_missing);
    CHECK(only(waiting, {.close = true}).reason == redrive_plan::skip_reason::none);
    CHECK(!only(waiting, {.close = true}).keeps_first);

    letters late{mark, letter("order-17", 5, 105)};
    const auto s = only(late);
    CHECK(s.reason == redrive_plan::skip_reason::none);
    CHECK(s.first_sent);
    CHECK(!s.keeps_first);
    CHECK(s.first == 3);
    CHECK(s.id == "order-17~1");
    // If another one between them is missing, it is held back.
    letters hole{mark, letter("order-17", 6, 106)};
    for (pipeline_dead_letter& l : hole) l.properties.total = 6;
    CHECK(only(hole).reason == redrive_plan::skip_reason::damaged);

    CHECK(only(v, {.close = true}).total == 4);
    CHECK(!only(v, {.close = true}).keeps_first);
    letters unknown = order_17({3, 4});
    for (pipeline_dead_letter& l : unknown) l.properties.total = 0;
    CHECK(only(unknown).total == 0);
    CHECK(only(unknown).marks.open);
    CHECK(only(unknown, {.close = true}).total == 4);
    letters whole = order_17();
    CHECK(only(whole).mark_before_removal);
    CHECK(!only(whole, {.removed_at_once = 3}).mark_before_removal);
    letters single = order_17({5});
    single[0].resume_at = 5;
    CHECK(!only(single).mark_before_removal);
}

TEST_CASE("plan_redrive: completed steps are not sent")
{
    letters v = order_17({2, 3, 4, 5});
    const redrive_plan p = plan_redrive(v);
    REQUIRE(p.sessions.size() == 2);
    CHECK(p.ready == 3);
    CHECK(steps(v) == std::vector<std::uint64_t>{3, 4, 5, 2});
    CHECK(p.sessions[1].reason == redrive_plan::skip_reason::already_done);
    CHECK(p.sessions[1].offset == 3);
}

TEST_CASE("plan_redrive: wrapped sequence numbers and disordered steps are sorted and marked")
{
    constexpr std::uint64_t top = (std::uint64_t{7} << 48U) + (std::uint64_t{1} << 48U) - 1;
    constexpr std::uint64_t bottom = std::uint64_t{7} << 48U;
    letters v{letter("a", 3, top - 1), letter("a", 4, top), letter("a", 5, bottom)};
    const auto s = only(v);
    CHECK(s.marks.sequence_wrapped);
    CHECK(!s.marks.disordered);
    CHECK(s.reason == redrive_plan::skip_reason::none);
    CHECK(steps(v) == std::vector<std::uint64_t>{3, 4, 5});

    letters mixed{letter("a", 4, 1), letter("a", 3, 2), letter("a", 5, 3)};
    CHECK(only(mixed).marks.disordered);
    CHECK(steps(mixed) == std::vector<std::uint64_t>{3, 4, 5});

    letters twice{letter("a", 3, 1), letter("a", 4, 2), letter("a", 4, 3), letter("a", 5, 4)};
    CHECK(only(twice).marks.repeated);
    CHECK(only(twice).reason == redrive_plan::skip_reason::none);

    // Without step numbers only the sequence numbers count.
    letters unnumbered{letter("a", 0, top - 1), letter("a", 0, top), letter("a", 0, bottom)};
    auto u = only(unnumbered);
    CHECK(u.reason == redrive_plan::skip_reason::damaged);
    CHECK(u.marks.sequence_wrapped);
    CHECK(unnumbered[0].sequence == top - 1);
    CHECK(unnumbered[2].sequence == bottom);
    const redrive_plan p = plan_redrive(unnumbered, {}, {.damaged = true});
    CHECK(p.step(unnumbered, 0).properties == waybill::step_properties{"a~1", 1, 1, 3, false});
    CHECK(p.step(unnumbered, 2).properties == waybill::step_properties{"a~1", 3, 1, 3, true});
}

TEST_CASE(
    "plan_redrive: filters compare the letter that stopped a session, and select whole sessions")
{
    letters v = order_17();
    for (const std::uint64_t s : {3U, 4U, 5U}) v.push_back(letter("order-18", s, 300 + s));
    v[3].reason = dead_letter_reason::exhausted;
    v[3].dead_lettered_at = waybill::wall_time::at(5h);
    const auto sent = [&](const waybill::redrive_plan::filter& f) {
        letters copy = v;
        const redrive_plan p = plan_redrive(copy, f);
        CHECK(p.ready % 3 == 0);
        std::string ids;
        for (const auto& s : p.sessions) {
            if (s.reason == redrive_plan::skip_reason::none) ids += s.id + " ";
        }
        return ids;
    };
    CHECK(sent({}) == "order-17~1 order-18~1 ");
    CHECK(sent({.reasons = {dead_letter_reason::failed}}) == "order-17~1 ");
    CHECK(sent({.reasons = {dead_letter_reason::exhausted, dead_letter_reason::gap}}) ==
          "order-18~1 ");
    CHECK(sent({.reasons = {dead_letter_reason::session_failed}}).empty());
    CHECK(sent({.from_step = 4}).empty());
    CHECK(sent({.to_step = 3}) == "order-17~1 order-18~1 ");
    CHECK(sent({.dead_lettered_from = waybill::wall_time::at(2h)}) == "order-18~1 ");
    CHECK(sent({.dead_lettered_to = waybill::wall_time::at(2h)}) == "order-17~1 ");
    CHECK(sent({.session = "order-18"}) == "order-18~1 ");
    CHECK(sent({.session = "order-1"}).empty());
    v[0].kept = waybill::dead_letter_body::summary;
    CHECK(sent({}) == "order-18~1 ");
    const redrive_plan p = plan_redrive(v);
    CHECK(p.sessions[1].reason == redrive_plan::skip_reason::no_body);
    CHECK(p.sessions[1].without_body == 1);
    CHECK(v[0].properties.session == "order-18");
    CHECK(plan_redrive(v, {}, {.fetches_bodies = true}).ready == 6);
}

TEST_CASE("plan_redrive: the oldest session is the first of its group, and describe lists all")
{
    letters v;
    for (const std::uint64_t n : {1U, 2U, 3U, 4U, 5U}) {
        for (const std::uint64_t step : {3U, 4U, 5U}) {
            v.push_back(letter("order-" + std::to_string(n), step, 10 * n + step));
            v.back().dead_lettered_at = waybill::wall_time::at(std::chrono::hours(9 - n));
        }
    }
    v[3].kept = v[9].kept = waybill::dead_letter_body::summary;  // order-2 and order-4
    v[0].reason = dead_letter_reason::exhausted;
    const redrive_plan p = plan_redrive(v, {.reasons = {dead_letter_reason::failed}});
    CHECK("\n" + describe(p, v) + "\n" == R"text(
order-5 -> order-5~1: 3 dead letters, steps 3 to 5 of 5 (without its state): failed: no template
order-3 -> order-3~1: 3 dead letters, steps 3 to 5 of 5 (without its state): failed: no template
order-4: 3 dead letters, steps 3 to 5, 1 body to fetch, held back: no_body (without its state): failed: no template
order-2: 3 dead letters, steps 3 to 5, 1 body to fetch, held back: no_body (without its state): failed: no template
6 dead letters of 2 sessions to send, 6 of 2 held back, 3 not selected
)text");
    CHECK(p.sessions.back().reason == redrive_plan::skip_reason::filtered);
    CHECK(v.back().properties.session == "order-1");
    for (std::uint64_t n = 0; n != p.sessions.size(); ++n) {
        CHECK(p.sessions[n].offset == 3 * n);
        for (std::uint64_t step = 3; step != 6; ++step) {
            CHECK(v[3 * n + step - 3].properties.session == v[3 * n].properties.session);
            CHECK(v[3 * n + step - 3].properties.step == step);
        }
    }
}

TEST_CASE("plan_redrive: independent failures are sent alone")
{
    letters v;
    for (const std::uint64_t s : {17U, 203U, 4000U}) {
        v.push_back(letter("import-3", s, s));
        v.back().reason = dead_letter_reason::failed;
        v.back().independent = true;
        v.back().properties.total = 4'567;
        v.back().resume_at = s;
    }
    redrive_plan p = plan_redrive(v);
    REQUIRE(p.sessions.size() == 1);
    CHECK(p.ready == 3);
    CHECK(p.step(v, 0).properties == waybill::step_properties{"import-3~1", 17, 17, 0, false});
    CHECK(p.step(v, 2).properties == waybill::step_properties{"import-3~1", 4'000, 17, 0, true});
    const std::string line =
        "import-3 -> import-3~1: 3 dead letters, steps 17 to 4000 (each alone): failed: no "
        "template";
    CHECK(describe(p.sessions[0], v) == line);
    v[1].text = "no price";
    CHECK(describe(p.sessions[0], v) == line + ", and 1 for another reason");
    v[2].reason = dead_letter_reason::exhausted;
    CHECK(describe(p.sessions[0], v) == line + ", and 2 for other reasons");
    v[2].reason = dead_letter_reason::failed;
    v[1].text = v[0].text;
    CHECK(describe(p.sessions[0], v) == line);
    p = plan_redrive(v, {.from_step = 100, .to_step = 1'000});
    CHECK(p.ready == 1);
    CHECK(p.filtered == 2);
    CHECK(p.step(v, 0).properties == waybill::step_properties{"import-3~1", 203, 203, 0, true});
}

// Ids with common prefixes, different lengths and zeros, against std::sort.
TEST_CASE("letter_order: equals the stable sort of std::list")
{
    tests_support::dice d(7);
    const std::string parts[] = {"",  "a",    "aaaaaaa", "aaaaaaab", std::string(1, '\0'),
                                 "b", "\xFF", "order-"};
    for (int round = 0; round != 300; ++round) {
        letters v(d(round < 200 ? 12 : 300));
        for (pipeline_dead_letter& l : v) {
            for (std::uint64_t n = d(4); n != 0; --n) l.properties.session += parts[d(8)];
            l.sequence = d(3) == 0 ? d(5) : d.bits();
            l.message_id = std::to_string(d(1'000'000));
        }
        std::list<pipeline_dead_letter> expected(v.begin(), v.end());
        expected.sort([](const pipeline_dead_letter& a, const pipeline_dead_letter& b) {
            const int way = a.properties.session.compare(b.properties.session);
            return way != 0 ? way < 0 : a.sequence < b.sequence;
        });
        waybill::detail::dead_letter_order(v).by_session();
        CHECK(std::equal(v.begin(), v.end(), expected.begin(), expected.end()));
    }
}

TEST_CASE("plan_redrive: validate refuses short ids, and describe lists the marks")
{
    CHECK(!validate(waybill::redrive_plan::options{}));
    CHECK(validate(waybill::redrive_plan::options{.max_id_bytes = 79})->field == "max_id_bytes");
    for (const auto h :
         {redrive_plan::skip_reason::none, redrive_plan::skip_reason::filtered,
          redrive_plan::skip_reason::no_session, redrive_plan::skip_reason::end_missing,
          redrive_plan::skip_reason::already_done, redrive_plan::skip_reason::damaged,
          redrive_plan::skip_reason::no_body}) {
        CHECK(name(h) != "?");
    }
    CHECK(describe(waybill::redrive_plan::session_marks{}).empty());
    CHECK(describe(waybill::redrive_plan::session_marks{.hole = true, .open = true}) ==
          "a step is missing, open");
}

}  // namespace
}  // namespace plan_redrive_test
