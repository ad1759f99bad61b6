// SPDX-License-Identifier: MIT
//
// run_session with every fault at every call of the queue, the states, the dead letters and the
// handler: the call fails before or after its effect, the lock expires, the process ends, a stop is
// requested, or the clock jumps back.
//
// WAYBILL_REPLAY=<line> runs one schedule and prints its calls.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/every_schedule.hpp>

#include <waybill/session/run_session.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_session_queue.hpp>
#include <waybill/testing/memory_sessions.hpp>

namespace run_session_enumeration {
namespace {

using tests_support::brief;
using waybill::dead_letter_reason;
using waybill::duration;
using waybill::fault;
using waybill::pipeline;
using waybill::pipeline_policy;
using waybill::result;
using waybill::session_report;
using waybill::unexpected;
using waybill::testing::choices;
using memory_queue = waybill::testing::memory_session_queue;

enum class outcome : std::uint8_t { ok, permanent, transient_once };
enum class states : std::uint8_t { in_queue, in_store, in_transaction };

struct extent {
    states where = states::in_queue;
    std::uint32_t steps = 3;
    std::uint32_t faults = 1;
    bool independent = false;
    bool by_arrival = false;
    bool counted = true;  // the queue counts deliveries
    std::uint32_t outcomes = 3;
    std::uint32_t sessions = 1;
};

enum class injected : std::uint8_t {
    none,
    fails,
    fails_though_done,
    lock_expires,
    dies_before,
    dies_after,
    stop,
    clock_jumps_back
};

/// A process and its surroundings. The first broken rule is in `broken`.
class simulation {
public:
    simulation(const extent& x, choices& c, bool tells)
        : x_(x),
          c_(c),
          tells_(tells),
          left_(x.faults),
          kept_(env_, {.counts_deliveries = x.counted})
    {
        for (std::uint32_t s = 0; s != x.sessions; ++s) send_session("job-" + std::to_string(s));
    }

    std::string run()
    {
        for (int round = 0; round != 20 && broken_.empty(); ++round) {
            if (kept_.depth() == 0) return finished();
            run_once();
            env_.advance(duration::seconds(10'800));  // all locks and pauses end
        }
        return broken_.empty() ? "the queue is not empty after 20 runs" : broken_;
    }

    // -- an environment
    waybill::steady_time now() const { return env_.now(); }
    waybill::wall_time wall_now() const { return env_.wall_now(); }
    void sleep_until(waybill::steady_time t) { env_.sleep_until(t); }
    double random() { return env_.random(); }
    bool stop_requested() const { return stopped_ || dead_; }

    // -- a queue
    using lock = memory_queue::lock;
    using message = memory_queue::message;
    class transaction {
    public:
        transaction(simulation& w, memory_queue::transaction t)
            : simulation_(&w), kept_(std::move(t))
        {
        }
        result<waybill::commit_outcome> commit()
        {
            simulation& w = *simulation_;
            using waybill::commit_outcome;
            result<commit_outcome> r = commit_outcome::unknown;
            const fault f = w.io("commit", [&] {
                r = kept_.commit();
                return fault{};
            });
            if (!f.ok()) return commit_outcome::unknown;
            return r;
        }
        void rollback() noexcept { kept_.rollback(); }
        simulation* simulation_;
        memory_queue::transaction kept_;
    };

    result<std::optional<lock>> accept()
    {
        starts("accept");
        return value<std::optional<lock>>("accept", [&] { return kept_.accept(); });
    }
    result<std::optional<message>> receive(const lock& l)
    {
        starts("receive");
        return value<std::optional<message>>("receive", [&] { return kept_.receive(l); });
    }
    fault complete(const lock& l, const message& m)
    {
        return io("complete", [&] {
            const fault f = kept_.complete(l, m);
            if (!f.ok()) return f;
            const bool has_letter = letters_.contains({m.session, m.sequence});
            if (!has_letter && effects_[m.session][step_of(m)] == 0)
                breaks("a message is complete, and its step neither done nor dead-lettered");
            return f;
        });
    }
    fault renew(const lock& l)
    {
        return io("renew", [&] { return kept_.renew(l); });
    }
    fault close(const lock& l, duration pause)
    {
        return io("close", [&] { return kept_.close(l, pause); });
    }
    result<std::optional<std::string>> load(const lock& l)
    {
        return value<std::optional<std::string>>("load", [&] { return kept_.load(l); });
    }
    fault save(const lock& l, const std::string& bytes)
    {
        return io("save", [&] { return kept_.save(l, bytes); });
    }
    fault clear(const lock& l)
    {
        return io("clear", [&] { return kept_.clear(l); });
    }
    result<transaction> begin()
    {
        starts("begin");
        auto t = kept_.begin();
        const fault f = io("begin", [] { return fault{}; });
        if (!f.ok()) return unexpected(f);
        return transaction(*this, *std::move(t));
    }
    fault save(transaction& t, const lock& l, const std::string& bytes)
    {
        return io("save in transaction", [&] { return kept_.save(t.kept_, l, bytes); });
    }

    // -- dead letters
    fault upsert(const waybill::pipeline_dead_letter& l)
    {
        return io("dead letter", [&] {
            letters_[{l.properties.session, l.sequence}] = l;
            return fault{};
        });
    }

    // -- a session store
    struct store {
        using version = std::uint64_t;
        simulation* w;
        waybill::testing::memory_sessions kept{};

        auto load(const std::string& s)
        {
            return w->value<std::optional<waybill::stored_state<version>>>(
                "load", [&] { return kept.load(s); });
        }
        auto save(const std::string& s, const std::string& bytes,
                  const std::optional<version>& expected)
        {
            return w->value<waybill::save_result<version>>(
                "save", [&] { return kept.save(s, bytes, expected); });
        }
        auto clear(const std::string& s, const version& expected)
        {
            return w->value<waybill::state_write>("clear", [&] { return kept.clear(s, expected); });
        }
    };

private:
    friend class transaction;

    void send_session(const std::string& id)
    {
        auto job = waybill::job::make(id, x_.steps);
        for (std::uint32_t n = 1; n <= x_.steps; ++n) {
            outcomes_[id].push_back(static_cast<outcome>(c_.pick(x_.outcomes)));
            if (!x_.by_arrival) {
                kept_.send(job->next(), "body");
                continue;
            }
            message m{.session = id};
            if (n == x_.steps) m.properties.emplace("waybill-last", "true");
            kept_.send(std::move(m));
        }
    }

    /// Messages of the sessions are sent one after the other, from sequence number 1 on.
    std::uint64_t step_of(const message& m) const { return (m.sequence - 1) % x_.steps + 1; }

    void tell(const std::string& line) const
    {
        if (tells_) std::printf("    %s\n", line.c_str());
    }
    void breaks(const std::string& rule)
    {
        tell("BROKEN: " + rule);
        if (broken_.empty()) broken_ = rule;
    }
    void starts(std::string_view call)
    {
        if (stopped_) breaks("a request after a stop request: " + std::string(call));
    }

    injected pick(std::string_view call)
    {
        if (left_ == 0 || !broken_.empty()) return injected::none;
        const auto f = static_cast<injected>(c_.pick(8));
        if (f == injected::none) return f;
        --left_;
        static constexpr const char* names[] = {
            "",           "fails", "fails though done",   "lock expires", "dies before",
            "dies after", "stop",  "the clock jumps back"};
        tell(std::string("  ") + names[static_cast<std::size_t>(f)]);
        any_fault_ = true;
        const bool at_end = call == "complete" || call == "clear" || call == "save" ||
                            call == "close" || call == "dead letter";
        state_may_stay_ = state_may_stay_ || at_end;
        return f;
    }

    template <class F>
    fault io(std::string_view call, F&& apply)
    {
        if (dead_) return waybill::infrastructure("the process has ended");
        tell(std::string(call));
        const injected f = pick(call);
        if (f == injected::fails) return waybill::infrastructure("down");
        if (f == injected::lock_expires) env_.advance(duration::seconds(31));
        if (f == injected::clock_jumps_back) env_.advance(-duration::seconds(3'600));
        if (f == injected::stop) stopped_ = true;
        if (f == injected::dies_before) {
            dead_ = true;
            return waybill::infrastructure("the process has ended");
        }
        fault r = apply();
        if (f == injected::dies_after) dead_ = true;
        if (f == injected::dies_after || f == injected::fails_though_done)
            return waybill::infrastructure("no reply");
        return r;
    }

    template <class T, class F>
    result<T> value(std::string_view call, F&& get)
    {
        result<T> r = unexpected(waybill::infrastructure("no call"));
        fault f = io(call, [&] {
            r = get();
            return r ? fault{} : r.error();
        });
        if (!f.ok()) return unexpected(std::move(f));
        return r;
    }

    void effect(const std::string& job, std::uint64_t n)
    {
        std::uint32_t& count = effects_[job][n];
        ++count;
        if (count > 1 && x_.where == states::in_transaction) breaks("a step took effect twice");
        if (count > 1 && !any_fault_) breaks("a step took effect twice without a fault");
        if (!x_.independent && n > 1 && effects_[job][n - 1] == 0)
            breaks("a step took effect before the step before it");
        if (!x_.independent) {
            for (std::uint64_t k = 1; k != n; ++k) {
                if (outcomes_[job][k - 1] == outcome::permanent)
                    breaks("a step took effect after a failed step");
            }
        }
    }

    /// `at_end` has the effect: at once, or at the commit.
    template <class Effect>
    fault run_step(std::string& value, const pipeline::step& s, Effect at_end)
    {
        starts("handler");
        const std::string job(s.job);
        if (s.number == 0 || s.number > x_.steps) {
            breaks("a step has a wrong number");
            return {};
        }
        if (s.last != (s.number == x_.steps)) breaks("the last step is another one");
        std::string expected;
        for (std::uint64_t k = 1; k != s.number; ++k) {
            if (outcomes_[job][k - 1] != outcome::permanent) expected += std::to_string(k);
        }
        if (value != expected) breaks("the value is not that of the steps before");
        return io("handler " + std::to_string(s.number), [&]() -> fault {
            const outcome o = outcomes_[job][s.number - 1];
            if (o == outcome::permanent) return waybill::permanent("no price");
            if (o == outcome::transient_once && tried_[job][s.number]++ == 0)
                return waybill::transient("busy");
            value += std::to_string(s.number);
            at_end(job, s.number);
            return {};
        });
    }

    void run_once()
    {
        tell("-- run_session");
        dead_ = stopped_ = false;
        session_report::policy p{.until_empty = true};
        if (x_.independent) p.pipeline.mode = pipeline_policy::pipeline_mode::independent;
        const waybill::text_state_codec codec;
        const auto plain = [this](std::string& v, const pipeline::step& s) {
            return run_step(v, s, [this](const std::string& j, std::uint64_t n) { effect(j, n); });
        };
        const auto in_tx = [this](transaction& t, std::string& v, const pipeline::step& s) {
            return run_step(v, s, [this, &t](const std::string& j, std::uint64_t n) {
                t.kept_.on_commit([this, j, n] { effect(j, n); });
            });
        };
        session_report r;
        if (x_.where == states::in_queue)
            r = waybill::run_session(*this, codec, *this, plain, p, *this);
        if (x_.where == states::in_store)
            r = waybill::run_session(*this, store_, codec, *this, plain, p, *this);
        if (x_.where == states::in_transaction)
            r = waybill::run_session(*this, codec, *this, in_tx, p, *this);
        tell("-- " + describe(r));
        const std::uint64_t sum =
            r.done + r.repeated + r.dead_lettered + r.given_back + r.state_unreadable + r.lost;
        if (sum != r.received) breaks("the outcomes do not add up to the received messages");
        if (stop_requested() != (r.ended == session_report::run_outcome::stopped) &&
            !stop_requested())
            breaks("the run ended for another reason");
        if (r.ended == session_report::run_outcome::unfinished) breaks("the run did not end");
        if (!any_fault_ && r.faults != 0) breaks("a fault is reported, and there was none");
        if (any_fault_ && !stop_requested() && r.ended != session_report::run_outcome::queue_empty)
            breaks("the run ended before the queue was empty");
    }

    std::string finished()
    {
        if (!kept_.dead_letters().empty()) breaks("the queue has dead-lettered a message itself");
        for (const auto& [job, all] : outcomes_) {
            std::uint64_t failed = 0;
            for (std::uint64_t n = 1; n <= x_.steps; ++n) {
                const bool fails = all[n - 1] == outcome::permanent;
                const auto letter = letter_of(job, n);
                const bool stopped = failed != 0 && !x_.independent;
                if ((fails || stopped) != (letter != nullptr))
                    breaks("a step has a dead letter and is done, or neither");
                if ((fails || stopped) == (effects_[job][n] != 0))
                    breaks("a step took effect and failed, or neither");
                if (letter != nullptr) check(*letter, stopped, n);
                if (fails && failed == 0) failed = n;
            }
            const bool left = kept_.state(job) || store_.kept.states().contains(job);
            if (left && !state_may_stay_) breaks("a state is left");
        }
        return broken_;
    }

    void check(const waybill::pipeline_dead_letter& l, bool stopped, std::uint64_t n)
    {
        if (l.properties.step != n) breaks("a dead letter has another number");
        const auto expected =
            stopped ? dead_letter_reason::session_failed : dead_letter_reason::failed;
        if (l.reason != expected) breaks("a dead letter has another reason");
        if (l.independent != x_.independent) breaks("a dead letter has another mode");
    }

    const waybill::pipeline_dead_letter* letter_of(const std::string& job, std::uint64_t n) const
    {
        std::uint64_t index = 0;
        for (const auto& [id, all] : outcomes_) {
            if (id == job) break;
            ++index;
        }
        const auto found = letters_.find({job, index * x_.steps + n});
        return found == letters_.end() ? nullptr : &found->second;
    }

    const extent& x_;
    choices& c_;
    bool tells_;
    std::uint32_t left_;
    waybill::testing::manual_environment env_{waybill::steady_time::at(duration::seconds(360'000)),
                                              waybill::wall_time::at(duration::seconds(3'600'000))};
    memory_queue kept_;
    store store_{this};
    std::map<std::string, std::vector<outcome>> outcomes_;
    std::map<std::pair<std::string, std::uint64_t>, waybill::pipeline_dead_letter> letters_;
    std::map<std::string, std::map<std::uint64_t, std::uint32_t>> effects_;
    std::map<std::string, std::map<std::uint64_t, std::uint32_t>> tried_;
    bool dead_ = false;
    bool stopped_ = false;
    bool any_fault_ = false;
    bool state_may_stay_ = false;
    std::string broken_;
};

void holds(const char* what, const extent& x, std::uint64_t at_least)
{
    if (const char* const line = std::getenv("WAYBILL_REPLAY")) {
        auto c = choices::replay(line);
        REQUIRE(c.has_value());
        std::printf("%s\n", what);
        simulation(x, *c, true).run();
        return;
    }
    const auto v = tests_support::every_schedule(
        "run_session", what, [&](choices& c) { return simulation(x, c, false).run(); });
    CHECK(v.rule == "");
    if (!brief) CHECK(v.schedules >= at_least);
}

constexpr std::uint32_t two = brief ? 1 : 2;

TEST_CASE("run_session: any faults at any calls, states in the queue: all invariants hold")
{
    holds("one fault, three steps", {}, 1'000);
    holds("two faults, two steps", {.steps = 2, .faults = two}, 1'000);
    holds("one fault, independent", {.independent = true}, 1'000);
    holds("two faults, two steps, uncounted", {.steps = 2, .faults = two, .counted = false}, 1'000);
    holds("one fault, two sessions", {.steps = 2, .sessions = 2}, 1'000);
    holds("two faults, one step", {.steps = 1, .faults = two}, 100);
}

TEST_CASE("run_session: any faults at any calls, no step numbers: all invariants hold")
{
    holds("one fault, three steps by arrival", {.by_arrival = true}, 1'000);
    holds("two faults, two steps by arrival", {.steps = 2, .faults = two, .by_arrival = true},
          1'000);
    holds("one fault, independent by arrival", {.independent = true, .by_arrival = true}, 1'000);
    holds("two faults, uncounted by arrival",
          {.steps = 2, .faults = two, .by_arrival = true, .counted = false}, 1'000);
}

TEST_CASE("run_session: any faults at any calls, states in a store: all invariants hold")
{
    holds("one fault, three steps, store", {.where = states::in_store}, 1'000);
    holds("two faults, two steps, store", {.where = states::in_store, .steps = 2, .faults = two},
          1'000);
}

TEST_CASE("run_session: in a transaction, each step takes effect exactly once")
{
    holds("one fault, three steps, tx", {.where = states::in_transaction}, 1'000);
    holds("two faults, two steps, tx", {.where = states::in_transaction, .steps = 2, .faults = two},
          1'000);
    holds("two faults, two steps by arrival, tx",
          {.where = states::in_transaction, .steps = 2, .faults = two, .by_arrival = true}, 1'000);
    holds("one fault, independent, tx", {.where = states::in_transaction, .independent = true},
          1'000);
}

}  // namespace
}  // namespace run_session_enumeration
