// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/chrono.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_queue.hpp>
#include <waybill/testing/queue_conformance.hpp>

namespace {

using namespace std::chrono_literals;
using waybill::duration;
using waybill::fault;
using waybill::testing::conformance_report;
using waybill::testing::manual_environment;
using waybill::testing::memory_queue;
using waybill::testing::queue_deferral;
using waybill::testing::queued_message;
using waybill::testing::queued_pointer;

template <class Q>
[[nodiscard]] conformance_report report_of(duration lock = 2s,
                                           const waybill::testing::store_limits& limits = {})
{
    manual_environment env(waybill::steady_time::at(1h), waybill::wall_time::at(24h));
    return waybill::testing::queue_conformance(
        [&] { return Q(env); }, [](Q& q, std::string body) { q.put(std::move(body)); }, env,
        [](Q& q) {
            std::vector<std::string> all;
            for (const auto& d : q.dead_letters()) all.push_back(d.reason);
            return all;
        },
        [](Q& q) -> Q& { return q; }, lock, limits);
}

constexpr std::string_view reasons =
    "dead_letter: the reason is stored with the message byte for byte; one above the declared "
    "limit "
    "may be an error";

template <queue_deferral D>
using queue_with = memory_queue<manual_environment, D>;
using by_time = queue_with<queue_deferral::by_time>;
using by_copy = queue_with<queue_deferral::by_copy>;
using by_pointer = queue_with<queue_deferral::by_pointer>;

// Queues with one mistake each.

struct settles_without_lock : by_time {
    using by_time::by_time;
    fault complete(queued_message& m)
    {
        auto f = by_time::complete(m);
        return f.ok() ? f : fault{};
    }
};

struct dead_letter_without_reason : by_time {
    using by_time::by_time;
    fault dead_letter(queued_message& m, std::string_view) { return by_time::dead_letter(m, ""); }
};

struct release_counts : by_time {
    using by_time::by_time;
    fault abandon(queued_message& m, bool) { return by_time::abandon(m, true); }
};

struct deferral_counts_nothing : by_time {
    using by_time::by_time;
    fault defer(queued_message& m, duration delay, bool) { return by_time::defer(m, delay, false); }
};

struct deferral_is_visible : by_time {
    using by_time::by_time;
    fault defer(queued_message& m, duration, bool failed) { return by_time::abandon(m, failed); }
};

struct renews_nothing : by_time {
    using by_time::by_time;
    fault renew(queued_message&, duration) { return {}; }
};

struct locks_nothing : by_time {
    using by_time::by_time;
    auto receive(duration) { return by_time::receive({}); }
};

struct loses_an_expired_lock : by_time {
    using by_time::by_time;
    waybill::result<std::optional<queued_message>> receive(duration lock)
    {
        auto m = by_time::receive(lock);
        if (m && *m && (**m).deliveries > 1) {
            (void)by_time::complete(**m);
            return std::optional<queued_message>();
        }
        return m;
    }
};

struct error_when_empty : by_time {
    using by_time::by_time;
    waybill::result<std::optional<queued_message>> receive(duration lock)
    {
        auto m = by_time::receive(lock);
        if (m && !*m) return waybill::unexpected(waybill::transient("nothing there"));
        return m;
    }
};

// A queue with its own lock duration, which its messages report. `Reported` is a percentage of it.
template <int Reported>
struct own_lock : by_time {
    using by_time::by_time;
    struct message : queued_message {
        duration locked_for{};
    };
    waybill::result<std::optional<message>> receive(duration)
    {
        auto m = by_time::receive(configured);
        if (!m || !*m) return std::optional<message>();
        return std::optional(message{**m, configured * (Reported / 100.0)});
    }
    fault renew(message& m, duration) { return by_time::renew(m, configured); }
    duration configured = 2s;
};

struct empty_while_locked : by_time {
    using by_time::by_time;
    waybill::result<bool> empty()
    {
        const auto m = by_time::receive(duration::nanoseconds(1));
        return !m->has_value();
    }
};

struct copies_are_not_dropped : by_copy {
    using by_copy::by_copy;
    fault schedule_copy(queued_message& m, const waybill::queue_policy::scheduled_copy& copy)
    {
        auto another = copy;
        another.id += std::string(static_cast<std::size_t>(++copies), '+');
        return by_copy::schedule_copy(m, another);
    }
    int copies = 0;
};

struct no_crashes : by_time {
    using by_time::by_time;
    waybill::result<std::optional<queued_message>> receive(duration lock)
    {
        auto m = by_time::receive(lock);
        if (m && *m) (*m)->crashes = 0;
        return m;
    }
};

struct never_forgets_crashes : by_time {
    using by_time::by_time;
    waybill::result<std::optional<queued_message>> receive(duration lock)
    {
        auto m = by_time::receive(lock);
        if (m && *m) (*m)->crashes = (*m)->deliveries - 1;
        return m;
    }
};

struct copies_keep_the_number : by_copy {
    using by_copy::by_copy;
    waybill::result<std::optional<queued_message>> receive(duration lock)
    {
        auto m = by_copy::receive(lock);
        if (m && *m) (*m)->number = 1;
        return m;
    }
};

struct locked_is_gone : by_pointer {
    using by_pointer::by_pointer;
    waybill::result<std::optional<queued_message>> receive_deferred(const queued_pointer& p,
                                                                    duration lock)
    {
        auto m = by_pointer::receive_deferred(p, lock);
        if (!m) return std::optional<queued_message>();
        return m;
    }
};

struct pointer_without_tries : by_pointer {
    using by_pointer::by_pointer;
    fault schedule_pointer(queued_message& m, std::uint64_t, duration delay)
    {
        return by_pointer::schedule_pointer(m, 0, delay);
    }
    fault schedule_pointer(queued_pointer& p, std::uint64_t tries, duration delay)
    {
        return by_pointer::schedule_pointer(p, tries, delay);
    }
};

// Ignores the duration that a caller requests.
struct lock_of_60_s : by_time {
    using by_time::by_time;
    auto receive(duration) { return by_time::receive(60s); }
};

struct renewal_of_60_s : by_time {
    using by_time::by_time;
    fault renew(queued_message& m, duration lock)
    {
        return by_time::renew(m, lock < duration(60s) ? lock : duration(60s));
    }
};

// `Refuses`: a longer deferral is an error.
template <bool Refuses>
struct defers_5_minutes : by_time {
    using by_time::by_time;
    fault defer(queued_message& m, duration delay, bool failed)
    {
        const duration longest = 5min;
        if (Refuses && delay > longest) return waybill::permanent("the limit is 5 minutes");
        return by_time::defer(m, delay < longest ? delay : longest, failed);
    }
};

// Deferrals in milliseconds of 32 bits.
struct defers_49_days : by_copy {
    using by_copy::by_copy;
    fault schedule_copy(queued_message& m, waybill::queue_policy::scheduled_copy copy)
    {
        const auto ms = copy.delay.count() / 1'000'000;
        copy.delay = 1ms * static_cast<std::uint32_t>(ms);
        return by_copy::schedule_copy(m, copy);
    }
};

struct drops_empty_bodies : by_time {
    using by_time::by_time;
    void put(std::string body)
    {
        if (!body.empty()) by_time::put(std::move(body));
    }
};

struct bodies_end_at_zero : by_time {
    using by_time::by_time;
    void put(const std::string& body) { by_time::put(body.c_str()); }
};

template <int Longest>
struct bodies_cut : by_time {
    using by_time::by_time;
    void put(const std::string& body) { by_time::put(body.substr(0, Longest)); }
};

struct reasons_cut_at_200 : by_time {
    using by_time::by_time;
    fault dead_letter(queued_message& m, std::string_view reason)
    {
        return by_time::dead_letter(m, reason.substr(0, 200));
    }
};

// A reason of at most 200 bytes, as a service with a limit.
struct refuses_long_reasons : by_time {
    using by_time::by_time;
    fault dead_letter(queued_message& m, std::string_view reason)
    {
        if (reason.size() > 200) return waybill::permanent("a reason has at most 200 bytes");
        return by_time::dead_letter(m, reason);
    }
};

struct refuses_without_text : by_time {
    using by_time::by_time;
    fault dead_letter(queued_message& m, std::string_view reason)
    {
        if (reason.size() > 200) return waybill::permanent("");
        return by_time::dead_letter(m, reason);
    }
};

struct loses_refused_letters : refuses_long_reasons {
    using refuses_long_reasons::refuses_long_reasons;
    fault dead_letter(queued_message& m, std::string_view reason)
    {
        if (reason.size() > 200) (void)complete(m);
        return refuses_long_reasons::dead_letter(m, reason);
    }
};

struct keeps_1000_messages : by_time {
    using by_time::by_time;
    void put(std::string body)
    {
        if (size() < 1'000) by_time::put(std::move(body));
    }
};

struct copies_without_body : by_copy {
    using by_copy::by_copy;
    fault schedule_copy(queued_message& m, const waybill::queue_policy::scheduled_copy& copy)
    {
        queued_message other = m;
        other.body.resize(std::min<std::size_t>(other.body.size(), 4'096));
        return by_copy::schedule_copy(other, copy);
    }
};

struct tries_in_32_bits : by_copy {
    using by_copy::by_copy;
    fault schedule_copy(queued_message& m, waybill::queue_policy::scheduled_copy copy)
    {
        copy.tries = static_cast<std::uint32_t>(copy.tries);
        return by_copy::schedule_copy(m, copy);
    }
};

template <class Q>
void breaks(std::string_view rule, duration lock = 2s,
            const waybill::testing::store_limits& limits = {})
{
    const auto r = report_of<Q>(lock, limits);
    bool found = false;
    for (const std::string& broken : r.broken) found = found || broken == rule;
    std::string all;
    for (const std::string& broken : r.broken) all += broken + "\n";
    CAPTURE(rule);
    CAPTURE(all);
    CHECK(found);
}

}  // namespace

TEST_CASE("queue_conformance: the memory queue conforms with each kind of deferral")
{
    const auto conforms = [](const conformance_report& r) {
        std::string all;
        for (const std::string& broken : r.broken) all += broken + "\n";
        CAPTURE(all);
        CHECK(r.broken.empty());
        CHECK(r.untested.empty());
    };
    conforms(report_of<by_time>());
    conforms(report_of<by_copy>());
    conforms(report_of<by_pointer>());
    conforms(report_of<queue_with<queue_deferral::none>>());
    conforms(report_of<own_lock<100>>());
}

TEST_CASE("queue_conformance: omitted arguments are reported as untested rules")
{
    manual_environment env;
    const auto r = waybill::testing::queue_conformance(
        [&] { return by_time(env); }, [](by_time& q, std::string body) { q.put(body); }, env);
    CHECK(r.broken.empty());
    CHECK(r.untested.size() == 2);

    // A clock that runs by itself.
    struct real_time {
        manual_environment inner{};
        [[nodiscard]] waybill::steady_time now() const { return inner.now(); }
        [[nodiscard]] waybill::wall_time wall_now() const { return inner.wall_now(); }
        void sleep_until(waybill::steady_time t) { inner.sleep_until(t); }
        [[nodiscard]] double random() { return inner.random(); }
        [[nodiscard]] bool stop_requested() const { return inner.stop_requested(); }
    } real;
    const auto in_real_time = waybill::testing::queue_conformance(
        [&] { return by_time(real.inner); }, [](by_time& q, std::string body) { q.put(body); },
        real);
    CHECK(in_real_time.broken.empty());
    CHECK(in_real_time.untested.size() == 3);
}

TEST_CASE("queue_conformance: each queue with one flaw is detected by its rule")
{
    breaks<settles_without_lock>("complete: after the loss of the lock it is ownership_lost");
    breaks<dead_letter_without_reason>(reasons);
    breaks<release_counts>("abandon: a delivery that did not fail does not count");
    breaks<deferral_counts_nothing>("defer: a delivery that failed counts");
    breaks<deferral_is_visible>("defer: the message is not visible before its time");
    breaks<renews_nothing>("renew: the lock lasts from the renewal");
    breaks<locks_nothing>("receive: a locked message is not delivered again before its lock ends");
    breaks<own_lock<150>>("receive: the lock lasts for locked_for");
    breaks<own_lock<0>>("receive: locked_for is more than 0");
    breaks<loses_an_expired_lock>("receive returns a message that is visible");
    breaks<error_when_empty>("receive: an empty queue returns nothing, and no error");
    breaks<empty_while_locked>("empty: a queue with a locked message is not empty");
    breaks<no_crashes>("receive: `crashes` counts the deliveries in a row without a settlement");
    breaks<never_forgets_crashes>("receive: `crashes` is 0 after a settlement");
    breaks<copies_keep_the_number>("schedule_copy: the copy has a number of its own");
    breaks<copies_are_not_dropped>("schedule_copy: a second copy with the same id is dropped");
    breaks<locked_is_gone>("receive_deferred: a locked message is transient, and not gone");
    breaks<pointer_without_tries>("receive_pointer: a pointer has the given tries");
}

TEST_CASE("queue_conformance: locks and deferrals of any length, and values of all sizes")
{
    const std::string_view bodies =
        "receive: bodies of all bytes and of 0, 1, 255, 256, 4,097 and 70,000 bytes are those that "
        "were put";
    breaks<lock_of_60_s>("receive: the lock ends after the requested time, or after locked_for");
    breaks<lock_of_60_s>(
        "receive: the lock lasts for the requested time, or for the reported locked_for", 60s);
    breaks<renewal_of_60_s>("renew: the lock lasts for the requested time");
    breaks<defers_5_minutes<false>>(
        "defer: a deferral of 10 minutes, 2 hours or 60 days lasts until its time");
    breaks<defers_49_days>(
        "schedule_copy: a copy due in 10 minutes, 2 hours or 60 days is visible at its time");
    breaks<drops_empty_bodies>("receive returns a message that is visible");
    breaks<bodies_end_at_zero>(bodies);
    breaks<bodies_cut<255>>(bodies);
    breaks<bodies_cut<65'535>>(bodies);
    breaks<reasons_cut_at_200>(reasons);
    breaks<keeps_1000_messages>("receive: each of 1,100 messages is delivered once");
    breaks<copies_without_body>(
        "schedule_copy: the body of a copy is that of its message, byte for byte");
    breaks<tries_in_32_bits>("schedule_copy: tries are numbers of 63 bits");
}

TEST_CASE("queue_conformance: a limit is declared, and a value outside of it is an error")
{
    const waybill::testing::store_limits letters{.longest_reason = 200};
    CHECK(report_of<refuses_long_reasons>(2s, letters).broken.empty());
    breaks<refuses_long_reasons>(reasons);
    breaks<reasons_cut_at_200>(reasons, 2s, letters);
    breaks<refuses_without_text>("dead_letter: the error for a reason above the limit has a text",
                                 2s, letters);
    breaks<loses_refused_letters>("receive returns a message that is visible", 2s, letters);

    const waybill::testing::store_limits deferral{.longest_defer = 5min};
    CHECK(report_of<defers_5_minutes<true>>(2s, deferral).broken.empty());
    breaks<defers_5_minutes<true>>("defer: succeeds during the lock");
    breaks<defers_5_minutes<false>>(
        "defer: a deferral of 10 minutes, 2 hours or 60 days lasts until its time", 2s, deferral);

    // As SQS: a body is not empty.
    const waybill::testing::store_limits bodies{.shortest_body = 1, .longest_body = 262'144};
    CHECK(report_of<drops_empty_bodies>(2s, bodies).broken.empty());
    CHECK(report_of<by_time>(2s, {.longest_body = 3, .any_bytes = false}).broken.empty());
}

TEST_CASE("queue_outage_conformance: an unreachable queue must not look empty")
{
    struct unreachable : by_time {
        using by_time::by_time;
        waybill::result<std::optional<queued_message>> receive(duration)
        {
            if (result == waybill::fault_kind::none) return std::optional<queued_message>();
            return waybill::unexpected(fault{result, {}});
        }
        waybill::fault_kind result = waybill::fault_kind::infrastructure;
    };
    manual_environment env;
    unreachable q(env);
    CHECK(waybill::testing::queue_outage_conformance(q).broken.empty());
    q.result = waybill::fault_kind::none;
    CHECK(waybill::testing::queue_outage_conformance(q).broken.size() == 1);
    q.result = waybill::fault_kind::permanent;
    CHECK(waybill::testing::queue_outage_conformance(q).broken.size() == 1);
}
