// SPDX-License-Identifier: MIT

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/session/detail/text_state_codec.hpp>
#include <waybill/session/pipeline.hpp>
#include <waybill/session/session_state.hpp>
#include <waybill/session/state_text.hpp>

namespace session_state_test {
namespace {

using executed = waybill::pipeline::executed;
using waybill::fault;
using waybill::fault_kind;
using waybill::session_progress;
using waybill::session_state;
using waybill::state_read;
using waybill::text_state_codec;

struct place {
    std::optional<std::string> bytes{};
    fault answer{};
    int saved = 0;

    waybill::result<std::optional<std::string>> load() const
    {
        if (unreadable) return waybill::unexpected(fault{*unreadable, "down"});
        return bytes;
    }
    fault save(const std::string& b)
    {
        ++saved;
        if (answer.ok()) bytes = b;
        return answer;
    }
    fault clear()
    {
        if (answer.ok()) bytes.reset();
        return answer;
    }
    std::optional<fault_kind> unreadable{};
};

// The session_state keeps a reference to the codec, so a temporary one would dangle at the first
// call.
template <class Codec>
concept keeps =
    requires(Codec&& codec, place& p) { session_state(static_cast<Codec&&>(codec), p); };
static_assert(keeps<const text_state_codec&> && !keeps<text_state_codec>);

const waybill::pipeline::save_state done{};
const waybill::pipeline::save_state undone{true};

// Adds to the value, and returns the fault.
auto adds(std::string_view what, fault f = {})
{
    return [what, f](std::string& own) {
        own += what;
        return f;
    };
}

template <class State>
void does_step_1(State& s)
{
    static_cast<void>(s.load({}));
    CHECK(s.attempt(adds("1")).ok());
    CHECK(s.save(done, {.done = 1}).ok());
}

static_assert(sizeof(text_state_codec({})) != 0, "braces are default options, not a copy");

TEST_CASE("session_state: changes of a step count after its success and the save")
{
    const text_state_codec codec;
    place p;
    session_state s(codec, p);
    CHECK(s.load({}).found == state_read::absent);
    CHECK(s.attempt(adds("1")).ok());
    CHECK(s.value().empty());
    CHECK(s.save(done, {.done = 1}).ok());
    CHECK(s.value() == "1");
    CHECK(s.bytes() == *p.bytes);

    // Three tries of step 2, each of which begins with the stored state.
    for (int i = 0; i != 3; ++i) CHECK(!s.attempt(adds("half", waybill::transient("busy"))).ok());
    CHECK(s.save(undone, {.done = 1, .tries = 3}).ok());
    CHECK(s.value() == "1");
    CHECK(s.attempt(adds("2")).ok());
    CHECK(s.save(done, {.done = 2}).ok());
    CHECK(s.value() == "12");

    session_state next(codec, p);
    const auto loaded = next.load({});
    CHECK(loaded.found == state_read::ok);
    CHECK(loaded.progress.done == 2);
    CHECK(next.value() == "12");
    p.answer = waybill::transient("busy");
    CHECK(!next.clear().ok());
    CHECK(next.value() == "12");
    p.answer = {};
    CHECK(next.clear().ok());
    CHECK(!p.bytes);
    // The next message of this holder with this id begins a new session.
    CHECK(next.value().empty());
    CHECK(next.bytes().empty());
    CHECK(next.attempt(adds("1")).ok());
    CHECK(next.save(done, {.done = 1}).ok());
    CHECK(next.value() == "1");
}

TEST_CASE("session_state: a state that was not stored does not change value()")
{
    const text_state_codec codec({.budget = {.bytes = 4'096}});
    place p;
    session_state s(codec, p);
    does_step_1(s);
    const std::string before = *p.bytes;

    // Unknown outcome: the save is repeated unchanged, or undone if the pipeline requests it.
    CHECK(s.attempt(adds("2")).ok());
    p.answer = waybill::transient("busy");
    CHECK(s.save(done, {.done = 2}).kind == fault_kind::transient);
    CHECK(s.value() == "1");
    CHECK(s.bytes() == before);
    p.answer = {};
    CHECK(s.save(done, {.done = 2}).ok());
    CHECK(s.value() == "12");

    // Too large, which is permanent. Saved as failed, the state is that before the step.
    CHECK(s.attempt([](std::string& own) {
               own.assign(10'000, 'x');
               return fault{};
           }).ok());
    const fault f = s.save(done, {.done = 3});
    CHECK(f.kind == fault_kind::permanent);
    CHECK(f.text.find("10") != std::string::npos);
    CHECK(s.save(undone, {.done = 2}).ok());
    CHECK(s.value() == "12");

    // A step that is undone without having run: nothing of the previous step is lost.
    CHECK(s.save(undone, {.done = 2}).ok());
    CHECK(s.value() == "12");
}

TEST_CASE("session_state: a failed load is an error, not an absent state")
{
    const text_state_codec codec;
    place p;
    session_state s(codec, p);
    for (const fault_kind how :
         {fault_kind::transient, fault_kind::infrastructure, fault_kind::ownership_lost}) {
        p.unreadable = how;
        CHECK(s.load({}).kind == how);
    }
    p.unreadable = fault_kind::none;
    CHECK(s.load({}).kind == fault_kind::infrastructure);
    p.unreadable.reset();
    p.bytes = "something else";
    const auto loaded = s.load({});
    CHECK(loaded.kind == fault_kind::none);
    CHECK(loaded.found == state_read::corrupt);
    CHECK(describe(s.read()).find("corrupt") != std::string::npos);
    CHECK(s.bytes() == "something else");
}

TEST_CASE("session_state: a redriven session begins with the state of its first message")
{
    const text_state_codec codec;
    place old;
    session_state before(codec, old);
    static_cast<void>(before.load({}));
    CHECK(before.attempt(adds("12")).ok());
    CHECK(before.save(done, {.done = 2}).ok());
    place fresh;
    session_state s(codec, fresh);
    CHECK(s.load(before.bytes()).found == state_read::absent);
    CHECK(s.value() == "12");
    CHECK(s.bytes().empty());
    CHECK(s.attempt(adds("3")).ok());
    CHECK(s.save(done, {.done = 3}).ok());
    CHECK(s.load("unused").progress.done == 3);
    CHECK(s.value() == "123");
}

TEST_CASE("session_state: read() changes only after a confirmed save")
{
    const text_state_codec codec({.budget = {.bytes = 4'096}});
    place p;
    session_state s(codec, p);
    does_step_1(s);
    CHECK(describe(s.read()) ==
          "state: ok, " + std::to_string(p.bytes->size()) + " bytes, text of version 1.0");
    const auto before = s.read();

    CHECK(s.attempt(adds("2")).ok());
    p.answer = waybill::transient("busy");
    CHECK_FALSE(s.save(done, {.done = 2}).ok());
    CHECK(s.read() == before);
    p.answer = {};
    CHECK(s.attempt(adds(std::string(10'000, 'x'))).ok());
    CHECK_FALSE(s.save(done, {.done = 2}).ok());
    CHECK(s.read() == before);
    p.unreadable = fault_kind::infrastructure;
    const auto loaded = s.load({});
    CHECK(loaded.reason == "down");
    CHECK(s.read() == before);
}

TEST_CASE("session_state: an unreadable state is not overwritten")
{
    const text_state_codec codec;
    for (const std::string_view there : {"", "something else", R"({"IsFailedSession":true})"}) {
        CAPTURE(there);
        place p;
        p.bytes = there;
        session_state s(codec, p);
        const auto loaded = s.load({});
        CHECK(loaded.found == state_read::corrupt);
        CHECK(loaded.reason == describe(s.read()));
        CHECK(s.attempt(adds("1")).ok());
        const fault f = s.save(done, {.done = 1});
        CHECK(f.kind == fault_kind::permanent);
        CHECK(f.text == "the stored state is not overwritten: " + describe(s.read()));
        CHECK(p.saved == 0);
        CHECK(*p.bytes == there);
    }
}

std::optional<std::string> upgraded(std::string_view own, waybill::schema_version from)
{
    if (own == "bad") return std::nullopt;
    return "v" + std::to_string(from.major) + ":" + std::string(own);
}

TEST_CASE("session_state: an older version is upgraded once, or kept if it has no upgrade")
{
    const waybill::text_state::options two{.version = {2, 3}};
    const text_state_codec codec(two, upgraded);
    const auto of_version_1 = [](std::string own, session_progress progress = {.done = 1}) {
        waybill::text_state old{std::move(own), std::move(progress), {}, {}};
        return *waybill::detail::write_text_state(old);
    };
    place p;
    p.bytes = of_version_1("a");
    session_state s(codec, p);
    CHECK(s.load({}).found == state_read::ok);
    CHECK(s.value() == "v1:a");
    CHECK(s.save(undone, {.done = 1}).ok());
    CHECK(describe(s.read()).ends_with("text of version 2.3"));
    for (int n = 0; n != 2; ++n) {
        CHECK(s.load({}).found == state_read::ok);
        CHECK(s.value() == "v1:a");
    }

    // The state in the first message of a redriven session.
    place fresh;
    session_state redriven(codec, fresh);
    CHECK(redriven.load(of_version_1("b")).found == state_read::absent);
    CHECK(redriven.value() == "v1:b");
    CHECK(redriven.load(of_version_1("bad")).found == state_read::corrupt);

    // It is not upgraded to version 2.
    for (const text_state_codec& one : {codec, text_state_codec(two)}) {
        p.bytes = of_version_1("bad");
        session_state bad(one, p);
        CHECK(bad.load({}).found == state_read::corrupt);
        CHECK(describe(bad.read()) ==
              "state: corrupt: the codec cannot make version 2 from its version 1.0: add an "
              "upgrade to the codec");
        CHECK(bad.value().empty());
        CHECK_FALSE(bad.save(done, {.done = 2}).ok());

        // It has failed, and stays so, with its bytes and their version.
        session_progress failed{.done = 1};
        failed.failed.emplace(waybill::session_progress::failure{}).text = "no";
        p.bytes = of_version_1("bad", failed);
        session_state stays(one, p);
        CHECK(stays.load({}).found == state_read::ok);
        CHECK(stays.load({}).progress == failed);
        CHECK(stays.value() == "bad");
        CHECK(stays.save(undone, failed).ok());
        CHECK(*p.bytes == of_version_1("bad", failed));
    }
}

TEST_CASE("session_state: a step may return executed, a result or a fault")
{
    const text_state_codec codec;
    place p;
    session_state s(codec, p);
    static_cast<void>(s.load({}));
    CHECK(s.attempt([](std::string& own) {
               own = "a";
               return executed{};
           }).reason.ok());
    CHECK(s.save(done, {}).ok());
    CHECK(s.value() == "a");
    CHECK(!s.attempt([](std::string& own) -> waybill::result<void> {
                own = "b";
                return waybill::unexpected(waybill::permanent("no"));
            }).has_value());
    CHECK(s.save(done, {}).ok());
    CHECK(s.value() == "a");
    CHECK(s.attempt([](std::string& own) -> waybill::result<void> {
               own = "c";
               return {};
           }).has_value());
    CHECK(s.save(done, {}).ok());
    CHECK(s.value() == "c");
}

}  // namespace
}  // namespace session_state_test
