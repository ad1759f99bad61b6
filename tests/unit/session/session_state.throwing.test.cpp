// SPDX-License-Identifier: MIT
//
// A place or a step that throws: the same call can be repeated, as process_step does.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include <waybill/session/process_step.hpp>
#include <waybill/session/session_state.hpp>
#include <waybill/session/state_text.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace session_state_throwing_test {
namespace {

using waybill::fault;
using waybill::step_outcome;

struct place {
    std::optional<std::string> bytes{};
    int throws_in = 0;     // the call that throws, counted from 1; 0: none
    bool applied = false;  // it throws after its effect

    void may_throw()
    {
        if (throws_in != 0 && --throws_in == 0) throw std::runtime_error("the line is cut");
    }
    template <class F>
    void call(F&& f)
    {
        if (!applied) may_throw();
        f();
        if (applied) may_throw();
    }
    waybill::result<std::optional<std::string>> load()
    {
        may_throw();
        return bytes;
    }
    fault save(const std::string& b)
    {
        call([&] { bytes = b; });
        return {};
    }
    fault clear()
    {
        call([&] { bytes.reset(); });
        return {};
    }
};

// Four steps, each of which adds its number. A call that throws is repeated. Returns the result,
// and counts the exceptions.
std::string run(int throws_in, bool applied, int& threw)
{
    const waybill::text_state_codec codec;
    place p{{}, throws_in, applied};
    waybill::session_state s(codec, p);
    waybill::pipeline pipe;
    waybill::testing::manual_environment env;
    std::string last;
    for (std::uint64_t step = 1; step != 5;) {
        const waybill::step_facts m{100 + step, step, 1, 4, step == 4, 1};
        try {
            const step_outcome end = waybill::process_step(
                pipe, m, env, [&](waybill::pipeline::load_state) { return s.load({}); },
                [&](waybill::pipeline::execute) {
                    p.may_throw();
                    return s.attempt([&](std::string& own) {
                        own += std::to_string(step);
                        last = own;
                        return fault{};
                    });
                },
                [&](waybill::pipeline::save_state a) { return s.save(a, pipe.progress()); },
                [](waybill::pipeline::write_dead_letter) { return fault{}; },
                [](waybill::complete) { return fault{}; },
                [&](waybill::pipeline::clear_state) { return s.clear(); },
                [](waybill::pipeline::give_back) {}, [](waybill::wait_until) {});
            CHECK(end == step_outcome::done);
            if (step != 4) CHECK(s.value() == last);
            ++step;
        } catch (const std::runtime_error&) {
            ++threw;
        }
    }
    CHECK_FALSE(p.bytes.has_value());
    return last;
}

TEST_CASE("session_state: after an exception of any call, the changes of each step are stored once")
{
    int threw = 0;
    for (int n = 0; n != 12; ++n) {
        for (const bool applied : {false, true}) {
            CAPTURE(n);
            CAPTURE(applied);
            CHECK(run(n, applied, threw) == "1234");
        }
    }
    CHECK(threw >= 18);
}

TEST_CASE("session_state: a step that throws changes nothing")
{
    const waybill::text_state_codec codec;
    place p;
    waybill::session_state s(codec, p);
    static_cast<void>(s.load({}));
    const auto before = s.read();
    const auto throws = [](std::string& own) -> fault {
        own = "half";
        throw std::runtime_error("no");
    };
    CHECK_THROWS_AS(static_cast<void>(s.attempt(throws)), std::runtime_error);
    CHECK(s.read() == before);
    CHECK(s.save({}, {.done = 1}).ok());
    CHECK(s.value().empty());
}

}  // namespace
}  // namespace session_state_throwing_test
