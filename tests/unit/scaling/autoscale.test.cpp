// SPDX-License-Identifier: MIT
//
// autoscale: rounds, failures of each callable, clocks, stops, refused policies.

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/scaling.hpp>

#include <waybill/core/environment.hpp>
#include <waybill/ext/chrono.hpp>
#include <waybill/scaling/autoscale.hpp>
#include <waybill/scaling/messages.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_autoscale_state.hpp>

namespace autoscale_test {
namespace {

namespace sc = waybill::scaling;
using namespace std::chrono_literals;
using tests_support::at;
using tests_support::seconds;
using waybill::duration;
using waybill::fault;
using waybill::result;
using waybill::wall_time;
using waybill::testing::manual_environment;
using waybill::testing::memory_autoscale_state;

sc::policy plain()
{
    return {.up = sc::last("orders") > 100,
            .down = sc::last("orders") < 10,
            .instances = {1, 10},
            .stabilise = {},
            .after_failure = {}};
}

// A service whose instances are counted and changed.
struct simulation {
    manual_environment env{waybill::steady_time{}, at(0)};
    double orders = 50;
    std::uint64_t instances = 2;
    std::vector<sc::command> executed{};
    sc::autoscale_state state{};

    auto count()
    {
        return [this] { return instances; };
    }
    auto resize()
    {
        return [this](const sc::command& c) {
            executed.push_back(c);
            instances = c.to;
            return fault{};
        };
    }
    void stop_after(duration d) { env.stop_at(env.now() + d); }
    sc::autoscale_report run(const sc::policy& p, duration d)
    {
        stop_after(d);
        return autoscale({{"orders", [this] { return orders; }}}, p, state, count(), resize(), env);
    }
};

}  // namespace

TEST_CASE("autoscale: the first round is immediate, further rounds are one interval apart")
{
    simulation w;
    const sc::policy p = plain();
    const auto r = w.run(p, 60s);
    CHECK(r.rounds == 4);  // at 0, 15, 30, 45
    CHECK(r.steady == 4);
    CHECK(r.decisions.size() == 1);
    CHECK(r.decisions[0].now == at(45));
    CHECK(r.waiting == waybill::steady_time{} + seconds(60));
    CHECK(w.state.metrics.size() == 1);
    CHECK(w.state.metrics[0].samples.size() == 4);
    CHECK(sc::describe(r) == "autoscale: 4 rounds, 0 up, 0 down");
}

TEST_CASE("autoscale: a slow round delays the next one, and missed rounds are not repeated")
{
    simulation w;
    const sc::policy p = plain();
    w.stop_after(100s);
    const auto r =
        autoscale(std::map<std::string, int (*)()>{}, p, w.state, w.count(), w.resize(), w.env);
    REQUIRE(r.refused);
    CHECK(r.refused->path == "/up/last");  // "orders" has no source
    const auto slow = [&] {
        w.env.advance(40s);
        return 50;
    };
    const auto s = autoscale({{"orders", slow}}, p, w.state, w.count(), w.resize(), w.env);
    CHECK(s.rounds == 3);  // at 0, 40, 80; the third ends after the stop, without a decision
    CHECK(s.steady == 2);
}

TEST_CASE("autoscale: decisions are executed and confirmed, and each is reported and observed")
{
    simulation w;
    sc::policy p = plain();
    p.cooldown = {seconds(60), seconds(60)};
    w.orders = 500;
    w.stop_after(200s);
    std::vector<sc::decision> seen;
    const auto observe = [&](const sc::decision& d) {
        const bool is_executed = !w.executed.empty() && w.executed.back() == d.command;
        CHECK((!d.command || is_executed));
        seen.push_back(d);
    };
    const auto r = autoscale({{"orders", [&] { return w.orders; }}}, p, w.state, w.count(),
                             w.resize(), w.env, observe);
    CHECK(r.rounds == 14);
    CHECK(r.up == 4);  // at 0, 60, 120, 180
    CHECK(r.applied == 4);
    CHECK(r.held == 10);
    CHECK(seen.size() == 14);
    CHECK(r.decisions.size() == 8);  // up, held, up, held ...
    CHECK(r.decisions[1] == seen[3]);
    CHECK(r.decisions[1].why == sc::reason::cooldown);
    CHECK(r.decisions[0].reasons.size() == 2);
    CHECK(r.decisions[0].reasons[0].metric == "orders");
    CHECK(w.executed.size() == 4);
    CHECK(w.executed[3] == sc::command{4, 5, 6});
    CHECK(w.state.state.last_id == 4);
    CHECK_FALSE(w.state.state.pending);
}

TEST_CASE("autoscale: repeats() lets an observer log each repeated decision once")
{
    simulation w;
    sc::policy p = plain();
    p.cooldown.up = seconds(60);
    w.orders = 500;
    w.stop_after(200s);
    int lines = 0;
    auto log = [&, last = sc::decision()](const sc::decision& d) mutable {
        if (!d.repeats(last)) ++lines;
        last = d;
    };
    const auto r = autoscale({{"orders", [&] { return w.orders; }}}, p, w.state, w.count(),
                             w.resize(), w.env, log);
    CHECK(r.up == 4);
    CHECK(r.held == 10);
    CHECK(lines == 8);  // up, held, up, held ...
}

TEST_CASE("autoscale: only the last decisions are kept")
{
    simulation w;
    const sc::policy p = plain();
    w.stop_after(20min);
    auto alternating = [n = 0]() mutable { return ++n % 2 == 0 ? 500 : 0; };
    auto r = autoscale({{"orders", alternating}}, p, w.state, w.count(), w.resize(), w.env);
    CHECK(r.rounds == 80);
    CHECK(r.decisions.size() == sc::autoscale_report::max_decisions);
    CHECK(r.decisions.back().now == at(20 * 60 - 15));
    CHECK(w.state.metrics[0].samples.size() == 20);  // 5 min of 15 s
}

TEST_CASE("autoscale: a failed source adds no sample, and rounds continue")
{
    simulation w;
    sc::policy p = plain();
    p.window = seconds(30);
    int calls = 0;
    const auto flaky = [&]() -> result<double> {
        if (++calls > 2) return waybill::unexpected(waybill::transient("no connection"));
        return 1.0;
    };
    w.stop_after(75s);
    w.instances = 9;
    const auto r = autoscale({{"orders", flaky}}, p, w.state, w.count(), w.resize(), w.env);
    CHECK(r.rounds == 5);
    CHECK(r.source_failures == 3);
    CHECK(r.last_failure == waybill::transient("orders: no connection"));
    CHECK(r.down == 3);  // at 0, 15, and at 30 with the sample of 15; later it is unknown
    CHECK(r.held == 2);
    CHECK(r.decisions.back().why == sc::reason::unknown);
    CHECK(w.instances == 6);
}

TEST_CASE("autoscale: a source and a count may return numbers, optionals and results")
{
    simulation w;
    const sc::policy p = plain();
    const auto once = [&](auto source, auto count) {
        sc::autoscale_state s;
        return autoscale_once({{"orders", source}}, p, s, count, w.resize(), w.env);
    };
    const auto number = [](auto n) { return [n] { return n; }; };
    CHECK(once(number(50), number(2)).steady == 1);
    CHECK(once(number(std::uint64_t{50}), number(2U)).steady == 1);
    CHECK(once(number(50.0F), number(result<int>(2))).steady == 1);
    CHECK(once(number(std::optional<int>(50)), number(std::optional<int>(2))).steady == 1);
    const auto unmeasured = once(number(std::optional<int>()), number(2));
    CHECK(unmeasured.source_failures == 0);
    CHECK(unmeasured.no_values == 1);
    CHECK(unmeasured.last_failure.ok());
    CHECK(unmeasured.decisions.at(0).why == sc::reason::unknown);
    CHECK(sc::describe(unmeasured) ==
          "autoscale: 1 rounds, 0 up, 0 down, 1 held, 1 measurements without a value");
    CHECK(once(number(result<std::optional<int>>(std::nullopt)), number(2)).no_values == 1);
    const double infinity = std::numeric_limits<double>::infinity();
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(once(number(infinity), number(2)).source_failures == 1);
    CHECK(once(number(infinity), number(2)).last_failure.text ==
          "orders: infinity is not a finite number: return an empty optional if it is unknown");
    CHECK(once(number(nan), number(2)).source_failures == 1);
    CHECK(once(number(50), number(-1)).count_failures == 1);
    CHECK(once(number(50), number(std::optional<int>())).count_failures == 1);
    CHECK(once(number(50), number(nan)).count_failures == 1);
    CHECK(once(number(50), number(1e300)).count_failures == 1);
    CHECK(once(number(50), number(-0.5)).count_failures == 1);
    const auto text = [&](auto count) { return once(number(50), number(count)).last_failure.text; };
    CHECK(text(nan) ==
          "count: NaN is not a finite number: return an empty optional if it is unknown");
    CHECK(text(1e18) == "count: 1e+18 instances: must be less than 1e18");
    CHECK(text(1e300) == "count: 1e+300 instances: must be less than 1e18");
    CHECK(text(-0.5) == "count: -0.5 instances: must be at least 0");
    CHECK(text(-1) == "count: -1 instances: must be at least 0");
    CHECK(text(std::optional<int>()) == "count: the number of instances is unknown");
    const result<std::uint64_t> down = waybill::unexpected(waybill::infrastructure("down"));
    const auto r = once(number(50), number(down));
    CHECK(r.count_failures == 1);
    CHECK(r.decisions.empty());
    CHECK(r.last_failure.text == "count: down");
}

TEST_CASE("autoscale: sources may be a container, and callables may be const or mutable")
{
    simulation w;
    const sc::policy p = plain();
    struct counting {
        int calls = 0;
        int operator()() { return ++calls * 50; }
    };
    std::map<std::string, counting> sources{{"age", {}}, {"orders", {}}};
    w.stop_after(40s);
    const auto r = autoscale(sources, p, w.state, w.count(), w.resize(), w.env);
    CHECK(sources["orders"].calls == 3);
    CHECK(r.up == 1);
    counting one;
    const auto constant = [] { return 7; };
    w.stop_after(1s);
    autoscale({{"orders", one}, {"age", constant}}, p, w.state, w.count(), w.resize(), w.env);
    CHECK(one.calls == 1);
}

TEST_CASE("autoscale: resize may return an outcome, a fault, a result or void")
{
    const sc::policy p = [] {
        sc::policy q = plain();
        q.after_failure = seconds(20);
        return q;
    }();
    const auto once = [&](auto outcome) {
        simulation w;
        w.orders = 500;
        auto r = autoscale_once(
            {{"orders", [&] { return w.orders; }}}, p, w.state, w.count(),
            [&](const sc::command&) { return outcome; }, w.env);
        return std::pair(std::move(r), w.state.state);
    };
    using enum sc::resize_outcome;
    for (const sc::resize_outcome o : {applied, failed, pending}) {
        const auto [r, s] = once(o);
        CHECK(r.up == 1);
        CHECK(r.applied == (o == applied ? 1 : 0));
        CHECK(r.failed == (o == failed ? 1 : 0));
        CHECK(r.unconfirmed == (o == pending ? 1 : 0));
        CHECK(s.pending.has_value() == (o == pending));
        CHECK(s.last_failure.has_value() == (o == failed));
        CHECK(once(result<sc::resize_outcome>(o)).second == s);
    }
    CHECK(once(failed).first.last_failure.text ==
          "resize: failed without a reason: return a fault to report one");
    CHECK(once(fault{}).second == once(applied).second);
    CHECK(once(result<void>()).second == once(applied).second);
    for (const fault& f : {waybill::transient("quota"), waybill::permanent("quota"),
                           waybill::infrastructure("quota")}) {
        CHECK(once(f).first.failed == 1);
        CHECK(once(f).first.last_failure.text == "resize: quota");
        CHECK(once(f).second == once(failed).second);
        CHECK(once(result<void>(waybill::unexpected(f))).second == once(failed).second);
    }
    CHECK(once(waybill::cancelled("stop")).second == once(pending).second);
    simulation w;
    w.orders = 500;
    const auto r = autoscale_once(
        {{"orders", [&] { return w.orders; }}}, p, w.state, w.count(), [](const sc::command&) {},
        w.env);
    CHECK(r.applied == 1);
}

TEST_CASE("autoscale: a command without a result blocks others until the number is reached")
{
    simulation w;
    sc::policy p = plain();
    p.patience = seconds(60);
    w.orders = 500;
    std::vector<sc::command> sent;
    const auto send = [&](const sc::command& c) {
        sent.push_back(c);
        return sc::resize_outcome::pending;
    };
    const auto run = [&](duration d) {
        w.stop_after(d);
        return autoscale({{"orders", [&] { return w.orders; }}}, p, w.state, w.count(), send,
                         w.env);
    };
    auto r = run(60s);  // rounds at 0, 15, 30, 45
    CHECK(sent.size() == 1);
    CHECK(r.held == 3);
    CHECK(r.decisions.back().why == sc::reason::pending);
    CHECK(r.unconfirmed == 1);
    CHECK(sc::describe(r) == "autoscale: 4 rounds, 1 up, 0 down, 3 held, 1 without a result yet");
    SUBCASE("not confirmed until the patience ends")
    {
        r = run(1s);
        CHECK(sent.size() == 2);
        CHECK(sent[1] == sc::command{2, 2, 3});
        CHECK(r.overdue == 1);
        CHECK(r.applied == 0);
    }
    SUBCASE("the number is reached")
    {
        w.instances = 3;
        r = run(1s);
        CHECK(r.applied == 1);
        CHECK(r.overdue == 0);
        CHECK(sent.back() == sc::command{2, 3, 4});
    }
    SUBCASE("the number is reached before the next round: no command stays without a result")
    {
        const auto slow = [&](const sc::command& c) {
            w.instances = c.to;
            return sc::resize_outcome::pending;
        };
        w.instances = 3;
        w.stop_after(60s);
        r = autoscale({{"orders", [&] { return w.orders; }}}, p, w.state, w.count(), slow, w.env);
        CHECK(r.up == 4);
        CHECK(r.applied == 4);
        CHECK(r.unconfirmed == 1);  // that of the last round
        w.orders = 50;
        w.stop_after(1s);
        r = autoscale({{"orders", [&] { return w.orders; }}}, p, w.state, w.count(), slow, w.env);
        CHECK(r.unconfirmed == 0);
    }
    SUBCASE("the result arrives as a message")
    {
        CHECK(record(w.state.state, sc::result_message{"orders", 1, false, "quota"},
                     w.env.wall_now()) == sc::command_result::applied);
        r = run(1s);
        CHECK(sent.size() == 2);
        CHECK(r.overdue == 0);
    }
}

TEST_CASE("autoscale: a decision that cannot be stored is not executed")
{
    struct failing_store : memory_autoscale_state {
        bool load_fails = false;
        bool save_fails = false;

        result<sc::autoscale_state> load()
        {
            if (load_fails) return waybill::unexpected(waybill::infrastructure("down"));
            return memory_autoscale_state::load();
        }
        fault save(const sc::autoscale_state& s)
        {
            return save_fails ? waybill::infrastructure("down") : memory_autoscale_state::save(s);
        }
    };
    simulation w;
    const sc::policy p = plain();
    w.orders = 500;
    failing_store store;
    const auto once = [&] {
        return autoscale_once({{"orders", [&] { return w.orders; }}}, p, store, w.count(),
                              w.resize(), w.env);
    };
    store.save_fails = true;
    auto r = once();
    CHECK(r.save_failures == 1);
    CHECK(r.up == 0);
    CHECK(r.decisions.empty());
    CHECK(w.executed.empty());
    CHECK(r.last_failure.text == "save: down");
    store.load_fails = true;
    r = once();
    CHECK(r.load_failures == 1);
    CHECK(r.rounds == 1);
    store.load_fails = store.save_fails = false;
    r = once();
    CHECK(r.up == 1);
    CHECK(store.saved().state.last_id == 1);
    CHECK(store.saved().state.last_up == w.env.wall_now());
    CHECK(store.saved().metrics.size() == 1);
    CHECK(store.saves() == 2);  // before and after the command
}

TEST_CASE("autoscale: while the store fails, a running autoscaler keeps its samples")
{
    struct failing_store : memory_autoscale_state {
        int failing = 3;

        fault save(const sc::autoscale_state& s)
        {
            return failing-- > 0 ? waybill::transient("busy") : memory_autoscale_state::save(s);
        }
    };
    simulation w;
    const sc::policy p = plain();
    failing_store store;
    w.stop_after(60s);
    const auto r =
        autoscale({{"orders", [&] { return w.orders; }}}, p, store, w.count(), w.resize(), w.env);
    CHECK(r.save_failures == 3);
    CHECK(store.saved().metrics.at(0).samples.size() == 4);
    // A command that could not be stored is decided again in the next round, and is not pending.
    w.orders = 500;
    store.failing = 1;
    w.stop_after(30s);
    const auto again =
        autoscale({{"orders", [&] { return w.orders; }}}, p, store, w.count(), w.resize(), w.env);
    CHECK(again.save_failures == 1);
    CHECK(again.up == 1);
    CHECK(again.held == 0);
    CHECK(w.executed == std::vector<sc::command>{{1, 2, 3}});
}

TEST_CASE("autoscale: after a stop request no further call is made")
{
    struct stopping {
        manual_environment env{waybill::steady_time{}, at(0)};
        int left;

        waybill::steady_time now() { return env.now(); }
        wall_time wall_now() { return env.wall_now(); }
        void sleep_until(waybill::steady_time t) { env.sleep_until(t); }
        double random() { return 0; }
        bool stop_requested() { return left-- <= 0; }
    };
    const sc::policy p = plain();
    for (int n = 0; n != 8; ++n) {
        CAPTURE(n);
        stopping env{.left = n};
        sc::autoscale_state state;
        memory_autoscale_state store;
        int sources = 0;
        int counts = 0;
        int resizes = 0;
        const auto source = [&] { return ++sources * 500; };
        const auto r = autoscale(
            {{"orders", source}, {"age", source}}, p, store,
            [&] {
                ++counts;
                return 2;
            },
            [&](const sc::command&) {
                ++resizes;
                return fault{};
            },
            env);
        CHECK(r.waiting);
        // Asked: at the start, before both sources, before and after the count, twice at the sleep.
        CHECK(sources == (n < 2 ? 0 : n < 3 ? 1 : 2));
        CHECK(counts == (n < 4 ? 0 : 1));
        CHECK(resizes == (n < 5 ? 0 : 1));
        CHECK(r.up == static_cast<std::uint64_t>(resizes));
        CHECK(*r.waiting == waybill::steady_time{} + seconds(n < 5 ? 0 : 15));
        CHECK(store.saved().state.pending.has_value() == false);
    }
}

TEST_CASE("autoscale: a time limit ends it")
{
    simulation w;
    const sc::policy p = plain();
    auto limited = waybill::time_limited(w.env, 50s);
    const auto r = autoscale({{"orders", [&] { return w.orders; }}}, p, w.state, w.count(),
                             w.resize(), limited);
    CHECK(r.rounds == 4);
    CHECK(w.env.now() == waybill::steady_time{} + seconds(50));
}

TEST_CASE("autoscale: a stopped wall clock, one that goes back and one far ahead block nothing")
{
    struct skewed {
        manual_environment& env;
        duration skew{};
        bool stands = false;

        waybill::steady_time now() { return env.now(); }
        wall_time wall_now() { return stands ? at(0) : env.wall_now() + skew; }
        void sleep_until(waybill::steady_time t) { env.sleep_until(t); }
        double random() { return 0; }
        bool stop_requested() { return env.stop_requested(); }
    };
    simulation w;
    sc::policy p = plain();
    p.stabilise.down = seconds(120);
    skewed env{w.env};
    const auto run = [&](duration d) {
        w.stop_after(d);
        return autoscale({{"orders", [&] { return w.orders; }}}, p, w.state, w.count(), w.resize(),
                         env);
    };
    (void)run(5min);
    SUBCASE("stopped: the samples are bounded")
    {
        env.stands = true;
        const auto r = run(1h);
        CHECK(r.rounds == 240);
        CHECK(w.state.metrics[0].samples.size() == 20);
    }
    SUBCASE("back: old samples are dated at most now, and expire")
    {
        env.skew = -24h;
        w.orders = 500;
        auto r = run(1min);
        CHECK(r.up == 4);
        for (const auto& s : w.state.metrics[0].samples) CHECK(s.at <= env.wall_now());
        r = run(10min);
        CHECK(w.state.metrics[0].samples.size() == 20);
        CHECK(w.state.metrics[0].samples.front().value == 500);
    }
    SUBCASE("far ahead once: later decisions are not blocked")
    {
        env.skew = 365 * 24h;
        (void)run(1min);
        env.skew = {};
        w.orders = 0;
        w.instances = 5;
        const auto r = run(10min);
        CHECK(r.down == 4);
        CHECK(w.instances == 1);
    }
}

TEST_CASE("autoscale: an invalid policy or source is refused, and no callable is called")
{
    simulation w;
    const auto refused = [&](const sc::policy& p, bool twice = false) {
        const auto must_not_run = [&] {
            CHECK(false);
            return 1;
        };
        const auto resize = [](const sc::command&) { return fault{}; };
        w.stop_after(1s);
        const auto r =
            twice ? autoscale({{"orders", must_not_run}, {"orders", must_not_run}}, p, w.state,
                              must_not_run, resize, w.env)
                  : autoscale({{"orders", must_not_run}}, p, w.state, must_not_run, resize, w.env);
        CHECK(r.rounds == 0);
        CHECK(sc::describe(r).starts_with("autoscale: refused: /"));
        return r.refused ? r.refused->path : "nothing";
    };
    sc::policy p = plain();
    p.instances = {};
    CHECK(refused(p) == "/instances/highest");
    p = plain();
    p.up = sc::last("order") > 100;
    CHECK(refused(p) == "/up/last");
    CHECK(refused(plain(), true) == "/sources");
    p = plain();
    p.min_points = 21;
    CHECK(refused(p) == "/min_points");
    p = plain();
    p.up = sc::any_of(sc::last("orders") > 100, !(sc::last("orders") < 11).with_points(21));
    CHECK(refused(p) == "/up");
    p = plain();
    p.every = {};
    CHECK(refused(p) == "/every");
    p = plain();
    p.window = seconds(14);
    CHECK(refused(p) == "/window");
    p = plain();
    p.window = seconds(24 * 3'600);
    CHECK(refused(p) == "/window");
}

TEST_CASE("autoscale: min_points may equal the number of samples in the window")
{
    simulation w;
    sc::policy p = plain();
    p.min_points = 20;
    w.orders = 500;
    const auto r = w.run(p, 5min);
    CHECK(r.up == 1);  // in the round at 4:45
    CHECK(r.rounds == 20);
}

TEST_CASE("autoscale: metrics without a source are removed from the state")
{
    simulation w;
    const sc::policy p = plain();
    w.state.metrics.push_back({"former", {{at(0), 1}}});
    (void)w.run(p, 1s);
    REQUIRE(w.state.metrics.size() == 1);
    CHECK(w.state.metrics[0].metric == "orders");
}

TEST_CASE("autoscale: a second run adds to the report")
{
    simulation w;
    const sc::policy p = plain();
    sc::autoscale_report report;
    const auto ignore = [](const sc::decision&) {};
    for (int n = 0; n != 2; ++n) {
        w.stop_after(20s);
        autoscale({{"orders", [&] { return w.orders; }}}, p, w.state, w.count(), w.resize(), w.env,
                  ignore, report);
    }
    CHECK(report.rounds == 4);
    CHECK(report.steady == 4);
    CHECK(report == report);
}

TEST_CASE(
    "autoscale: autoscale_once serves several resources in turn, with conditions of the caller")
{
    struct is_busy {
        sc::tribool operator()(const sc::situation& s, std::vector<sc::evidence>&) const
        {
            return sc::truth_of(s.metrics[0].value(sc::statistic::last) > 100);
        }
    };
    auto p = sc::policy_of(is_busy{}, sc::rule());
    p.instances = {1, 10};
    std::map<std::string, simulation> all;
    all["a"].orders = 500;
    all["b"].orders = 50;
    for (int n = 0; n != 3; ++n) {
        for (auto& [name, w] : all) {
            (void)autoscale_once({{"orders", [&each = w] { return each.orders; }}}, p, w.state,
                                 w.count(), w.resize(), w.env);
            w.env.advance(p.every);
        }
    }
    CHECK(all["a"].instances == 5);
    CHECK(all["b"].instances == 2);
}

}  // namespace autoscale_test
