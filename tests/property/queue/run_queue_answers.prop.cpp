// SPDX-License-Identifier: MIT
//
// run_queue against a queue that gives any answer to each call, with handlers that give any answer,
// outages, and processes that end anywhere. In half of the worlds, another consumer works between any
// two calls. A queue with copies or pointers may have another clock than its callers. The oracle sees
// only the calls that took effect, their times, and the report. It knows nothing of the driver.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>

#include <waybill/core/environment.hpp>
#include <waybill/queue/run_queue.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>

namespace run_queue_answers_property {

using namespace waybill;
using testing::manual_environment;
using testing::queue_deferral;
using testing::queued_message;
using testing::queued_pointer;
using tests_support::dice;

namespace {

constexpr duration lock = duration::seconds(30);
constexpr duration to_settle = duration::seconds(1);
constexpr std::uint64_t max_crashes = 5;
constexpr std::uint64_t max_pointer_deliveries = 10;
constexpr std::string_view key = "a key of the tests";

enum class job : std::uint8_t {
    succeeds,
    is_permanent,
    is_busy_sometimes,
    is_always_busy,
    ends_its_process,
    outlasts_its_lock,
    has_too_large_letter,
    is_cancelled_once,
    loses_its_lock_once,
    fails_late_once,
};
constexpr std::uint64_t jobs = 10;

/// The history of a message, as the outside sees it.
struct history {
    job kind = job::succeeds;
    std::uint64_t handled = 0;
    std::uint64_t effects = 0;
    std::uint64_t ever_unsettled = 0;  // deliveries without a settlement, in total
    std::uint64_t letters_refused = 0;
    std::optional<steady_time> first_try{};  // that failed as transient
    std::optional<steady_time> due{};        // of its deferral
    std::string broken_letter{};
};

/// All that the world and the oracle know.
struct world {
    explicit world(std::uint64_t seed)
        : roll(seed),
          env(steady_time::at(duration::seconds(3'600)), wall_time::at(duration::seconds(86'400)),
              seed)
    {
        constexpr std::uint64_t none = 0;
        troubles = roll.one_in(3) ? none : 1 + roll(25);
        retry_for = duration::seconds(roll.one_in(3) ? 0 : std::int64_t(10) << roll(6));
        if (roll.one_in(2)) outage_from = env.now() + duration::seconds(std::int64_t(roll(300)));
        outage_until = outage_from + duration::seconds(std::int64_t(roll(3'600)));
        with_breaker = roll.one_in(2);
        with_other = roll.one_in(2);
        if (roll.one_in(2)) skew = duration::seconds(roll.one_in(2) ? -300 : 300);
    }

    [[nodiscard]] bool trouble()
    {
        if (troubles == 0 || !roll.one_in(6)) return false;
        --troubles;
        ++troubles_made;
        return true;
    }
    void die()
    {
        alive = false;
        env.stop_at(env.now());
    }
    void pass_time() { env.advance(duration::milliseconds(std::int64_t(roll(200)))); }
    void breaks(std::string_view promise)
    {
        if (broken.empty()) broken = promise;
    }
    /// The other consumer makes some calls.
    void let_other_work()
    {
        if (!with_other || other_works || !alive || !roll.one_in(4)) return;
        other_works = true;
        other();
        other_works = false;
    }
    /// How long the queue waits, if its caller computes a time with a clock that differs by `skew`.
    [[nodiscard]] duration waits_for(duration delay) const
    {
        return delay + skew < duration{} ? duration{} : delay + skew;
    }
    [[nodiscard]] bool is_down() { return !(env.now() < outage_from) && env.now() < outage_until; }

    dice roll;
    manual_environment env;
    circuit_breaker breaker{{.consecutive_failures = 3}};
    std::uint64_t troubles = 0;
    std::uint64_t troubles_made = 0;
    duration retry_for{};
    steady_time outage_from = steady_time::highest();
    steady_time outage_until = steady_time::highest();
    bool with_breaker = false;
    bool with_other = false;
    bool other_works = false;
    std::function<void()> other{};
    duration skew{};
    std::uint64_t stuck = 0;             // in the reports
    std::uint64_t further_pointers = 0;  // scheduled, and the next call had no lock
    bool counts_crashes = true;
    bool alive = true;
    std::map<std::string, history> messages{};           // by body
    std::map<std::uint64_t, std::uint64_t> unsettled{};  // deliveries since a settlement, by number
    std::string broken{};
};

/// A queue that fails before or after the effect of a call, or whose process ends there.
template <queue_deferral D>
class service : public testing::memory_queue<manual_environment, D> {
    using base = testing::memory_queue<manual_environment, D>;

public:
    using message = queued_message;
    using pointer = queued_pointer;

    explicit service(world& w) : base(w.env), w_(w) {}

    result<std::optional<message>> receive(duration d)
    {
        if (w_.with_breaker && !w_.with_other &&
            w_.breaker.state(w_.env.now()) == circuit_breaker::circuit_state::open)
            w_.breaks("a message is received while the circuit breaker is open");
        return answer([&] { return delivered(base::receive(d)); });
    }
    result<std::optional<message>> receive_deferred(const pointer& p, duration d)
        requires(D == queue_deferral::by_pointer)
    {
        return answer([&] { return delivered(base::receive_deferred(p, d)); });
    }
    result<std::optional<pointer>> receive_pointer(duration d)
        requires(D == queue_deferral::by_pointer)
    {
        return answer([&]() -> result<std::optional<pointer>> {
            for (;;) {
                auto p = base::receive_pointer(d);
                if (!p || !*p || (**p).deliveries <= max_pointer_deliveries) return p;
                (void)base::complete(**p);  // to the dead letters of the pointers' queue
            }
        });
    }
    fault complete(message& m)
    {
        return answer([&] { return base::complete(m); });
    }
    fault complete(pointer& p)
        requires(D == queue_deferral::by_pointer)
    {
        return answer([&] {
            fault f = base::complete(p);
            if (!f.ok()) ++w_.further_pointers;
            return f;
        });
    }
    fault abandon(message& m, bool failed)
    {
        return answer([&] { return failure_settled(m, base::abandon(m, failed)); });
    }
    fault schedule_pointer(pointer& p, std::uint64_t tries, duration delay)
        requires(D == queue_deferral::by_pointer)
    {
        return answer([&] { return base::schedule_pointer(p, tries, w_.waits_for(delay)); });
    }
    fault defer(message& m, duration delay, bool failed)
        requires(D == queue_deferral::by_time)
    {
        return answer([&] {
            fault f = failure_settled(m, base::defer(m, delay, failed));
            if (f.ok()) w_.messages[m.body].due = w_.env.now() + delay;
            return f;
        });
    }
    fault defer(message& m)
        requires(D == queue_deferral::by_pointer)
    {
        return answer([&] {
            fault f = failure_settled(m, base::defer(m));
            if (!f.ok()) ++w_.further_pointers;
            return f;
        });
    }
    fault schedule_pointer(message& m, std::uint64_t tries, duration delay)
        requires(D == queue_deferral::by_pointer)
    {
        return answer([&] {
            w_.messages[m.body].due = w_.env.now() + w_.waits_for(delay);
            return base::schedule_pointer(m, tries, w_.waits_for(delay));
        });
    }
    fault schedule_copy(message& m, const queue_policy::scheduled_copy& copy)
        requires(D == queue_deferral::by_copy)
    {
        return answer([&] {
            if (copy.id.size() > 128) w_.breaks("the id of a copy is too long");
            if (copy.original_id != m.body) w_.breaks("the original id of a copy is lost");
            queue_policy::scheduled_copy sent = copy;
            sent.delay = w_.waits_for(copy.delay);
            return base::schedule_copy(m, sent);
        });
    }
    fault dead_letter(message& m, std::string_view reason)
    {
        history& h = w_.messages[m.body];
        if (h.kind == job::has_too_large_letter) {
            ++h.letters_refused;
            return answer([&]() -> fault { return permanent("the letter is too large"); });
        }
        return answer([&] {
            const std::uint64_t crashes = w_.unsettled[m.number] - 1;
            check_letter(h, reason, crashes);
            return failure_settled(m, base::dead_letter(m, reason));
        });
    }
    fault renew(message& m, duration d)
    {
        return answer([&] { return base::renew(m, d); });
    }
    fault make_due()
        requires(D == queue_deferral::by_time)
    {
        return answer([&] { return base::make_due(); });
    }
    result<bool> empty()
    {
        return answer([&] { return base::empty(); });
    }

private:
    template <class F>
    auto answer(F&& call) -> decltype(call())
    {
        using answer_type = decltype(call());
        const auto failed = [](std::string_view text) {
            return waybill::detail::result_of_fault<answer_type>(infrastructure(std::string(text)));
        };
        if (!w_.alive) return failed("the process has ended");
        w_.pass_time();
        if (!w_.trouble()) {
            answer_type a = call();
            w_.let_other_work();
            return a;
        }
        switch (w_.roll(4)) {
            case 0: return failed("no connection");
            case 1: (void)call(); return failed("the answer is lost");
            case 2: w_.die(); return failed("the process has ended");
            default:
                (void)call();
                w_.die();
                return failed("the process has ended");
        }
    }

    result<std::optional<message>> delivered(result<std::optional<message>> r)
    {
        if (!r || !*r) return r;
        history& h = w_.messages[(**r).body];
        if (w_.unsettled[(**r).number]++ != 0) ++h.ever_unsettled;
        h.due.reset();
        if ((**r).deliveries == 1 && h.handled == 0 && w_.troubles_made == 0 && !w_.with_other)
            check_order();
        return r;
    }

    /// A new message is received. The messages that became due before have been received.
    void check_order()
    {
        for (const auto& [body, h] : w_.messages) {
            if (h.due && *h.due + duration::seconds(2) < w_.env.now())
                w_.breaks("a new message comes before one that is due");
        }
    }

    fault failure_settled(const message& m, fault f)
    {
        // The repeated call after a lost answer finds the message settled.
        // The work of another consumer may take longer than a call.
        if (f.kind == fault_kind::ownership_lost && w_.unsettled[m.number] != 0 && !w_.with_other)
            w_.breaks("a failure is settled after the end of its lock");
        if (f.ok()) w_.unsettled[m.number] = 0;
        return f;
    }

    void check_letter(const history& h, std::string_view reason, std::uint64_t crashes)
    {
        if (reason.starts_with("permanent: no such customer")) {
            if (h.kind != job::is_permanent) w_.breaks("a dead letter has the reason of another");
        } else if (reason.starts_with("exhausted: ")) {
            const bool tried = h.first_try && !(w_.env.now() < *h.first_try + w_.retry_for);
            if (!tried && h.ever_unsettled == 0 && !waits_too_short())
                w_.breaks("a message is dead-lettered before the end of retry_for");
        } else if (reason.starts_with("crashes: ")) {
            if (crashes < max_crashes)
                w_.breaks("a message is dead-lettered after too few crashes");
        } else {
            w_.breaks("a dead letter has no reason");
        }
    }

    /// The queue does not make the requested pauses.
    [[nodiscard]] bool waits_too_short() const
    {
        return w_.skew < duration{} &&
               (D == queue_deferral::by_copy || D == queue_deferral::by_pointer);
    }

    world& w_;
};

/// The answer of a handler.
fault handled(world& w, const queued_message& m, queue_policy::message_lock& held)
{
    history& h = w.messages[m.body];
    ++h.handled;
    if (w.counts_crashes && w.unsettled[m.number] > max_crashes)
        w.breaks("a message is handled after max_crashes");
    if (w.roll.one_in(3)) {
        w.env.advance(duration::seconds(std::int64_t(8 + w.roll(8))));
        if (!held.keep()) return ownership_lost("the lock is lost");
    }
    if (!w.alive) return infrastructure("the process has ended");
    if (w.is_down()) return infrastructure("down");
    switch (h.kind) {
        case job::has_too_large_letter:
        case job::is_permanent: return permanent("no such customer");
        case job::is_busy_sometimes:
            if (h.handled >= 3) break;
            if (!h.first_try) h.first_try = w.env.now();
            return transient("busy");
        case job::is_always_busy:
            if (!h.first_try) h.first_try = w.env.now();
            return transient("busy");
        case job::ends_its_process: w.die(); return infrastructure("the process has ended");
        case job::outlasts_its_lock: w.env.advance(lock * 2); break;
        case job::is_cancelled_once:
            if (h.handled == 1) return cancelled("later");
            break;
        case job::loses_its_lock_once:
            if (h.handled == 1) return ownership_lost("another has it");
            break;
        case job::fails_late_once:
            if (h.handled > 1) break;
            w.env.advance(lock + duration::seconds(5));
            if (!h.first_try) h.first_try = w.env.now();
            return transient("busy");
        case job::succeeds: break;
    }
    ++h.effects;
    return {};
}

/// A wrong driver: each member replaces what the driver gets, or what it does.
struct mutant {
    std::uint64_t max_crashes = run_queue_answers_property::max_crashes;
    std::optional<duration> retry_for{};
    bool no_breaker = false;
    bool slow_clock = false;
    bool outage_is_transient = false;
    bool failure_is_success = false;
    bool forgets_an_outcome = false;
    bool hides_pointers = false;
    bool looks_once = false;
    bool refusal_is_outage = false;
    bool guessed_ids = false;
};

/// The queue as a wrong driver uses it.
template <queue_deferral D>
struct misused : service<D> {
    using base = service<D>;
    misused(world& w, const mutant& m) : base(w), change(m) {}

    result<std::optional<queued_pointer>> receive_pointer(duration d)
        requires(D == queue_deferral::by_pointer)
    {
        if (change.hides_pointers && this->size() > 1) return std::optional<queued_pointer>();
        auto p = base::receive_pointer(d);
        if (change.looks_once && p && *p) (**p).deliveries = 2;
        return p;
    }
    fault schedule_copy(queued_message& m, const queue_policy::scheduled_copy& copy)
        requires(D == queue_deferral::by_copy)
    {
        queue_policy::scheduled_copy other = copy;
        if (change.guessed_ids) other.id = m.body + ":1";
        return base::schedule_copy(m, other);
    }
    fault dead_letter(queued_message& m, std::string_view reason)
    {
        fault f = base::dead_letter(m, reason);
        if (change.refusal_is_outage && f.kind == fault_kind::permanent)
            f.kind = fault_kind::infrastructure;
        return f;
    }
    const mutant& change;
};

/// The clock of a driver; with `slow`, it runs at half speed.
struct driver_environment {
    steady_time now() { return slow ? start + (w.env.now() - start) * 0.5 : w.env.now(); }
    wall_time wall_now() { return w.env.wall_now(); }
    void sleep_until(steady_time t) { w.env.sleep_until(slow ? start + (t - start) * 2 : t); }
    double random() { return w.env.random(); }
    bool stop_requested() { return w.env.stop_requested(); }
    world& w;
    bool slow = false;
    steady_time start{};
};

template <queue_deferral D>
std::string broken_by(std::uint64_t seed, const mutant& change, std::uint64_t& received)
{
    world w(seed);
    w.counts_crashes = D != queue_deferral::none;
    misused<D> queue(w, change);
    const std::uint64_t count = 1 + w.roll(8);
    for (std::uint64_t n = 0; n != count; ++n) {
        const std::string body = "order-" + std::to_string(n);
        auto kind = static_cast<job>(w.roll.one_in(2) ? 0 : w.roll(jobs));
        // Without a deferral, a queue cannot tell a crash from a pause.
        const bool dies = kind == job::ends_its_process || kind == job::outlasts_its_lock;
        if (dies && D == queue_deferral::none) kind = job::succeeds;
        // With such a clock, a refused letter has no pause, and its message keeps others waiting.
        if (kind == job::has_too_large_letter && w.skew < duration{}) kind = job::succeeds;
        w.messages[body].kind = kind;
        queue.put(body, body);
        w.messages[body + ":1"].kind = job::succeeds;
        queue.put(body + ":1", body + ":1");  // the id that a copy must not have
    }
    queue_policy policy{.lock = lock,
                        .retry_for = change.retry_for.value_or(w.retry_for),
                        .max_crashes = change.max_crashes,
                        .copy_key = key,
                        .to_settle = to_settle,
                        .breaker = w.with_breaker && !change.no_breaker ? &w.breaker : nullptr,
                        .stop_when_empty = true};
    const auto handle = [&](const queued_message& m, queue_policy::message_lock& held) {
        fault f = handled(w, m, held);
        if (w.with_breaker && change.no_breaker) {
            if (const auto p = w.breaker.try_acquire(w.env.now()))
                (void)w.breaker.record(*p, f.kind, w.env.now());
        }
        if (change.outage_is_transient && f.kind == fault_kind::infrastructure)
            f.kind = fault_kind::transient;
        if (change.failure_is_success) f = {};
        return f;
    };
    driver_environment env{w, change.slow_clock, w.env.now()};
    const auto check_report = [&](queue_report& r) {
        received += r.received;
        w.stuck += r.stuck;
        if (change.forgets_an_outcome && r.completed != 0) --r.completed;
        if (r.received != r.completed + r.given_back + r.deferred + r.dead_lettered +
                              r.left_to_lock + r.unconfirmed + r.stuck)
            w.breaks("a delivery has no outcome");
        if (r.listed.size() + r.unlisted !=
            r.dead_lettered + r.left_to_lock + r.unconfirmed + r.stuck)
            w.breaks("a delivery to check is not listed");
        const bool on_time = !(w.skew < duration{}) && w.troubles_made + w.further_pointers == 0;
        if (on_time && !w.with_other && r.early != 0)
            w.breaks("a delivery on time is reported as early");
    };
    w.other = [&] {
        auto limited = time_limited(env, duration::seconds(std::int64_t(1 + w.roll(3))));
        queue_report r = run_queue(queue, handle, policy, limited);
        check_report(r);
    };
    const steady_time begin = w.env.now();
    for (int process = 0; process != 300; ++process) {
        w.alive = true;
        w.env.stop_at(steady_time::highest());
        auto limited = time_limited(env, duration::seconds(14'400));
        queue_report r = run_queue(queue, handle, policy, limited);
        check_report(r);
        if (w.alive) break;
        w.env.advance(duration::seconds(1));
    }
    if (!w.broken.empty()) return w.broken;
    if (!w.alive) return "processes end for ever";

    const auto minutes = static_cast<std::uint64_t>((w.env.now() - begin).count() / 60'000'000'000);
    for (const auto& [body, h] : w.messages) {
        // After a lost answer, or if a lock ends between two calls, a message has one more pointer, and
        // each has its pauses.
        std::uint64_t in_a_minute = D == queue_deferral::none ? 3 : 1;
        if (D == queue_deferral::by_pointer) in_a_minute += w.troubles_made + w.further_pointers;
        if (h.letters_refused > (minutes + 5) * in_a_minute + 4 * w.troubles_made)
            return "a refused letter is repeated without a pause";
    }

    std::set<std::string> left;
    queue.each([&](const queued_message& m) { left.insert(m.body); });
    std::set<std::string> dead;
    for (const auto& d : queue.dead_letters()) {
        dead.insert(d.what.body);
        if (d.reason.empty()) return "a dead letter has no reason";
    }
    for (const auto& [body, h] : w.messages) {
        const bool may_stay = h.kind == job::has_too_large_letter;
        if (left.contains(body)) {
            if (!may_stay) return "a message is not settled";
            if (w.stuck == 0) return "a message stays, and no report names it";
            continue;
        }
        if (!dead.contains(body) && h.effects == 0) return "a message is lost";
        if (h.kind == job::is_permanent && !dead.contains(body)) return "a message is lost";
        if (h.kind == job::is_always_busy && !dead.contains(body)) return "a message is lost";
    }
    return "";
}

std::string broken_by_any(std::uint64_t seed, const mutant& change, std::uint64_t& received)
{
    using enum queue_deferral;
    switch (seed % 4) {
        case 0: return broken_by<by_time>(seed, change, received);
        case 1: return broken_by<by_copy>(seed, change, received);
        case 2: return broken_by<by_pointer>(seed, change, received);
        default: return broken_by<none>(seed, change, received);
    }
}

/// The promises that a wrong driver breaks.
std::set<std::string> caught(const mutant& change)
{
    std::uint64_t received = 0;
    std::set<std::string> all;
    for (std::uint64_t seed = 0; seed != 400; ++seed)
        all.insert(broken_by_any(seed, change, received));
    all.erase("");
    return all;
}

constexpr std::uint64_t worlds = tests_support::rounds(1'000, 40'000);

}  // namespace

TEST_CASE("run_queue: any answers of queue and handler, outages and deaths: each promise is kept")
{
    std::uint64_t received = 0;
    for (std::uint64_t seed = 0; seed != worlds; ++seed) {
        const std::string broken = broken_by_any(seed, {}, received);
        if (!broken.empty()) FAIL("seed ", seed, ": ", broken);
    }
    MESSAGE(worlds, " worlds, ", received, " deliveries");
}

TEST_CASE("run_queue: the oracle catches a wrong driver for each promise")
{
    if (tests_support::sanitized) return;  // about logic, not about memory
    const auto breaks = [](const mutant& m, const std::string& promise) {
        CAPTURE(promise);
        CHECK(caught(m).contains(promise));
    };
    breaks({.forgets_an_outcome = true}, "a delivery has no outcome");
    breaks({.failure_is_success = true}, "a message is lost");
    breaks({.guessed_ids = true}, "a message is lost");
    breaks({.retry_for = duration{}}, "a message is dead-lettered before the end of retry_for");
    breaks({.no_breaker = true}, "a message is received while the circuit breaker is open");
    breaks({.outage_is_transient = true}, "a message is dead-lettered before the end of retry_for");
    breaks({.hides_pointers = true}, "a new message comes before one that is due");
    breaks({.looks_once = true}, "a message is not settled");
    breaks({.slow_clock = true}, "a failure is settled after the end of its lock");
    breaks({.max_crashes = 6}, "a message is handled after max_crashes");
    breaks({.max_crashes = 4}, "a message is dead-lettered after too few crashes");
    breaks({.refusal_is_outage = true}, "a refused letter is repeated without a pause");
}

}  // namespace run_queue_answers_property
