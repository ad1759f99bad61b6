// SPDX-License-Identifier: MIT
//
// Random inputs against random brokers. The broker counts headers that the sender does not know,
// changes its limit, fails in each possible way, and stores which items arrived.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <list>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>
#include <support/brief.hpp>
#include <support/send_audit.hpp>

#include <waybill/batch/send_all.hpp>
#include <waybill/core/match.hpp>

namespace sender_prop {

using namespace waybill;
using tests_support::brief;

namespace {

// Rapidcheck finds small failing seeds. A seed always gives the same run.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()(std::uint64_t n)
    {
        state_ += 0x9E3779B97F4A7C15U;  // splitmix64
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
        return (z ^ (z >> 31)) % n;
    }
    double share() { return static_cast<double>((*this)(1'000)) / 1'000; }

private:
    std::uint64_t state_;
};

struct item {
    std::uint64_t id = 0;
    std::uint64_t body = 0;
    std::uint64_t header = 0;
};

struct habits {
    std::uint64_t limit = 300;
    std::uint64_t envelope = 0;
    bool tells_numbers = true;
    bool lies = false;
    std::uint64_t trouble = 3;  // faults in ten answers; 0: no faults
    std::uint64_t throttles = 20;
    bool partials = true;
};

struct broker {
    habits h;
    dice roll;
    // item, and the attempt with which it arrived
    std::map<std::uint64_t, std::uint64_t> arrived{};
    std::set<std::uint64_t> unknown{};                   // attempts that got an unknown outcome
    std::set<std::uint64_t> anew{};                      // items that may arrive in another batch
    std::set<std::uint64_t> twice{};                     // items that arrived again
    std::map<std::uint64_t, std::uint64_t> max_items{};  // of a batch that begins with this item
    std::vector<std::uint64_t> order{};
    std::uint64_t requests = 0;
    std::uint64_t throttled_ones = 0;
    std::vector<batch_sender::entry_fault> entries{};
    std::vector<std::uint64_t> sizes{};

    fault_kind how()
    {
        return roll(2) == 0   ? fault_kind::transient
               : roll(3) == 0 ? fault_kind::permanent
                              : fault_kind::infrastructure;
    }

    void take(const item& i, std::uint64_t attempt)
    {
        const auto [at, fresh] = arrived.emplace(i.id, attempt);
        if (fresh) order.push_back(i.id);
        if (!fresh) twice.insert(i.id);
        RC_ASSERT(at->second == attempt || anew.count(i.id) != 0);
    }

    // After an unknown outcome, a batch may be cut again only after a refusal, a partial failure or a
    // permanent one.
    void let_go(const std::vector<item>& batch, std::uint64_t attempt)
    {
        if (unknown.count(attempt) == 0) return;
        for (const item& i : batch) anew.insert(i.id);
    }

    send_outcome answer(const std::vector<item>& batch, std::uint64_t attempt)
    {
        ++requests;
        RC_ASSERT(!batch.empty());
        const auto refused_before = max_items.find(batch.front().id);
        const bool again = refused_before != max_items.end();
        if (again) RC_ASSERT(batch.size() <= refused_before->second);
        if (h.trouble != 0 && roll(40) == 0) h.limit = 60 + roll(400);
        std::uint64_t actual = h.envelope;
        for (const item& i : batch) actual += i.body + i.header;
        if (actual > h.limit) {
            let_go(batch, attempt);
            batch_sender::too_large r;
            if (h.tells_numbers) r.actual = actual, r.limit = h.limit;
            if (h.lies) {
                const std::uint64_t wild[] = {0, 1, h.limit, unlimited - 1, unlimited, actual / 2};
                if (roll(2) == 0) r.actual = wild[roll(6)];
                if (roll(3) == 0) r.limit = roll(2) == 0 ? 0 : h.limit + roll(50);
            }
            if (roll(3) == 0) {
                sizes.clear();
                for (const item& i : batch) sizes.push_back(i.body + i.header);
                r.item_sizes = sizes;
            }
            max_items[batch.front().id] =
                send_audit::items_after_refusal(batch.size(), again, r.actual.has_value());
            return r;
        }
        const std::uint64_t mood = roll(10) < h.trouble ? roll(5) : 9;
        if (mood == 0 && throttled_ones++ < h.throttles) {
            return batch_sender::throttled{
                .retry_after = duration::milliseconds(static_cast<std::int64_t>(roll(500))),
                .random = roll.share()};
        }
        if (mood == 1) {
            const fault_kind kind = how();
            if (kind == fault_kind::permanent) let_go(batch, attempt);
            return batch_sender::failed{0, kind, "no", roll.share()};
        }
        if (mood == 2) {
            if (roll(2) == 0) {
                for (const item& i : batch) take(i, attempt);
            }
            unknown.insert(attempt);
            return batch_sender::outcome_unknown{.random = roll.share()};
        }
        if (mood == 3 && h.partials && arrived.count(batch.front().id) == 0) {
            let_go(batch, attempt);
            entries.clear();
            for (std::size_t i = 0; i != batch.size(); ++i) {
                if (roll(3) == 0) entries.push_back({i, how()});
                else take(batch[i], attempt);
            }
            return batch_sender::partial{.failed = entries, .random = roll.share()};
        }
        for (const item& i : batch) take(i, attempt);
        return roll(2) == 0 ? batch_sender::accepted{} : batch_sender::accepted{.actual = actual};
    }
};

std::vector<item> items_of(dice& roll, std::uint64_t most_header)
{
    std::vector<item> all(roll(80));
    for (std::uint64_t i = 0; i != all.size(); ++i) {
        all[i] = {i, roll(8) == 0 ? roll(500) : roll(60), most_header == 0 ? 0 : roll(most_header)};
    }
    return all;
}

habits habits_of(dice& roll)
{
    return {.limit = 60 + roll(400),
            .envelope = roll(20),
            .tells_numbers = roll(2) == 0,
            .lies = roll(3) == 0,
            .trouble = roll(6),
            .throttles = roll(40),
            .partials = roll(2) == 0};
}

send_policy policy_of(dice& roll, const habits& h)
{
    send_policy p{.limit = {.bytes = h.limit, .items = 1 + roll(30), .envelope = h.envelope},
                  .item_overhead = roll(10)};
    p.on_unknown =
        roll(3) == 0 ? send_policy::when_unknown::hand_back : send_policy::when_unknown::repeat;
    p.in_flight = static_cast<std::uint32_t>(1 + roll(4));
    p.retry.max_attempts = static_cast<std::uint32_t>(1 + roll(5));
    if (roll(2) == 0) p.retry.immediate = p.retry.max_attempts - 1;
    return p;
}

// Each item has one outcome, and it agrees with the broker.
void outcomes_are_true(const std::vector<item>& input, const broker& b, const send_report& r)
{
    std::vector<int> seen(input.size());
    for (const item_report& o : r.outcomes) {
        for (std::uint64_t n = o.items.first; n != o.items.end(); ++n) {
            RC_ASSERT(n < input.size());
            ++seen[n];
            const bool there = b.arrived.count(input[n].id) != 0;
            if (o.outcome == item_outcome::accepted) RC_ASSERT(there);
            else if (o.outcome != item_outcome::in_doubt) RC_ASSERT(!there);
        }
    }
    RC_ASSERT(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(input.size()));
    RC_ASSERT(r.accepted + r.not_accepted == input.size());
    RC_ASSERT(r.taken == input.size());
}

// A refusal lowers the item limit of the first item of its batch. A failure takes one try of each
// item. An unknown outcome takes one try of its batch, until the batch is refused.
void few_enough(const broker& b, std::size_t items, const send_policy& p)
{
    const bool sizes_reported = b.h.tells_numbers || b.h.lies;
    const std::uint64_t refusals_each =
        send_audit::max_refusals(std::min<std::uint64_t>(items, p.limit.items), sizes_reported);
    RC_ASSERT(b.requests <=
              items * ((refusals_each + 2) * p.retry.max_attempts + 1) + b.throttled_ones);
}

template <class Input>
void sends_all(std::uint64_t seed, Input&& wrap)
{
    dice roll(seed);
    const habits h = habits_of(roll);
    const send_policy p = policy_of(roll, h);
    const std::vector<item> input = items_of(roll, roll(2) == 0 ? 0 : 40);
    broker b{h, dice(seed + 1)};
    batch_sender s(p);
    steady_time now{};
    auto&& source = wrap(input);
    const auto size = [](const item& i) { return i.body; };
    const auto send = [&](const auto& batch) {
        return b.answer(std::vector<item>(batch.begin(), batch.end()), batch.attempt());
    };
    send_report r;
    for (int calls = 0;; ++calls) {
        RC_ASSERT(calls < 10'000);
        r += send_all(source, size, s, send, now);
        if (!r.waiting) break;
        RC_ASSERT(*r.waiting > now);
        now = *r.waiting;
    }
    RC_ASSERT(s.finished());
    RC_ASSERT(!s.input_begin());
    RC_ASSERT(r.sends == b.requests);
    RC_ASSERT(b.twice.size() <= r.maybe_twice);
    outcomes_are_true(input, b, r);
    few_enough(b, input.size(), p);
    const bool one_by_one = p.in_flight == 1 && !h.partials;
    if (one_by_one) RC_ASSERT(std::is_sorted(b.order.begin(), b.order.end()));
}

// An input that can be read once only.
struct reader {
    using value_type = item;
    using difference_type = std::ptrdiff_t;
    const std::vector<item>* all = nullptr;
    std::size_t* at = nullptr;
    const item& operator*() const { return (*all)[*at]; }
    reader& operator++()
    {
        ++*at;
        return *this;
    }
    void operator++(int) { ++*at; }
    friend bool operator==(const reader& r, std::default_sentinel_t)
    {
        return *r.at == r.all->size();
    }
};

}  // namespace

TEST_CASE("sender: each item has one outcome that agrees with the broker, for every kind of input")
{
    CHECK(rc::check("vector", [](std::uint64_t seed) {
        sends_all(seed, [](const auto& v) -> const auto& { return v; });
    }));
    CHECK(rc::check("list", [](std::uint64_t seed) {
        sends_all(seed, [](const auto& v) { return std::list<item>(v.begin(), v.end()); });
    }));
    CHECK(rc::check("forward_list", [](std::uint64_t seed) {
        sends_all(seed, [](const auto& v) { return std::forward_list<item>(v.begin(), v.end()); });
    }));
    CHECK(rc::check("outbox", [](std::uint64_t seed) {
        std::size_t at = 0;
        sends_all(seed, [&](const auto& v) {
            return resend_buffer<reader, std::default_sentinel_t>(reader{&v, &at}, {});
        });
    }));
}

TEST_CASE("sender: the broker gets the same batches from every kind of input")
{
    CHECK(rc::check("kinds", [](std::uint64_t seed) {
        const auto log = [&](auto&& wrap) {
            dice roll(seed);
            const habits h = habits_of(roll);
            const send_policy p = policy_of(roll, h);
            const std::vector<item> input = items_of(roll, 30);
            broker b{h, dice(seed + 1)};
            batch_sender s(p);
            auto&& source = wrap(input);
            std::vector<std::uint64_t> ids;
            steady_time now{};
            for (;;) {
                const send_report r = send_all(
                    source, [](const item& i) { return i.body; }, s,
                    [&](const auto& batch) {
                        ids.push_back(unlimited);
                        for (const item& i : batch) ids.push_back(i.id);
                        return b.answer(std::vector<item>(batch.begin(), batch.end()),
                                        batch.attempt());
                    },
                    now);
                if (!r.waiting) return ids;
                now = *r.waiting;
            }
        };
        std::size_t at = 0;
        const auto by_vector = log([](const auto& v) -> const auto& { return v; });
        const auto by_list =
            log([](const auto& v) { return std::forward_list<item>(v.begin(), v.end()); });
        const auto by_outbox = log([&](const auto& v) {
            return resend_buffer<reader, std::default_sentinel_t>(reader{&v, &at}, {});
        });
        RC_ASSERT(by_vector == by_list);
        RC_ASSERT(by_vector == by_outbox);
    }));
}

// The seeds are fixed. Of 600,000 seeds, 13 take more than three refusals, and the worst takes
// seven. If two or three items fill a batch, many accepted batches make the sender probe for a
// raised limit.
TEST_CASE("sender: equal headers cost few requests if the broker reports numbers")
{
    std::uint64_t sends = 0, refusals = 0, all_fewest = 0;
    const std::uint64_t seeds = tests_support::rounds(1'000, 20'000);
    for (std::uint64_t seed = 0; seed != seeds; ++seed) {
        CAPTURE(seed);
        dice roll(seed);
        const std::uint64_t header = roll(50);
        std::vector<item> input(1 + roll(300));
        for (std::uint64_t i = 0; i != input.size(); ++i) input[i] = {i, roll(100), header};
        broker b{{.limit = 150 + roll(2'000), .trouble = 0}, dice(seed)};
        batch_sender s({.limit = {.bytes = b.h.limit}});
        const send_report r = send_all(
            input, [](const item& i) { return i.body; }, s,
            [&](const auto& batch) {
                return b.answer(std::vector<item>(batch.begin(), batch.end()), batch.attempt());
            },
            steady_time{});
        CHECK(r.refusals <= 3);
        CHECK(r.accepted == input.size());
        // A manual greedy cut with the true sizes.
        std::uint64_t fewest = 1, bytes = 0;
        for (const item& i : input) {
            if (bytes + i.body + i.header > b.h.limit) ++fewest, bytes = 0;
            bytes += i.body + i.header;
        }
        // At first the sender does not know that all headers are equal, so batches stay below the
        // limit.
        CHECK(r.sends <= fewest + fewest / 2 + 3);
        CHECK(std::is_sorted(b.order.begin(), b.order.end()));
        sends += r.sends, refusals += r.refusals, all_fewest += fewest;
    }
    CHECK(refusals <= seeds);
    // measured: 1.14 times as many as with known sizes
    CHECK(sends <= all_fewest + all_fewest / 5);
}

// One schedule of any kind: the policy, the items and the broker's behaviour follow from one seed.
// Plain loops, since there are a million schedules. Returns false if a rule was broken; the audit
// has the reason.
namespace {

send_policy any_policy(dice& roll)
{
    // With a limit for single items, or with few items a batch, fewer shortcuts are possible.
    const bool roomy = roll(3) == 0;
    send_policy p{.limit = {.bytes = 40 + roll(roomy ? 1'000 : 100),
                            .items = 1 + roll(roomy ? 40 : 8),
                            .single = roll(2) == 0 ? 30 + roll(50) : unlimited,
                            .envelope = roll(10),
                            .answers_per_entry = roll(2) == 0}};
    p.may_overtake = roll(3) == 0;
    p.in_flight = static_cast<std::uint32_t>(1 + roll(4));
    if (roll(2) == 0) p.linger = duration::milliseconds(static_cast<std::int64_t>(roll(50)));
    p.on_unknown =
        roll(3) == 0 ? send_policy::when_unknown::hand_back : send_policy::when_unknown::repeat;
    p.retry.max_attempts = static_cast<std::uint32_t>(1 + roll(4));
    p.ordered = roll(2) == 0;
    p.one_key = roll(3) == 0;
    p.exact_sizes = roll(3) == 0;
    p.on_too_large = static_cast<send_policy::when_too_large>(roll(3));
    if (roll(3) == 0) p.item_overhead = roll(10);
    if (roll(3) == 0) {
        p.budget.tokens = static_cast<std::uint32_t>(roll(4));
        p.budget.successes = static_cast<std::uint32_t>(1 + roll(3));
    }
    return p;
}

class schedule {
public:
    send_audit::audit a{send_policy{}};

    bool goes(std::uint64_t seed, bool twice)
    {
        dice roll(seed);
        const send_policy p = any_policy(roll);
        a.begin(p);
        batch_sender s(p);
        left_ = 1 + roll(24);
        throttles_ = 6;
        const std::uint64_t keys = 1 + roll(4);
        const bool may_stop = roll(4) == 0;
        const bool numbers = roll(3) == 0;
        steady_time now{};
        for (int step = 0; step != 5'000; ++step) {
            if (!a.broken.empty()) return false;
            const batch_sender::action next = s.next(now);
            if (twice) a.must(next == s.next(now), "next is the same when called again");
            if (const auto* x = waybill::get_if<batch_sender::report>(&next)) {
                const item_range done = x->items;
                a.settle(*x);
                a.must(s.on(batch_sender::reported{done}, now) == event_result::applied,
                       "settled in time");
                continue;
            }
            const std::uint64_t what = roll(16);
            if (left_ != 0 && what < 6) {
                queue(s, roll, keys, now);
            } else if (may_stop && what == 6 && roll(8) == 0 && !a.stopped) {
                s.on(batch_sender::stopped{}, now);
                a.stop();
            } else if (p.ordered && what == 7) {
                const std::uint64_t key = roll(keys + 1);
                a.must((s.on(batch_sender::resumed{key}, now) == event_result::applied) ==
                           a.resume(key),
                       "resumed");
            } else if (const auto* r = waybill::get_if<batch_sender::replace>(&next);
                       r && what < 12) {
                a.asked(*r);
                const std::uint64_t n = r->item;
                a.must(s.on(batch_sender::not_replaced{n + 1}, now) == event_result::invalid,
                       "kept another");
                if (roll(3) == 0) {
                    a.kept(n);
                    a.must(s.on(batch_sender::not_replaced{n}, now) == event_result::applied,
                           "kept");
                } else {
                    const std::uint64_t bytes = roll(3) == 0 ? 500 : roll(40);
                    a.replaced(n, bytes);
                    a.must(s.on(batch_sender::replaced{n, bytes}, now) == event_result::applied,
                           "replaced");
                }
            } else if (const auto* send = waybill::get_if<batch_sender::send>(&next);
                       send && what < 12) {
                const std::uint64_t attempt = send->attempt;
                a.sent(*send, now);
                if (attempt >= a.attempts.size() || roll(3) == 0) {
                    answer(s, attempt, roll, numbers, now);
                } else {
                    a.must(s.on(batch_sender::started{attempt}, now) == event_result::applied,
                           "started in time");
                }
            } else if (const std::uint64_t n = away(roll); n != unlimited) {
                answer(s, n, roll, numbers, now);
            } else if (const auto* w = waybill::get_if<wait_until>(&next)) {
                now = w->time;
            } else if (left_ == 0 && waybill::holds_alternative<idle>(next)) {
                a.end();
                a.must(s.finished() && s.first_open() == s.end(), "the sender is finished");
                return a.broken.empty();
            }
            if (what == 15) now = now + duration::milliseconds(1);
            if (what == 14 && roll(9) == 0)
                s.on(batch_sender::accepted{a.attempts.size() + 50}, now);
        }
        a.must(false, "the run does not end");
        return false;
    }

private:
    void queue(batch_sender& s, dice& roll, std::uint64_t keys, steady_time now)
    {
        const std::uint64_t bytes = roll(20) == 0 ? 30 + roll(150) : roll(30);
        const std::uint64_t key = roll(keys) * 0x4000'0000'0000'0001U;
        a.queued(bytes, key);
        s.on(batch_sender::queued(bytes, key), now);
        if (--left_ == 0) s.on(batch_sender::flushed{}, now);
    }

    std::uint64_t away(dice& roll) const
    {
        std::uint64_t n = 0, found = unlimited;
        for (std::uint64_t i = 0; i != a.attempts.size(); ++i) {
            if (a.attempts[i].away && roll(++n) == 0) found = i;
        }
        return found;
    }

    void answer(batch_sender& s, std::uint64_t n, dice& roll, bool numbers, steady_time now)
    {
        entries_.clear();
        sizes_.clear();
        send_audit::event e = batch_sender::accepted{n};
        const std::size_t count = a.attempts[n].count;
        switch (roll(10)) {
            case 0: {
                batch_sender::too_large r{n};
                if (numbers) {
                    if (roll(2) == 0) r.actual = roll(200);
                    if (roll(2) == 0) r.limit = 20 + roll(200);
                    if (roll(4) == 0) {
                        for (std::size_t i = 0; i != count; ++i) sizes_.push_back(roll(60));
                        r.item_sizes = sizes_;
                    }
                }
                e = r;
                break;
            }
            case 1:
                for (std::size_t i = 0; i != count; ++i) {
                    const fault_kind how = roll(2) == 0   ? fault_kind::transient
                                           : roll(9) != 0 ? fault_kind::permanent
                                                          : fault_kind::infrastructure;
                    if (roll(3) != 0) continue;
                    if (how == fault_kind::infrastructure || roll(8) == 0) {
                        const std::uint64_t other = roll(3);
                        if (other == 0 && throttles_ != 0) {
                            --throttles_;
                            entries_.push_back({i, batch_sender::throttled{}});
                        } else if (other == 1) {
                            entries_.push_back({i, batch_sender::too_large{}});
                        } else {
                            entries_.push_back({i, batch_sender::outcome_unknown{}});
                        }
                        continue;
                    }
                    entries_.push_back({i, how});
                }
                e = batch_sender::partial{.attempt = n, .failed = entries_, .random = roll.share()};
                break;
            case 2:
                if (throttles_ == 0) break;
                --throttles_;
                e = batch_sender::throttled{n, duration::milliseconds(5), roll.share()};
                break;
            case 3:
                e = batch_sender::failed{
                    n, roll(2) == 0 ? fault_kind::infrastructure : fault_kind::permanent, "",
                    roll.share()};
                break;
            case 4: e = batch_sender::outcome_unknown{n, roll.share()}; break;
            default: break;
        }
        a.answered(e, now);
        a.must(
            waybill::match(e, [&](const auto& x) { return s.on(x, now); }) == event_result::applied,
            "an answer in time is applied");
    }

    std::uint64_t left_ = 0;
    std::uint64_t throttles_ = 0;
    std::vector<batch_sender::entry_fault> entries_;
    std::vector<std::uint64_t> sizes_;
};

}  // namespace

TEST_CASE("sender: a million random schedules: all guarantees hold")
{
    const std::uint64_t schedules = tests_support::rounds(20'000, 1'000'000);
    schedule one;
    std::uint64_t sends = 0, items = 0, refusals = 0, replacements = 0, bad = 0;
    for (std::uint64_t seed = 0; seed != schedules && bad == 0; ++seed) {
        if (!one.goes(seed, seed % 16 == 0)) {
            ++bad;
            FAIL_CHECK("seed " << seed << ": " << one.a.broken.front());
        }
        sends += one.a.sends;
        items += one.a.items.size();
        refusals += one.a.refusals;
        replacements += one.a.replacements;
    }
    MESSAGE(schedules, " schedules of ", items, " items: ", sends, " sends, ", refusals,
            " refusals, ", replacements, " replacements");
    CHECK(bad == 0);
}

TEST_CASE("sender: batches with and without linger are equal, or within the budget for estimates")
{
    // The sender fills a draft that may not be sent yet by a shortcut, and other drafts without.
    // Two senders differ only in the linger time, which never ends in one of them. With estimated
    // sizes, the shortcut uses another margin and may take more items. Even then the expected size
    // stays within the budget.
    std::uint64_t batches = 0;
    for (std::uint64_t seed = 0; seed != (brief ? 50U : 1'000U); ++seed) {
        dice roll(seed);
        send_policy p{.limit = {.bytes = 2'000 + roll(60'000),
                                .items = roll(2) == 0 ? unlimited : 10 + roll(500),
                                .single = roll(3) == 0 ? 100 + roll(900) : unlimited,
                                .envelope = roll(2) * roll(500)},
                      .item_overhead = roll(2) * roll(80),
                      .exact_sizes = roll(2) == 0,
                      .on_too_large = static_cast<send_policy::when_too_large>(roll(2))};
        batch_sender quick(p);
        p.linger = duration::seconds(1'000'000);
        batch_sender slow(p);
        const steady_time now{};
        const std::uint64_t most_body = 1 + roll(roll(2) == 0 ? 400 : 2'000);
        const std::uint64_t header = p.exact_sizes ? 0 : roll(120);
        const std::uint64_t kind = roll(4);  // the numbers that the broker reports
        std::vector<std::uint64_t> bodies;
        const bool same = p.exact_sizes;
        const auto both = [&](const auto& event) {
            const event_result h = quick.on(event, now);
            if (same) CHECK(slow.on(event, now) == h);
        };
        for (std::uint64_t n = 0; n != 3'000;) {
            const auto a = quick.next(now);
            const auto b = slow.next(now);
            if (const auto* x = waybill::get_if<batch_sender::report>(&a)) {
                if (same) REQUIRE(a == b);
                both(batch_sender::reported{item_range(x->items)});
                continue;
            }
            const auto* send = waybill::get_if<batch_sender::send>(&a);
            const auto* other = waybill::get_if<batch_sender::send>(&b);
            if (same) REQUIRE((send == nullptr) == (other == nullptr));
            if (!send) {
                bodies.push_back(roll(50) == 0 ? roll(3'000) : roll(most_body));
                both(batch_sender::queued(bodies.back()));
                ++n;
                continue;
            }
            ++batches;
            if (same) {
                REQUIRE(send->items == other->items);
                REQUIRE(send->bytes == other->bytes);
                REQUIRE(send->closed == other->closed);
            }
            const std::uint64_t items = send->items.items();
            CHECK(items <= p.limit.items);
            if (items > 1) CHECK(send->bytes <= detail::calibrator(quick.learnt()).budget());
            std::uint64_t whole = p.limit.envelope;
            for (const item_range& r : send->items) {
                for (std::uint64_t i = r.first; i != r.end(); ++i) whole += bodies[i] + header;
            }
            const auto tell = [&](auto event) {
                event.attempt = send->attempt;
                const std::uint64_t again = same ? other->attempt : 0;
                CHECK(quick.on(event, now) == event_result::applied);
                event.attempt = again;
                if (same) CHECK(slow.on(event, now) == event_result::applied);
            };
            if (whole > p.limit.bytes) {
                batch_sender::too_large no{};
                if (kind > 1) no.actual = whole, no.limit = p.limit.bytes;
                tell(no);
            } else {
                batch_sender::accepted yes{};
                if (kind == 3) yes.actual = whole;
                tell(yes);
            }
        }
        if (same) CHECK(quick.learnt() == slow.learnt());
    }
    MESSAGE(batches, " batches");
}

TEST_CASE("sender: batches are full again at most 100 batches after the last refusal")
{
    // The broker refuses some batches that are not too large, without a pattern. A refusal leaves
    // only one thing in the queue: a cap for the first item of the batch. So a batch is smaller
    // than the calibration allows only if it begins with such an item. If the broker reports
    // numbers, the calibration is right again soon after.
    std::uint64_t most = 0;
    for (std::uint64_t seed = 0; seed != (brief ? 100U : 1'000U); ++seed) {
        dice roll(seed);
        const bool exact = roll(2) == 0;
        send_policy p{.limit = {.bytes = 2'000, .items = roll(2) == 0 ? unlimited : 20},
                      .item_overhead = exact ? 0 : roll(4) * 5,
                      .exact_sizes = exact};
        p.in_flight = static_cast<std::uint32_t>(1 + roll(3));
        p.ordered = roll(2) == 0;
        const std::uint64_t refusals = 1 + roll(6);
        const bool tells = roll(2) == 0;
        const std::uint64_t whole = 100 + p.item_overhead;
        const std::uint64_t at_first = 3 + roll(40);  // batches before the first refusal
        batch_sender s(p);
        for (std::uint64_t n = 0; n != 10'000; ++n)
            s.on(batch_sender::queued(100U, n), steady_time());
        s.on(batch_sender::flushed{}, steady_time());
        const auto believes = [&](std::uint64_t items) {
            detail::batch_sizes b{.exact_bytes = 100 * items, .items = items};
            if (!exact) b = {.body_bytes = 100 * items, .estimated_items = items, .items = items};
            return items <= p.limit.items && detail::calibrator(s.learnt()).fits(b);
        };
        std::vector<std::uint64_t> capped;
        std::uint64_t batches = 0, said_no = 0, short_ones = 0, since = 0, last_short = 0;
        while (!s.finished()) {
            const auto next = s.next(steady_time());
            if (const auto* x = waybill::get_if<batch_sender::report>(&next)) {
                s.on(batch_sender::reported{item_range(x->items)}, steady_time());
                continue;
            }
            const auto* send = waybill::get_if<batch_sender::send>(&next);
            if (!send) break;
            const std::uint64_t count = send->items.items();
            const std::uint64_t first = send->items.front().first;
            ++batches;
            const bool again = !capped.empty() && capped.back() == first;
            const bool at_end = send->items.begin()[send->items.size() - 1].end() == s.end();
            if (!tells && !again && !at_end && believes(count + 1)) ++short_ones;
            const bool spite = batches > at_first && said_no != refusals && count > 1;
            if (spite || count * whole > 2'000) {
                if (spite) ++said_no;
                capped.push_back(first);
                batch_sender::too_large r{send->attempt};
                if (tells) r.actual = count * whole;
                if (tells) r.limit = spite ? 400 + roll(*r.actual - 399) : 2'000;
                s.on(r, steady_time());
                continue;
            }
            if (said_no == refusals) {
                ++since;
                const bool full = at_end || count >= p.limit.items || (count + 2) * whole > 2'000;
                if (tells && !full) last_short = since;
            }
            batch_sender::accepted ok{send->attempt};
            if (tells) ok.actual = count * whole;
            s.on(ok, steady_time());
        }
        CHECK(s.finished());
        CHECK(short_ones == 0);
        CHECK(last_short <= 100);
        most = last_short > most ? last_short : most;
    }
    MESSAGE("full again after ", most, " batches at the most if the broker reports numbers");
}

}  // namespace sender_prop
