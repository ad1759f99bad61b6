// SPDX-License-Identifier: MIT

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/exceptions.hpp>
#include <waybill/session/redrive_all.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_pipeline_dead_letters.hpp>

namespace redrive_all_throwing_test {
namespace {

using waybill::fault;
using waybill::pipeline_dead_letter;
using waybill::redrive;
using message = waybill::redrive_plan::planned_message;

waybill::testing::memory_pipeline_dead_letters two_sessions()
{
    waybill::testing::memory_pipeline_dead_letters t;
    for (const std::string session : {"a", "b"}) {
        for (std::uint64_t step = 2; step != 4; ++step) {
            pipeline_dead_letter l;
            l.properties = {session, step, 1, 3, step == 3};
            l.sequence = 10 + step;
            l.body = session + std::to_string(step);
            l.resume_at = 2;
            l.reason = step == 2 ? waybill::dead_letter_reason::failed
                                 : waybill::dead_letter_reason::session_failed;
            t.upsert(l);
        }
    }
    return t;
}

// Throws at one call, before or after it takes effect.
struct thrower {
    int left;
    bool after;

    template <class F>
    auto operator()(F&& f)
    {
        const bool now = left-- == 0;
        if (now && !after) throw std::runtime_error("thrown");
        auto r = f();
        if (now) throw std::runtime_error("thrown");
        return r;
    }
};

struct throwing_table {
    waybill::testing::memory_pipeline_dead_letters& inner;
    thrower& at;

    waybill::result<std::vector<pipeline_dead_letter>> list()
    {
        return at([&] { return inner.list(); });
    }
    fault upsert(const pipeline_dead_letter& l) { return inner.upsert(l); }
    fault mark(std::span<const pipeline_dead_letter> l)
    {
        return at([&] { return inner.mark(l); });
    }
    fault remove(std::span<const pipeline_dead_letter> l)
    {
        return at([&] { return inner.remove(l); });
    }
};

TEST_CASE("redrive_all: after an exception of any call the report is complete and a call continues")
{
    int thrown = 0;
    for (const bool after : {false, true}) {
        for (int n = 0; n != 20; ++n) {
            auto dead_letters = two_sessions();
            thrower at{n, after};
            throwing_table t{dead_letters, at};
            waybill::testing::manual_environment env;
            std::vector<std::string> sent;
            const auto send = [&](const message& m) {
                return at([&] {
                    sent.push_back(std::string(m.body));
                    return fault{};
                });
            };
            redrive::redrive_report r;
            bool threw = false;
            try {
                waybill::redrive_all(t, {}, send, {}, env, r);
            } catch (const std::runtime_error&) {
                threw = true;
                CHECK(r.outcome == redrive::redrive_outcome::running);
                CHECK(r.sent + r.in_doubt >= sent.size());
                waybill::redrive_all(t, {}, send, {}, env, r);
            }
            thrown += threw ? 1 : 0;
            CHECK(r.ok());
            CHECK(dead_letters.letters().empty());
            CHECK(sent.size() <= 5);
            std::vector<std::string> distinct;
            for (const std::string& s : sent) {
                if (distinct.empty() || distinct.back() != s) distinct.push_back(s);
            }
            CHECK(distinct == std::vector<std::string>{"a2", "a3", "b2", "b3"});
        }
    }
    CHECK(thrown > 20);
}

TEST_CASE("redrive_all: catching turns an exception of the send function into a fault")
{
    auto dead_letters = two_sessions();
    waybill::testing::manual_environment env;
    int calls = 0;
    const auto send = waybill::catching(
        [&](const message&) {
            if (++calls == 2) throw std::runtime_error("connection lost");
        },
        [](const std::exception&) { return waybill::fault_kind::infrastructure; });
    const auto r = waybill::redrive_all(dead_letters, {}, send, env);
    CHECK(r.ok());
    CHECK(r.in_doubt == 1);
    CHECK(calls == 5);
    const auto refused =
        waybill::catching([](const message&) -> fault { throw std::runtime_error("bad"); });
    dead_letters = two_sessions();
    CHECK(waybill::redrive_all(dead_letters, {}, refused, env).refused.size() == 2);
}

}  // namespace
}  // namespace redrive_all_throwing_test
