// SPDX-License-Identifier: MIT
//
// run_session with callables that throw: the report is complete, and a further call continues.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/exceptions.hpp>
#include <waybill/session/run_session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_session_queue.hpp>

namespace run_session_throwing_test {
namespace {

using waybill::duration;
using waybill::fault;
using waybill::pipeline;
using waybill::session_report;
using waybill::testing::manual_environment;
using queue_type = waybill::testing::memory_session_queue;

/// Throws at call number `at`, counted over all callables, before or after the effect of the call.
struct bomb {
    int at = 0;
    bool after = false;
    int calls = 0;

    template <class F>
    auto call(F&& f)
    {
        const bool now = ++calls == at;
        if (now && !after) throw std::runtime_error("bomb");
        auto r = f();
        if (now) throw std::runtime_error("bomb");
        return r;
    }
};

struct throwing_queue : queue_type {
    throwing_queue(const manual_environment& e, bomb& b) : queue_type(e), b_(&b) {}
    auto accept()
    {
        return b_->call([&] { return queue_type::accept(); });
    }
    auto receive(const lock& l)
    {
        return b_->call([&] { return queue_type::receive(l); });
    }
    auto complete(const lock& l, const message& m)
    {
        return b_->call([&] { return queue_type::complete(l, m); });
    }
    auto renew(const lock& l)
    {
        return b_->call([&] { return queue_type::renew(l); });
    }
    auto close(const lock& l, duration d)
    {
        return b_->call([&] { return queue_type::close(l, d); });
    }
    auto load(const lock& l)
    {
        return b_->call([&] { return queue_type::load(l); });
    }
    fault save(const lock& l, const std::string& s)
    {
        return b_->call([&] { return queue_type::save(l, s); });
    }
    fault save(transaction& t, const lock& l, const std::string& s)
    {
        return b_->call([&] { return queue_type::save(t, l, s); });
    }
    auto clear(const lock& l)
    {
        return b_->call([&] { return queue_type::clear(l); });
    }
    bomb* b_;
};

struct letters {
    bomb* b;
    std::vector<std::uint64_t> steps{};
    fault upsert(const waybill::pipeline_dead_letter& l)
    {
        return b->call([&] {
            for (const std::uint64_t n : steps) {
                if (n == l.properties.step) return fault{};
            }
            steps.push_back(l.properties.step);
            return fault{};
        });
    }
};

std::uint64_t sum(const session_report& r)
{
    return r.done + r.repeated + r.dead_lettered + r.given_back + r.state_unreadable + r.lost;
}

/// Runs until the queue is empty, with an exception at each call in turn. Returns the calls.
int run_with(int at, bool after, bool in_transaction, bool catches)
{
    manual_environment env;
    bomb b{at, after};
    throwing_queue queue(env, b);
    letters dead{&b};
    std::string effects;
    auto job = waybill::job::make("a", 4);
    while (!job->complete()) queue.send(job->next(), "");
    const auto result_of = [](const pipeline::step& s) {
        return s.number == 3 ? waybill::permanent("no") : fault{};
    };
    const auto plain = [&](std::string&, const pipeline::step& s) {
        return b.call([&] {
            if (s.number != 3) effects += std::to_string(s.number);
            return result_of(s);
        });
    };
    const auto in_tx = [&](queue_type::transaction& t, std::string&, const pipeline::step& s) {
        return b.call([&] {
            t.on_commit([&effects, n = s.number] { effects += std::to_string(n); });
            return result_of(s);
        });
    };
    const waybill::text_state_codec codec;
    const session_report::policy p{.until_empty = true};
    session_report r;
    for (int n = 0; n != 4 && queue.depth() != 0; ++n) {
        try {
            if (in_transaction) {
                waybill::run_session(queue, codec, dead, in_tx, p, env, r);
            } else if (catches) {
                auto caught = waybill::catching(
                    plain, [](const std::exception&) { return waybill::fault_kind::transient; });
                waybill::run_session(queue, codec, dead, caught, p, env, r);
            } else {
                waybill::run_session(queue, codec, dead, plain, p, env, r);
            }
        } catch (const std::runtime_error&) {
            CHECK(r.ended == session_report::run_outcome::unfinished);
        }
        CHECK(sum(r) == r.received);
        env.advance(duration::seconds(600));
    }
    CAPTURE(at);
    CAPTURE(after);
    CHECK(queue.depth() == 0);
    CHECK(dead.steps == std::vector<std::uint64_t>{3, 4});
    if (in_transaction) CHECK(effects == "12");
    else CHECK((effects == "12" || effects == "112" || effects == "122"));
    return b.calls;
}

}  // namespace

TEST_CASE("run_session: after an exception of any call, the next runs complete the session")
{
    for (const bool in_transaction : {false, true}) {
        const int calls = run_with(0, false, in_transaction, false);
        CHECK(calls > 20);
        for (int at = 1; at <= calls; ++at) {
            for (const bool after : {false, true}) run_with(at, after, in_transaction, false);
        }
    }
}

TEST_CASE("run_session: catching turns exceptions of the handler into faults")
{
    const int calls = run_with(0, false, false, true);
    for (int at = 1; at <= calls; ++at) {
        for (const bool after : {false, true}) run_with(at, after, false, true);
    }
}

TEST_CASE("run_session: with catching, a handler that returns nothing may throw")
{
    manual_environment env;
    queue_type queue(env);
    bomb none;
    letters dead{&none};
    auto job = waybill::job::make("a", 2);
    while (!job->complete()) queue.send(job->next(), "");
    const auto handler = [](std::string&, const pipeline::step& s) {
        if (s.number == 2) throw std::runtime_error("no template");
    };
    const auto r = waybill::run_session(queue, waybill::text_state_codec(), dead,
                                        waybill::catching(handler), {.until_empty = true}, env);
    CHECK(r.done == 1);
    CHECK(r.dead_lettered == 1);
}

}  // namespace run_session_throwing_test
