// SPDX-License-Identifier: MIT

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <waybill/core/detail/broker_sequence.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/row_key.hpp>
#include <waybill/session/step_order.hpp>
#include <waybill/session/step_properties.hpp>

namespace job_test {
namespace {

using waybill::job;
using waybill::read_step_properties;
using waybill::row_key;
using waybill::step_properties;

using properties = std::map<std::string, std::string, std::less<>>;

properties written(const step_properties& s, const step_properties::origin& o = {})
{
    properties p;
    waybill::write_step_properties(
        s, o, [&](std::string_view name, std::string_view value) { p.emplace(name, value); });
    return p;
}

waybill::step_properties::read_result read(const properties& p, std::string_view session = {})
{
    return read_step_properties(
        [&](std::string_view name) -> std::optional<std::string> {
            const auto found = p.find(name);
            if (found == p.end()) return {};
            return found->second;
        },
        session);
}

TEST_CASE("job: numbers its steps")
{
    auto j = job::make("order-17", 3);
    REQUIRE(j);
    CHECK(!j->complete());
    CHECK(j->next() == step_properties{"order-17", 1, 1, 3, false});
    CHECK(j->next() == step_properties{"order-17", 2, 1, 3, false});
    CHECK(j->next() == step_properties{"order-17", 3, 1, 3, true});
    CHECK(j->complete());
    CHECK(j->step(2) == step_properties{"order-17", 2, 1, 3, false});
    // One more contradicts itself, so a pipeline dead-letters it.
    const step_properties more = j->next();
    CHECK(more.step == 4);
    CHECK(!waybill::detail::contradiction(waybill::step_facts::of(more, 1, 1), {}).empty());
}

TEST_CASE("job: a job without a total ends with last()")
{
    auto j = job::make("import-3");
    REQUIRE(j);
    CHECK(j->next() == step_properties{"import-3", 1, 1, 0, false});
    CHECK(j->last() == step_properties{"import-3", 2, 1, 2, true});
    CHECK(j->complete());
    // An end before the last step is found.
    auto early = job::make("order-17", 3);
    const step_properties s = early->last();
    CHECK(s.last);
    CHECK(!waybill::detail::contradiction(waybill::step_facts::of(s, 1, 1), {}).empty());
}

TEST_CASE("job: resume_after continues the numbers")
{
    waybill::job open = *waybill::job::make("import-3");
    open.resume_after(16);
    CHECK(open.next().step == 17);
    const waybill::step_properties end = open.last();
    CHECK(end == waybill::step_properties{"import-3", 18, 1, 18, true});
    CHECK(open.complete());
    waybill::job five = *waybill::job::make("order-17", 5);
    five.resume_after(5);
    CHECK(five.complete());
    five.resume_after(4);
    CHECK(five.next().last);
}

TEST_CASE("job: refuses ids that brokers refuse, or that could be ids of a redrive")
{
    const auto problem = [](std::string id) -> std::optional<job::error::code> {
        const auto j = job::make(std::move(id), 1);
        if (j) return {};
        CHECK(!describe(j.error()).empty());
        CHECK(name(j.error().kind) != "?");
        return j.error().kind;
    };
    CHECK(problem("") == job::error::code::no_id);
    CHECK(problem(std::string(128, 'x')) == std::nullopt);
    CHECK(problem(std::string(129, 'x')) == job::error::code::too_long);
    CHECK(problem("order-17~1") == job::error::code::redriven_end);
    CHECK(problem("order-17~01") == std::nullopt);
    CHECK(problem("order~") == std::nullopt);
    CHECK(problem("1") == std::nullopt);
    for (const std::string& bad :
         {std::string("a\0b", 3), std::string(1, '\0'), std::string("a\nb"), std::string("\t"),
          std::string("\x1F"), std::string("\x7F"), std::string("\xC2\x80"),
          std::string("x\xC2\x9F")}) {
        CHECK(problem(bad) == job::error::code::control_character);
    }
    CHECK(problem(" a ~") == std::nullopt);
    CHECK(problem("Z\xC3\xBCrich \xE2\x82\xAC \xF0\x9F\x8D\x80") == std::nullopt);
    for (const char* bad :
         {"\xC3", "\x80", "\xC0\xAF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xF0\x9F\x8D"}) {
        CHECK(problem(bad) == job::error::code::not_utf8);
    }
    for (const char* good : {"\xC2\xA0", "\xC3\x80", "\xE0\xA0\x80", "\xE2\x82\x80", "\xED\x9F\xBF",
                             "\xEE\x80\x80", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
        CHECK(problem(good) == std::nullopt);
    }
    CHECK(job::make("order-17", 0).error().kind == job::error::code::no_steps);
}

TEST_CASE("job: an error contains the problem and the remedy")
{
    const auto said = [](std::string id) { return describe(job::make(std::move(id)).error()); };
    CHECK(said("") == "the session id is empty: use the name of the job, 1 to 128 bytes");
    CHECK(said(std::string(129, 'x')) ==
          "the session id has 129 bytes, and 128 is the maximum: shorten it, or use its hash");
    CHECK(said("a\n") ==
          "the session id contains a control character: remove it, or encode the id as hex");
    CHECK(said("\xFF") == "the session id is not valid UTF-8: encode it as hex");
    CHECK(said("a~1") ==
          "the session id ends in ~ and a number, like the id of a redriven session: "
          "append a text, or replace the ~");
}

TEST_CASE("job: the message id of a step is always the same")
{
    auto j = *job::make("order-17", 5);
    CHECK(waybill::job::message_id(j.next()) == "order-17/1");
    CHECK(waybill::job::message_id(j.step(1)) == "order-17/1");
    CHECK(waybill::job::message_id(job::make("order-17")->step(UINT64_MAX)) ==
          "order-17/18446744073709551615");
    // The ids of a redrive have another ending, so that none of them is dropped as a duplicate of
    // these.
    CHECK(waybill::detail::redriven_message_id("order-17", 1, 1) ==
          "order-17/00000000000000000001~1");
    const std::string longest(128, 'x');
    const std::string id = waybill::job::message_id(job::make(longest, 5)->step(3));
    CHECK(id == std::string(93, 'x') + ".24da1b81d0b16df6428eee73c69fcb2a/3");
    CHECK(id.size() == 128);
    CHECK(waybill::job::message_id(job::make(longest, 5)->step(4)) != id);
    CHECK(waybill::job::message_id(job::make(std::string(127, 'x') + "y", 5)->step(3)) != id);
    CHECK(waybill::job::message_id({"order-17", 3, 1, 5, false}, 0) == "order-17/3");
}

TEST_CASE("stamp_properties: an invalid session id is read, and its problem reported")
{
    const auto odd = [](const std::string& id) {
        const auto r = read({{"waybill-session", id}, {"waybill-step", "3"}});
        CHECK(r.ok());
        CHECK(r.properties.session == id);
        CHECK(r.properties.step == 3);
        if (r.id_problem) CHECK(r.text().find("ok, but the session id ") == 0);
        return r.id_problem;
    };
    CHECK(odd("order-17") == std::nullopt);
    CHECK(odd(std::string(128, 'x')) == std::nullopt);
    CHECK(odd(std::string(129, 'x')) == job::error::code::too_long);
    CHECK(odd("a\xFF") == job::error::code::not_utf8);
    CHECK(odd("a\n") == job::error::code::control_character);
    CHECK(odd("order-17~1") == job::error::code::redriven_end);
    CHECK(read({{"waybill-step", "3"}}, "a\xFF").id_problem == job::error::code::not_utf8);
    // The id of a redriven session has this ending.
    const auto redriven = read(written({"order-17~1", 5, 3, 5, true}, {"order-17", 42, 1, 7}));
    CHECK(redriven.text() == "ok");
    CHECK(redriven.id_problem == std::nullopt);
    CHECK(read({}).id_problem == std::nullopt);
}

TEST_CASE("job: progress describes completed, failed and dead-lettered steps")
{
    waybill::session_progress p{.done = 2, .total = 5};
    CHECK(describe(waybill::job::progress::of(p)) == "2 of 5");
    p.failed = waybill::session_progress::failure{.step = 3, .text = "no template"};
    CHECK(describe(waybill::job::progress::of(p)) == "2 of 5, stopped at step 3: no template");
    CHECK(!waybill::job::progress::of(p).finished());
    CHECK(describe(waybill::job::progress::of({.done = 17})) == "17");
    CHECK(describe(waybill::job::progress::of({.done = 17}, 40)) == "17 of 40");
    const auto over = waybill::job::progress::of({.done = 40, .total = 40, .dead_lettered = 2});
    CHECK(describe(over) == "40 of 40, 2 of them dead-lettered");
    CHECK(over.finished());
}

TEST_CASE("stamp_properties: written properties are read unchanged")
{
    const step_properties s{"order-17", 3, 2, 5, false};
    CHECK(written(s).size() == 4);
    CHECK(read(written(s)).properties == s);
    CHECK(read(written(s)).text() == "ok");
    const step_properties last{"order-17~1", 5, 3, 5, true};
    const step_properties::origin o{"order-17", 42, 1, 7};
    const auto r = read(written(last, o));
    CHECK(r.properties == last);
    CHECK(r.origin == o);
    const step_properties::origin state{"order-17", 42, 1, 7, std::string("\0\xFF waybill/1", 12)};
    CHECK(read(written(last, state)).origin == state);
    CHECK(written(last, state).size() == written(last, o).size() + 1);
    // These properties must stay readable for years.
    waybill::step_properties::origin all = state;
    all.message_id = "m";
    for (const char* name :
         {"waybill-session", "waybill-step", "waybill-first", "waybill-total", "waybill-last",
          "waybill-origin", "waybill-origin-sequence", "waybill-origin-message",
          "waybill-generation", "waybill-tries", "waybill-state"}) {
        CHECK(written(last, all).count(name) == 1);
    }
    CHECK(written(last, all).size() == 11);
    CHECK(read(written(last, all)).origin == all);
    CHECK(written({"x", 1, 1, 0, false}).size() == 2);
    CHECK(read(written({"x", UINT64_MAX, UINT64_MAX, UINT64_MAX, true})).properties.total ==
          UINT64_MAX);
}

TEST_CASE("stamp_properties: an error contains the property, and step 0")
{
    const auto with = [](std::string name, std::string value) {
        properties p = written({"order-17", 3, 1, 5, false});
        p[std::move(name)] = std::move(value);
        return read(p);
    };
    const auto is = [](const waybill::step_properties::read_result& r,
                       step_properties::read_result::read_outcome how, std::string_view property) {
        CHECK(r.outcome == how);
        CHECK(r.property == property);
        CHECK(r.properties.step == 0);
        CHECK(r.text().find(property) == 0);
        CHECK(name(r.outcome) != "?");
    };
    is(with("waybill-step", "three"), step_properties::read_result::read_outcome::not_number,
       "waybill-step");
    is(with("waybill-step", ""), step_properties::read_result::read_outcome::not_number,
       "waybill-step");
    is(with("waybill-step", "-1"), step_properties::read_result::read_outcome::not_number,
       "waybill-step");
    is(with("waybill-step", "+1"), step_properties::read_result::read_outcome::not_number,
       "waybill-step");
    is(with("waybill-step", "3.0"), step_properties::read_result::read_outcome::not_number,
       "waybill-step");
    is(with("waybill-total", " 5"), step_properties::read_result::read_outcome::not_number,
       "waybill-total");
    is(with("waybill-total", "18446744073709551616"),
       step_properties::read_result::read_outcome::too_large, "waybill-total");
    is(with("waybill-last", "yes"), step_properties::read_result::read_outcome::not_bool,
       "waybill-last");
    is(with("waybill-generation", "1"), step_properties::read_result::read_outcome::absent,
       "waybill-origin");
    is(with("waybill-session", ""), step_properties::read_result::read_outcome::absent,
       "waybill-session");
    CHECK(with("waybill-last", "False").ok());
    CHECK(with("waybill-last", "true").properties.last);
    CHECK(with("waybill-step", std::string(1'000, 'x')).value.size() == 64);
    is(read({}), step_properties::read_result::read_outcome::absent, "waybill-session");
    is(read({}, "order-17"), step_properties::read_result::read_outcome::absent, "waybill-step");
    // A broker with its own sessions has the session id, which takes precedence.
    CHECK(read({{"waybill-step", "1"}}, "order-17").properties ==
          step_properties{"order-17", 1, 1, 0, false});
    const auto other = read(written({"order-18", 1, 1, 0, false}), "order-17");
    is(other, step_properties::read_result::read_outcome::other_session, "waybill-session");
    CHECK(other.properties.session == "order-17");
    CHECK(other.text() ==
          "waybill-session is 'order-18', but the session id of the broker is 'order-17'");
}

TEST_CASE("row_key: keys sort as their numbers")
{
    CHECK(waybill::row_key::of(17) == "00000000000000000017");
    CHECK(waybill::row_key::of(0).size() == 20);
    CHECK(waybill::row_key::of(UINT64_MAX) == "18446744073709551615");
    const std::uint64_t numbers[] = {
        0, 1, 9, 10, 11, 99, 100, 1ULL << 47, 1ULL << 48, UINT64_MAX - 1, UINT64_MAX};
    for (const std::uint64_t a : numbers) {
        const auto back = waybill::row_key::read(waybill::row_key::of(a));
        CHECK(back.outcome == row_key::read_outcome::ok);
        CHECK(back.sequence == a);
        for (const std::uint64_t b : numbers)
            CHECK((waybill::row_key::of(a) < waybill::row_key::of(b)) == (a < b));
    }
}

static_assert(waybill::row_key::read("17").outcome == row_key::read_outcome::other_width);
static_assert(waybill::row_key::read("17").readable() &&
              waybill::row_key::read("17").sequence == 17);
static_assert(waybill::row_key::read("000000000000000000000017").outcome ==
              row_key::read_outcome::other_width);
static_assert(waybill::row_key::read("").outcome == row_key::read_outcome::empty);
static_assert(waybill::row_key::read("0000000000000000001x").outcome ==
              row_key::read_outcome::not_number);
static_assert(waybill::row_key::read("-1").outcome == row_key::read_outcome::not_number);
static_assert(waybill::row_key::read("18446744073709551616").outcome ==
              row_key::read_outcome::too_large);
static_assert(waybill::row_key::read("99999999999999999999").outcome ==
              row_key::read_outcome::too_large);
static_assert(waybill::row_key::read("184467440737095516150").outcome ==
              row_key::read_outcome::too_large);
static_assert(!waybill::row_key::read("18446744073709551616").readable());

static_assert(waybill::detail::number_in_partition(0x0007000000000011) == 0x11);

TEST_CASE("row_key: each outcome of a read has a name and a description")
{
    for (const char* key : {"17", "", "x", "99999999999999999999", "00000000000000000017"}) {
        const auto r = waybill::row_key::read(key);
        CHECK(name(r.outcome) != "?");
        CHECK(describe(r).size() > 1);
    }
    CHECK(describe(waybill::row_key::read("17")).find("row key of 2 digits instead of 20") == 0);
    CHECK(describe(waybill::row_key::read("")) == "row key is empty instead of 20 digits");
    CHECK(describe(waybill::row_key::read("x")) ==
          "row key contains a character that is not a digit: it must have 20 digits");
    CHECK(describe(waybill::row_key::read("99999999999999999999")) ==
          "row key is greater than 2^64 - 1");
}

}  // namespace
}  // namespace job_test
