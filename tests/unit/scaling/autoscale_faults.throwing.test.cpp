// SPDX-License-Identifier: MIT
//
// autoscale with a fault at each of its calls: sources, count, resize, observe, load, save. A call
// fails, throws, or the process ends before or after its effect, and a new one continues with the
// store.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/ext/exceptions.hpp>
#include <waybill/scaling/autoscale.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_autoscale_state.hpp>

namespace autoscale_faults_test {
namespace {

namespace sc = waybill::scaling;
using tests_support::at;
using tests_support::seconds;
using waybill::fault;
using waybill::result;

enum class how : std::uint8_t { fails, applied_but_fails, throws_before, throws_after };
constexpr how all_ways[]{how::fails, how::applied_but_fails, how::throws_before, how::throws_after};

struct process_ended : std::runtime_error {
    process_ended() : std::runtime_error("the process ends") {}
};

// A service under a load that rises and falls. One of its calls is faulty.
struct simulation {
    waybill::testing::manual_environment env{waybill::steady_time{}, at(0)};
    waybill::testing::memory_autoscale_state row{};
    std::uint64_t instances = 2;
    std::vector<sc::command> executed{};
    std::uint64_t calls = 0;
    std::uint64_t faulty_call = 0;  // from 1; 0: none
    how way = how::fails;
    std::vector<std::string> broken{};

    [[nodiscard]] double load_now() const
    {
        const auto minute = (env.wall_now() - at(0)).count() / 60'000'000'000;
        return minute < 4 ? 500 : minute < 8 ? 50 : 0;
    }

    // Calls `effect` in the way of this call. True if it reports success.
    template <class F>
    bool call(F effect)
    {
        const bool is_faulty = ++calls == faulty_call;
        if (is_faulty && way == how::throws_before) throw process_ended();
        if (!is_faulty || way != how::fails) effect();
        if (is_faulty && way == how::throws_after) throw process_ended();
        return !is_faulty;
    }

    result<double> measure()
    {
        double value = 0;
        if (!call([&] { value = load_now(); })) return waybill::unexpected(waybill::transient("x"));
        return result<double>(value);
    }
    result<std::uint64_t> count()
    {
        if (!call([] {})) return waybill::unexpected(waybill::transient("x"));
        return instances;
    }
    fault resize(const sc::command& c)
    {
        const sc::state& stored = row.saved().state;
        if (!stored.pending || stored.pending->issued != c) broken.push_back("not stored before");
        if (c.from != instances) broken.push_back("from another number");
        if (c.to < c.from && load_now() > 0) broken.push_back("removed under load");
        const bool ok = call([&] {
            executed.push_back(c);
            instances = c.to;
        });
        return ok ? fault{} : waybill::infrastructure("x");
    }
    result<sc::autoscale_state> load()
    {
        if (!call([] {})) return waybill::unexpected(waybill::transient("x"));
        return row.load();
    }
    fault save(const sc::autoscale_state& s)
    {
        return call([&] { (void)row.save(s); }) ? fault{} : waybill::transient("x");
    }
};

sc::policy rising_and_falling()
{
    sc::policy p{
        .up = sc::last("load") > 100, .down = sc::highest("load") < 10, .instances = {1, 5}};
    p.cooldown = {seconds(30), seconds(30)};
    p.stabilise.down = seconds(30);
    p.window = seconds(60);
    p.patience = seconds(60);
    p.after_failure = seconds(15);
    return p;
}

// Runs for 14 minutes, again after each end of the process.
sc::autoscale_report run(simulation& w)
{
    static const sc::policy p = rising_and_falling();
    const auto observe = [&](const sc::decision&) { (void)w.call([] {}); };
    sc::autoscale_report report;
    w.env.stop_at(w.env.now() + seconds(14 * 60));
    while (!w.env.stop_requested()) {
        try {
            sc::autoscale(
                {{"load", [&] { return w.measure(); }}}, p, w, [&] { return w.count(); },
                [&](const sc::command& c) { return w.resize(c); }, w.env, observe, report);
        } catch (const process_ended&) {
        }
    }
    return report;
}

}  // namespace

TEST_CASE("autoscale: a fault or a kill at any call delays the result by a few rounds at most")
{
    simulation undisturbed;
    (void)run(undisturbed);
    CHECK(undisturbed.broken.empty());
    CHECK(undisturbed.instances == 1);
    CHECK(undisturbed.executed.size() == 7);  // 2 to 5, and down to 1
    const std::uint64_t calls = undisturbed.calls;
    CHECK(calls > 200);
    std::uint64_t disturbed = 0;
    for (std::uint64_t k = 1; k <= calls; ++k) {
        for (const how way : all_ways) {
            simulation w{.faulty_call = k, .way = way};
            CAPTURE(k);
            CAPTURE(way);
            const auto report = run(w);
            CHECK(w.broken.empty());
            CHECK(w.instances == 1);
            CHECK(w.executed.size() == 7);
            CHECK(report.rounds <= 57);
            const std::uint64_t decided = report.steady + report.up + report.down + report.held;
            const std::uint64_t failures = report.count_failures + report.load_failures +
                                           report.save_failures + report.source_failures +
                                           report.failed + report.unconfirmed;
            CHECK(decided + 1 >= report.rounds);
            CHECK(failures <= 1);
            CHECK(report.up + report.down >= 7);
            CHECK(report.up + report.down <= 8);
            disturbed += failures;
        }
    }
    CHECK(disturbed > calls);  // a kill is no failure, except within `resize`
}

TEST_CASE("autoscale: repeated kills do not keep it from the wanted number of instances")
{
    // A round without a command has five calls.
    for (std::uint64_t n = 6; n != 40; ++n) {
        simulation w{.way = n % 2 == 0 ? how::throws_before : how::throws_after};
        CAPTURE(n);
        static const sc::policy p = rising_and_falling();
        const auto ignore = [](const sc::decision&) {};
        sc::autoscale_report report;
        w.env.stop_at(w.env.now() + seconds(60 * 60));
        while (!w.env.stop_requested()) {
            w.faulty_call = w.calls + n;
            try {
                sc::autoscale(
                    {{"load", [&] { return w.measure(); }}}, p, w, [&] { return w.count(); },
                    [&](const sc::command& c) { return w.resize(c); }, w.env, ignore, report);
            } catch (const process_ended&) {
            }
        }
        CHECK(w.broken.empty());
        CHECK(w.instances == 1);
        CHECK(w.row.saved().metrics[0].samples.size() <= 4);
    }
}

TEST_CASE("autoscale: a resize that throws leaves its command pending and the report complete")
{
    const sc::policy p = rising_and_falling();
    waybill::testing::manual_environment env(waybill::steady_time{}, at(0));
    sc::autoscale_state state;
    sc::autoscale_report report;
    const auto source = [] { return 500; };
    const auto ignore = [](const sc::decision&) {};
    std::uint64_t instances = 2;
    const auto resize = [&](const sc::command&) -> fault { throw process_ended(); };
    CHECK_THROWS_AS(
        autoscale(
            {{"load", source}}, p, state, [&] { return instances; }, resize, env, ignore, report),
        process_ended);
    CHECK(report.rounds == 1);
    CHECK(report.up == 1);
    CHECK(report.unconfirmed == 1);
    CHECK(report.decisions.size() == 1);
    REQUIRE(state.state.pending);
    CHECK(state.state.pending->issued == sc::command{1, 2, 3});
    instances = 3;
    const auto again =
        autoscale_once({{"load", source}}, p, state, [&] { return instances; }, resize, env);
    CHECK(again.applied == 1);
    CHECK(again.held == 1);  // its cooldown begins
}

TEST_CASE("autoscale: an exception of a source keeps the stored state")
{
    const sc::policy p = rising_and_falling();
    waybill::testing::manual_environment env(waybill::steady_time{}, at(0));
    sc::autoscale_state state;
    const auto count = [] { return 2; };
    const auto resize = [](const sc::command&) { return fault{}; };
    const auto throws = []() -> double { throw process_ended(); };
    CHECK_THROWS_AS((void)autoscale_once({{"load", [] { return 50; }}, {"age", throws}}, p, state,
                                         count, resize, env),
                    process_ended);
    CHECK(state.metrics.at(0).samples.size() == 1);
    CHECK(state.state == sc::state{});
}

TEST_CASE("autoscale: an observer that throws delays neither its command nor the next one")
{
    sc::policy p = rising_and_falling();
    p.cooldown = {};
    waybill::testing::manual_environment env(waybill::steady_time{}, at(0));
    sc::autoscale_state state;
    std::uint64_t instances = 2;
    const auto resize = [&](const sc::command& c) {
        instances = c.to;
        return fault{};
    };
    const auto observe = [](const sc::decision&) { throw process_ended(); };
    sc::autoscale_report report;
    for (std::uint64_t round = 1; round <= 3; ++round) {
        CHECK_THROWS_AS(autoscale(
                            {{"load", [] { return 500; }}}, p, state, [&] { return instances; },
                            resize, env, observe, report),
                        process_ended);
        CHECK(instances == 2 + round);
        CHECK_FALSE(state.state.pending);
        CHECK(report.up == round);
        CHECK(report.applied == round);
        CHECK(report.unconfirmed == 0);
        env.advance(p.every);
    }
}

TEST_CASE("autoscale: catching converts exceptions of each callable into failures")
{
    const sc::policy p = rising_and_falling();
    waybill::testing::manual_environment env(waybill::steady_time{}, at(0));
    sc::autoscale_state state;
    const auto number = []() -> int { throw process_ended(); };
    const auto value = []() -> double { throw process_ended(); };
    const auto maybe = []() -> std::optional<double> { throw process_ended(); };
    const auto fails = [](const sc::command&) -> fault { throw process_ended(); };
    const auto outcome = [](const sc::command&) -> sc::resize_outcome { throw process_ended(); };
    const auto nothing = [](const sc::command&) { throw process_ended(); };
    auto r = sc::autoscale_once({{"load", waybill::catching(value)},
                                 {"age", waybill::catching(maybe)},
                                 {"more", waybill::catching(number)}},
                                p, state, waybill::catching(number), waybill::catching(fails), env);
    CHECK(r.source_failures == 3);
    CHECK(r.count_failures == 1);
    CHECK(r.last_failure == waybill::permanent("count: the process ends"));
    const auto once = [&](auto resize) {
        state = {};
        return sc::autoscale_once(
            {{"load", [] { return 500; }}}, p, state, [] { return 2; }, waybill::catching(resize),
            env);
    };
    for (const auto& one : {once(fails), once(outcome), once(nothing)}) {
        CHECK(one.failed == 1);
        CHECK(one.last_failure == waybill::permanent("resize: the process ends"));
    }
}

}  // namespace autoscale_faults_test
