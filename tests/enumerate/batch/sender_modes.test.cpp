// SPDX-License-Identifier: MIT
//
// Every small schedule of a sender with keys in order, batches of one key, replacements of items,
// large items sent alone, or a retry budget. Mutants of these modes must be caught.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <enumerate/batch/send_schedules.hpp>
#include <support/brief.hpp>

namespace sender_modes_enumeration {

using namespace waybill;
using send_schedules::enumeration;
using send_schedules::hearing;
using send_schedules::holds;
using send_schedules::plan;
using send_schedules::policy_of;

namespace {

send_policy in_order(std::uint32_t in_flight, std::uint64_t items)
{
    send_policy p = policy_of(in_flight);
    p.ordered = true;
    p.limit.items = items;
    p.limit.answers_per_entry = false;
    return p;
}

}  // namespace

TEST_CASE("sender: ordered keys, any first answers: all guarantees hold")
{
    holds({.name = "two keys",
           .policy = in_order(1, 3),
           .sizes = {10, 10, 10, 10},
           .keys = {1, 2, 1, 2},
           .wide = 2,
           .narrow = 3,
           .at_once = false},
          10'000);
    holds({.name = "two keys, two in flight",
           .policy = in_order(2, 2),
           .sizes = {10, 10, 10, 10},
           .keys = {1, 1, 2, 1},
           .wide = 2,
           .at_once = false},
          10'000);
    plan p{.name = "nothing is repeated",
           .policy = in_order(2, 2),
           .sizes = {10, 10, 10, 10},
           .keys = {1, 2, 1, 2},
           .wide = 2,
           .narrow = 1,
           .at_once = false};
    p.policy.on_unknown = send_policy::when_unknown::hand_back;
    holds(p, 10'000);
}

TEST_CASE("sender: ordered keys, answers from a short list: all guarantees hold")
{
    holds({.name = "six of three keys",
           .policy = in_order(2, 2),
           .sizes = {10, 10, 10, 10, 10, 10},
           .keys = {1, 2, 3, 2, 1, 3},
           .narrow = 4},
          10'000);
    holds({.name = "a key that is busy, and one that is not",
           .policy = in_order(2, 2),
           .sizes = {10, 10, 10, 10, 10},
           .keys = {1, 1, 1, 1, 2},
           .narrow = 5},
          10'000);
    holds({.name = "too large before its neighbours have gone",
           .policy = in_order(2, 2),
           .sizes = {10, 40, 10, 10},
           .keys = {1, 1, 1, 2},
           .narrow = 6},
          10'000);
}

TEST_CASE("sender: stopped keys are resumed while items are queued: all guarantees hold")
{
    plan p{.name = "resumed",
           .policy = in_order(1, 2),
           .sizes = {10, 10, 10, 10},
           .keys = {1, 2, 1, 1},
           .streaming = true,
           .narrow = 3,
           .resumes = 2};
    p.policy.linger = {};
    holds(p, 10'000);
    p.name = "resumed, two in flight, stopped";
    p.policy.in_flight = 2;
    p.policy.limit.items = 1;
    p.sizes = {10, 40, 10, 10};
    p.keys = {1, 1, 2, 1};
    p.stops = true;
    p.narrow = 2;
    holds(p, 10'000);
}

TEST_CASE("sender: batches of one key: all guarantees hold")
{
    plan p{.name = "one key",
           .policy = policy_of(1),
           .sizes = {10, 10, 10, 10},
           .keys = {1, 1, 2, 1},
           .wide = 2,
           .narrow = 3,
           .at_once = false};
    p.policy.one_key = true;
    holds(p, 10'000);
    p.name = "one key, in order, two in flight";
    p.policy.ordered = true;
    p.policy.in_flight = 2;
    p.sizes = {10, 10, 10, 10, 10};
    p.keys = {1, 1, 2, 2, 1};
    p.wide = 0;
    p.narrow = 4;
    holds(p, 3'000);
}

TEST_CASE("sender: a replacement for an oversized item: all guarantees hold")
{
    // 31 is too large for a single item, 36 for a batch; 5 fits, 30 may be refused, 50 never fits.
    plan p{.name = "replaced",
           .policy = policy_of(1),
           .sizes = {10, 31, 10},
           .replacements = {5, 30, 50},
           .wide = 1,
           .narrow = 2};
    p.policy.on_too_large = send_policy::when_too_large::replace;
    holds(p, 1'000);
    p.name = "replaced, two in flight, stopped";
    p.policy.in_flight = 2;
    p.policy.limit.items = 2;
    p.sizes = {10, 36, 30, 31};
    p.replacements = {5, 50};
    p.stops = true;
    p.wide = 0;
    p.narrow = 3;
    holds(p, 10'000);
    p.name = "replaced, in order";
    p.policy.ordered = true;
    p.stops = false;
    p.keys = {1, 1, 1, 2};
    holds(p, 1'000);
    p.name = "replaced, items that come in between";
    p.streaming = true;
    p.policy.linger = {};
    p.sizes = {31, 10, 36};
    p.keys = {1, 1, 2};
    p.resumes = 1;
    holds(p, 1'000);
}

TEST_CASE("sender: oversized items are sent alone: all guarantees hold")
{
    plan p{
        .name = "alone", .policy = policy_of(1), .sizes = {10, 31, 10, 50}, .wide = 1, .narrow = 4};
    p.policy.on_too_large = send_policy::when_too_large::send_alone;
    holds(p, 1'000);
    p.name = "alone, in order, two in flight";
    p.policy.in_flight = 2;
    p.policy.ordered = true;
    p.sizes = {1, 31, 1, 50, unlimited};
    p.keys = {1, 1, 2, 2, 2};
    p.wide = 0;
    p.narrow = 4;
    holds(p, 1'000);
}

TEST_CASE("sender: retries limited by a token budget: all guarantees hold")
{
    plan p{.name = "one token",
           .policy = policy_of(1),
           .sizes = {10, 10, 10, 10},
           .wide = 2,
           .narrow = 3,
           .at_once = false};
    p.policy.budget = {.tokens = 1, .successes = 2};
    p.policy.retry.max_attempts = 3;
    holds(p, 10'000);
    p.name = "one token, two in flight";
    p.policy.in_flight = 2;
    p.policy.limit.items = 1;
    p.wide = 0;
    p.narrow = 6;
    holds(p, 10'000);
    p.name = "no token";
    p.policy.budget.tokens = 0;
    holds(p, 10'000);
}

TEST_CASE("sender: exact sizes with a wrong item_overhead: all guarantees hold")
{
    plan p{.name = "exact", .policy = policy_of(1), .sizes = {10, 25, 10}, .wide = 2, .narrow = 1};
    p.policy.exact_sizes = true;
    p.policy.item_overhead = 1'000;
    holds(p, 1'000);
}

// Mutants. Each changes the events of the real sender.
namespace {

enum class wrong {
    does_not_stop_a_key,
    does_not_skip_a_busy_key,
    stops_all_keys,
    resumes_by_itself,
    does_not_resume,
    mixes_keys,
    asks_twice,
    sends_what_is_kept,
    reports_instead_of_asking,
    asks_instead_of_reporting,
    reports_what_is_to_go_alone,
    lets_others_travel_along,
    retries_once_more,
    never_gets_a_token_back,
    tries_once_more,
    forgets_its_cap,
    believes_a_header,
    none,
};

template <wrong W>
class mutant {
public:
    using action = batch_sender::action;

    explicit mutant(send_policy p) : s_((spoil(p), p)) {}

    [[nodiscard]] action next(steady_time now) const { return s_.next(now); }

    event_result on(const batch_sender::queued& q, steady_time now)
    {
        if (W == wrong::does_not_stop_a_key || W == wrong::does_not_skip_a_busy_key) {
            return s_.on(batch_sender::queued(q.bytes, 10 + s_.end()), now);
        }
        if (W == wrong::stops_all_keys) return s_.on(batch_sender::queued(q.bytes, 7), now);
        return s_.on(q, now);
    }
    event_result on(const batch_sender::resumed& r, steady_time now)
    {
        if (r.key == 777) return s_.on(r, now);
        return W == wrong::does_not_resume ? event_result::applied : s_.on(r, now);
    }
    event_result on(const batch_sender::not_replaced& k, steady_time now)
    {
        if (k.item != 78 && W == wrong::asks_twice) return event_result::applied;
        if (k.item != 78 && W == wrong::sends_what_is_kept) {
            return s_.on(batch_sender::replaced{k.item, 10}, now);
        }
        return s_.on(k, now);
    }
    event_result on(const batch_sender::accepted& a, steady_time now) { return s_.on(a, now); }
    event_result on(const batch_sender::too_large& r, steady_time now)
    {
        // The mutant retries the batch as if it had not been refused.
        if (W == wrong::forgets_its_cap && r.item_sizes.empty() && s_.in_flight() != 0) {
            return s_.on(batch_sender::throttled{r.attempt}, now);
        }
        return s_.on(r, now);
    }
    template <class E>
    event_result on(const E& e, steady_time now)
    {
        const event_result h = s_.on(e, now);
        if (W == wrong::resumes_by_itself && std::is_same_v<E, batch_sender::reported> &&
            h == event_result::applied) {
            s_.on(batch_sender::resumed{1}, now);
        }
        return h;
    }
    [[nodiscard]] bool finished() const { return s_.finished(); }
    [[nodiscard]] std::uint64_t end() const { return s_.end(); }
    [[nodiscard]] std::uint64_t first_open() const { return s_.first_open(); }
    friend bool operator==(const mutant& a, const mutant& b) { return a.s_ == b.s_; }

private:
    static void spoil(send_policy& p)
    {
        if (W == wrong::never_gets_a_token_back) p.budget.successes = 1'000'000;
        if (W == wrong::mixes_keys) p.one_key = false;
        if (W == wrong::reports_instead_of_asking)
            p.on_too_large = send_policy::when_too_large::report;
        if (W == wrong::asks_instead_of_reporting)
            p.on_too_large = send_policy::when_too_large::replace;
        if (W == wrong::reports_what_is_to_go_alone)
            p.on_too_large = send_policy::when_too_large::report;
        if (W == wrong::lets_others_travel_along) p.limit.single = unlimited;
        if (W == wrong::retries_once_more) ++p.budget.tokens;
        if (W == wrong::tries_once_more) ++p.retry.max_attempts;
        if (W == wrong::believes_a_header) p.exact_sizes = false;
    }

    batch_sender s_;
};

template <wrong W>
std::string caught(plan p)
{
    p.noise = hearing::answers;
    enumeration<mutant<W>> e(p);
    e.run();
    return e.broken.empty() ? std::string() : e.broken.front();
}

plan keys(std::uint32_t in_flight)
{
    plan p{.policy = in_order(in_flight, 2),
           .sizes = {10, 10, 10, 10},
           .keys = {1, 2, 1, 1},
           .streaming = true,
           .narrow = 3};
    p.policy.linger = {};
    return p;
}

plan too_large(send_policy::when_too_large how)
{
    plan p{.policy = policy_of(1), .sizes = {1, 31, 1, 50}, .replacements = {5, 50}, .narrow = 3};
    p.policy.on_too_large = how;
    return p;
}

plan paid()
{
    plan p{.policy = policy_of(1), .sizes = {10, 10, 10}, .narrow = 6, .at_once = false};
    p.policy.limit.items = 1;
    p.policy.retry.max_attempts = 3;
    p.policy.budget = {.tokens = 1, .successes = 1};
    return p;
}

}  // namespace

TEST_CASE("sender: mutants of the modes are caught")
{
    if (tests_support::sanitized) return;  // about logic, not about memory
    const auto by = [](const std::string& how, const char* promise) {
        MESSAGE(how);
        CHECK(how.rfind(promise, 0) == 0);
    };
    CHECK(caught<wrong::none>(keys(1)) == "");
    CHECK(caught<wrong::none>(keys(2)) == "");
    CHECK(caught<wrong::none>(too_large(send_policy::when_too_large::replace)) == "");
    CHECK(caught<wrong::none>(too_large(send_policy::when_too_large::send_alone)) == "");
    CHECK(caught<wrong::none>(paid()) == "");
    by(caught<wrong::does_not_stop_a_key>(keys(1)), "no item of a key is sent after");
    plan busy = keys(2);
    busy.narrow = 0;
    by(caught<wrong::does_not_skip_a_busy_key>(busy), "no two attempts in flight share a key");
    by(caught<wrong::stops_all_keys>(keys(1)), "an item that has overtaken one of its key");
    by(caught<wrong::resumes_by_itself>(keys(1)), "no item of a key is sent after");
    plan again = keys(1);
    again.resumes = 1;
    CHECK(caught<wrong::none>(again) == "");
    by(caught<wrong::does_not_resume>(again), "an earlier item of its key has not arrived");
    plan one = keys(1);
    one.policy.one_key = true;
    CHECK(caught<wrong::none>(one) == "");
    by(caught<wrong::mixes_keys>(one), "a batch has one key");

    const plan replace = too_large(send_policy::when_too_large::replace);
    by(caught<wrong::asks_twice>(replace), "a replacement is requested once for an item");
    by(caught<wrong::sends_what_is_kept>(replace), "an item without a replacement is not sent");
    by(caught<wrong::reports_instead_of_asking>(replace), "a replacement was requested");
    by(caught<wrong::asks_instead_of_reporting>(too_large(send_policy::when_too_large::report)),
       "it asks where it is to");
    const plan alone = too_large(send_policy::when_too_large::send_alone);
    by(caught<wrong::reports_what_is_to_go_alone>(alone), "too large was sent alone");
    by(caught<wrong::lets_others_travel_along>(alone), "an oversized item is sent alone");

    by(caught<wrong::retries_once_more>(paid()), "a permanently failed item is not sent again");
    by(caught<wrong::never_gets_a_token_back>(paid()),
       "a failed item has not arrived, has no retries left");
    plan cap{.policy = policy_of(1), .sizes = {10, 10, 10}, .narrow = 3, .at_once = false};
    CHECK(caught<wrong::none>(cap) == "");
    by(caught<wrong::tries_once_more>(cap), "a permanently failed item is not sent again");
    by(caught<wrong::forgets_its_cap>(cap), "a refused batch is sent again with fewer items");
    cap.policy.exact_sizes = true;
    cap.policy.item_overhead = 3;
    by(caught<wrong::believes_a_header>(cap), "the bytes are exact");
}

}  // namespace sender_modes_enumeration
