// SPDX-License-Identifier: MIT
//
// relay against a broker that gives any answer and a store whose calls fail before or after their
// effect. In some worlds requests are slow and a second relay with another clock runs meanwhile, one
// row makes each request or its entry fail, or the store cannot mark one row. The oracle sees what
// arrived, in which order and how often, what is left in the table, and the reports. It knows
// nothing of the relay.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <support/any_answers.hpp>
#include <support/brief.hpp>
#include <support/dice.hpp>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/queue/relay.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_outbox.hpp>

namespace relay_answers_property {

using namespace waybill;
using any_answers::item;
using any_answers::never;
using any_answers::service;
using testing::memory_outbox;
using tests_support::dice;

namespace {

/// A mistake of the store, which the oracle is not told.
enum class flaw : std::uint8_t {
    none,
    hides_loss,    // no call returns `ownership_lost`
    new_ids,       // each claim returns a row with another id
    large_claims,  // claims have more rows than the relay asks for
};

/// An outbox whose calls fail now and then, before their effect or after it.
class failing_outbox {
public:
    using message = memory_outbox::message;
    using claimed_rows = memory_outbox::claimed_rows;
    using transaction = memory_outbox::transaction;

    /// The row with the id `refused` is never marked.
    failing_outbox(memory_outbox& rows, dice& roll, std::uint64_t trouble, std::string refused,
                   flaw wrong)
        : rows_(rows), roll_(roll), trouble_(trouble), refused_(std::move(refused)), wrong_(wrong)
    {
    }

    result<void> add(transaction& tx, message m) { return rows_.add(tx, std::move(m)); }
    result<claimed_rows> claim(std::uint64_t n, wall_time now, wall_time until)
    {
        return tried<claimed_rows>([&] {
            auto c = rows_.claim(wrong_ == flaw::large_claims ? unlimited : n, now, until);
            if (wrong_ != flaw::new_ids) return c;
            for (message& m : c->messages) m.id += '.' + std::to_string(c->number);
            return c;
        });
    }
    result<void> hold(const claimed_rows& c, const std::vector<std::uint64_t>& which,
                      wall_time until)
    {
        return tried<void>([&] {
            auto held = rows_.hold(c, which, until);
            return wrong_ == flaw::hides_loss ? result<void>() : held;
        });
    }
    result<void> mark_sent(const claimed_rows& c, const std::vector<std::uint64_t>& which)
    {
        for (const std::uint64_t n : which) {
            if (is_refused(c, n)) return unexpected(permanent("a trigger"));
        }
        return tried<void>([&] { return rows_.mark_sent(c, which); });
    }
    result<void> mark_dead(const claimed_rows& c, std::uint64_t n, const std::string& reason,
                           bool blocks_key)
    {
        if (is_refused(c, n)) return unexpected(permanent("the text is too long"));
        return tried<void>([&] { return rows_.mark_dead(c, n, reason, blocks_key); });
    }

private:
    [[nodiscard]] bool is_refused(const claimed_rows& c, std::uint64_t n) const
    {
        const auto row = rows_.rows().find(c.positions[n]);
        return row != rows_.rows().end() && row->second.content.id == refused_;
    }

    template <class T, class Call>
    result<T> tried(Call call)
    {
        const bool fails = trouble_ != 0 && roll_.one_in(trouble_);
        if (!fails) return call();
        if (roll_.one_in(2)) (void)call();
        return unexpected(transient("the store is busy"));
    }

    memory_outbox& rows_;
    dice& roll_;
    std::uint64_t trouble_;
    std::string refused_;
    flaw wrong_;
};

/// The clocks of another host.
struct other_host {
    testing::manual_environment& env;
    duration ahead;

    steady_time now() { return env.now(); }
    wall_time wall_now() { return env.wall_now() + ahead; }
    void sleep_until(steady_time t) { env.sleep_until(t); }
    double random() { return env.random(); }
    bool stop_requested() { return env.stop_requested(); }
};

struct world {
    send_policy sender;
    relay_report::policy relay;
    std::vector<item> input;
    bool per_entry = false;  // how the service answers
    std::uint64_t store_trouble = 0;
    // A row that makes each request fail, or if the service answers for entries, its entry.
    std::uint64_t stuck = never;
    std::uint64_t refused = never;  // the store never marks it
    std::uint64_t slow = 0;         // one of these many requests is slow; 0: none is
    duration ahead{};               // of the clock of the second relay, which runs meanwhile
    bool in_time = true;            // the lease is long enough for requests and clocks

    /// True if the key of this row has a row that cannot leave.
    [[nodiscard]] bool is_held(const item& i) const
    {
        return (stuck != never && input[stuck].key == i.key) ||
               (refused != never && input[refused].key == i.key);
    }
    [[nodiscard]] bool ends() const { return stuck == never && refused == never; }
};

world any_world(std::uint64_t seed)
{
    dice roll(seed);
    world w;
    w.per_entry = roll.one_in(2);
    w.sender = {.limit = {.bytes = roll.one_in(4) ? 200 : service::limit,
                          .items = 1 + roll(12),
                          .answers_per_entry = roll.one_in(3) ? roll.one_in(2) : w.per_entry},
                .exact_sizes = roll.one_in(2),
                .ordered = true,
                .may_overtake = roll.one_in(4)};
    w.sender.retry.max_attempts = static_cast<std::uint32_t>(2 + roll(8));
    if (roll.one_in(4)) w.sender.on_unknown = send_policy::when_unknown::hand_back;
    w.relay = {.max_rows = 1 + roll(40), .drain = true, .dead_row_blocks_key = roll.one_in(3)};
    w.store_trouble = roll.one_in(2) ? 0 : 5 + roll(20);
    const std::uint64_t keys = 1 + roll(6);
    const std::uint64_t poison = roll.one_in(2) ? 0 : 3 + roll(20);
    w.input.resize(1 + roll(60));
    for (std::uint64_t n = 0; n != w.input.size(); ++n)
        w.input[n] = {n, roll.one_in(30) ? 50 + roll(30) : 1 + roll(20), roll(keys),
                      poison != 0 && roll.one_in(poison)};
    dice more(seed ^ 0xAAAAU);
    const std::uint64_t special = more(40);
    if (special == 0) w.stuck = more(w.input.size());
    if (special == 1) w.refused = more(w.input.size());
    if (special < 2) w.store_trouble = 0;
    if (special > 1 && special < 12) {
        w.slow = 1 + more(6);
        const std::uint64_t half = static_cast<std::uint64_t>(w.relay.lease.count()) / 2;
        w.ahead = duration::nanoseconds(static_cast<std::int64_t>(more(2 * half - 1))) -
                  duration::nanoseconds(static_cast<std::int64_t>(half - 1));
        w.in_time = special < 7;
    }
    return w;
}

/// The first broken promise, or an empty text.
std::string broken_by(const world& w, const relay_report& r, const service& s,
                      const memory_outbox& rows)
{
    if (w.ends() && r.outcome != relay_report::ending::drained) return "it does not drain";
    const bool may_overtake = w.sender.may_overtake;
    const bool strict = w.sender.limit.answers_per_entry && !may_overtake;
    // The policy expects no answers for entries, so the report cannot count those that were lost.
    const bool misled = w.per_entry && !w.sender.limit.answers_per_entry && !may_overtake;
    std::uint64_t sent = 0;
    std::uint64_t dead = 0;
    std::uint64_t twice = 0;
    std::uint64_t out_of_order = 0;
    std::uint64_t unknown = 0;
    for (const item& i : w.input) {
        const auto found = rows.rows().find(i.number + 1);
        const bool left = found != rows.rows().end();
        const bool is_dead = left && found->second.dead;
        const bool arrived = s.arrivals[i.number] != 0;
        if (!left && !arrived) return "a row is marked as sent, and has not arrived";
        if (is_dead && !i.poison && i.bytes <= service::limit) return "a valid row is dead";
        if (is_dead && found->second.reason.empty()) return "a dead row has no reason";
        if (s.unknown[i.number]) ++unknown;
        if (s.arrivals[i.number] > 1) ++twice;
        sent += left ? 0 : 1;
        dead += is_dead ? 1 : 0;
        bool late = false;
        bool behind_dead = false;
        for (std::uint64_t n = 0; n != i.number; ++n) {
            if (w.input[n].key != i.key) continue;
            const auto before = rows.rows().find(n + 1);
            behind_dead = behind_dead || (before != rows.rows().end() && before->second.dead);
            const bool comes = before == rows.rows().end();
            late = late || (arrived && comes && s.first_arrival[n] > s.first_arrival[i.number]);
        }
        if (late) ++out_of_order;
        const bool waits = behind_dead && w.relay.dead_row_blocks_key;
        if (left && !is_dead && !waits && !w.is_held(i)) return "a row is left";
        if (i.number == w.refused && s.arrivals[i.number] > 1 && !s.unknown[i.number])
            return "a row that cannot be marked is sent again";
        if (i.number == w.refused && arrived && r.unwritten == 0)
            return "a row that cannot be marked is not counted";
        if (w.in_time && w.store_trouble == 0 && s.arrivals[i.number] > 1 && !s.unknown[i.number])
            return "a row is sent twice within the lease";
        if (waits && arrived && strict) return "a row has passed a dead row of its key";
    }
    if (sent < r.sent) return "more rows are reported as sent than are";
    if (sent > r.sent && r.store_errors == 0) return "fewer rows are reported as sent than are";
    if (dead != r.dead && r.store_errors == 0) return "the number of dead rows is wrong";
    if (twice > r.maybe_twice) return "more rows arrived twice than reported";
    if (strict && r.overtook != 0) return "a row has overtaken one of its key";
    if (out_of_order > r.overtook + (misled ? unknown : 0))
        return "more rows are out of order than reported";
    return "";
}

/// The service, for which one row is stuck.
struct stuck_service {
    const world& w;
    service& s;
    std::vector<batch_sender::entry_fault> faults{};

    send_outcome operator()(const std::vector<item>& items)
    {
        std::vector<item> others;
        std::vector<std::uint64_t> places;
        for (std::uint64_t n = 0; n != items.size(); ++n) {
            if (items[n].number == w.stuck) continue;
            others.push_back(items[n]);
            places.push_back(n);
        }
        if (others.size() == items.size()) return s(items);
        if (!w.per_entry) return batch_sender::failed{.kind = fault_kind::transient};
        const send_outcome o = others.empty() ? send_outcome(batch_sender::accepted{}) : s(others);
        const auto* part = get_if<batch_sender::partial>(&o);
        if (!part && !holds_alternative<batch_sender::accepted>(o)) return o;
        faults.clear();
        for (std::uint64_t n = 0; n != items.size(); ++n) {
            if (items[n].number != w.stuck) continue;
            if (n % 3 == 0) faults.emplace_back(n, batch_sender::throttled{});
            else faults.emplace_back(n, n % 3 == 1 ? fault_kind::infrastructure : fault_kind::none);
        }
        if (part) {
            for (const batch_sender::entry_fault& f : part->failed)
                faults.emplace_back(places[f.index], f.answer);
        }
        return batch_sender::partial{.failed = faults};
    }
};

/// `change` is applied to each answer before the relay gets it. The oracle knows nothing of it, of
/// `wrong`, and of the policies, which may differ from those of `w`.
template <class Change>
std::string run(const world& w, std::uint64_t seed, const send_policy& policy,
                std::uint64_t& requests, Change&& change, const relay_report::policy& relays,
                flaw wrong = flaw::none)
{
    dice roll(seed ^ 0x5555U);
    memory_outbox rows;
    auto tx = *rows.begin();
    for (const item& i : w.input) {
        (void)rows.add(tx, {.key = "key " + std::to_string(i.key),
                            .id = std::to_string(i.number),
                            .body = std::string(i.bytes, 'x')});
    }
    (void)tx.commit();
    failing_outbox outbox(rows, roll, w.store_trouble, std::to_string(w.refused), wrong);
    service s(roll, w.input.size(), w.per_entry);
    stuck_service answers{w, s};
    batch_sender sender(policy);
    testing::manual_environment env(steady_time::at(duration::seconds(1)), {}, seed);
    env.stop_at(steady_time::at(duration::seconds(w.ends() ? 1'000'000 : 1'500)));
    const auto transmit = [&](const auto& batch) {
        std::vector<item> items;
        for (const memory_outbox::message& m : batch) items.push_back(w.input[std::stoull(m.id)]);
        return change(answers(items), items.size());
    };
    relay_report second;
    const auto transmit_slowly = [&](const auto& batch) {
        if (w.slow == 0 || !roll.one_in(w.slow)) return transmit(batch);
        const auto three_quarters = w.relay.lease / 4 + w.relay.lease / 2;
        const duration longest = w.ahead < duration{} ? duration{} - w.ahead : w.ahead;
        const duration each = w.in_time ? (three_quarters - longest) / 2 : w.relay.lease * 1.5;
        const auto some = [&] {
            env.advance(each * (0.001 * static_cast<double>(roll(2) * roll(1'000))));
        };
        some();
        batch_sender other(policy);
        other_host host{env, w.ahead};
        relay(outbox, other, transmit, time_limited(host, duration::milliseconds(1)), relays,
              second);
        some();
        return transmit(batch);
    };
    relay_report r = relay(outbox, sender, transmit_slowly, env, relays);
    r.sent += second.sent;
    r.dead += second.dead;
    r.maybe_twice += second.maybe_twice;
    r.overtook += second.overtook;
    r.store_errors += second.store_errors;
    r.unwritten += second.unwritten;
    requests += s.requests;
    return broken_by(w, r, s, rows);
}

constexpr std::uint64_t worlds = tests_support::rounds(2'000, 100'000);

/// The same for the world of a seed, with changes that the oracle does not know.
constexpr auto mutant = [](std::uint64_t seed, auto change_policy, auto change_answers) {
    const world w = any_world(seed);
    send_policy p = w.sender;
    change_policy(p);
    std::uint64_t requests = 0;
    return run(w, seed, p, requests, change_answers, w.relay);
};

}  // namespace

TEST_CASE("relay: any answers of the broker, any faults of the store: the table says what arrived")
{
    std::uint64_t requests = 0;
    for (std::uint64_t seed = 0; seed != worlds; ++seed) {
        const world w = any_world(seed);
        const std::string broken = run(w, seed, w.sender, requests, any_answers::as_it_is, w.relay);
        if (!broken.empty()) FAIL("seed ", seed, ": ", broken);
    }
    MESSAGE(worlds, " tables, ", requests, " requests");
}

TEST_CASE("relay: the oracle catches relays that keep another order or mistake an answer")
{
    if (tests_support::sanitized) return;  // about logic, not about memory
    any_answers::check_mistakes(
        mutant,
        {"a row has overtaken one of its key", "a row is marked as sent, and has not arrived",
         "more rows arrived twice than reported", "a valid row is dead"});
}

TEST_CASE("relay: the oracle catches relays that forget what a claim can do")
{
    if (tests_support::sanitized) return;  // about logic, not about memory
    /// The first promise that breaks in a world with the property `is`.
    const auto caught = [](auto is, flaw wrong, auto change_policy) -> std::string {
        std::uint64_t requests = 0;
        for (std::uint64_t seed = 0; seed != 3'000; ++seed) {
            const world w = any_world(seed);
            if (!is(w)) continue;
            relay_report::policy p = w.relay;
            change_policy(p);
            const std::string broken =
                run(w, seed, w.sender, requests, any_answers::as_it_is, p, wrong);
            if (!broken.empty()) return broken;
        }
        return "";
    };
    const auto same = [](relay_report::policy&) {};
    // It marks rows without asking whether another relay has claimed them.
    CHECK(caught([](const world& w) { return !w.in_time; }, flaw::hides_loss, same) ==
          "more rows are reported as sent than are");
    // It forgets rows that it could not mark.
    CHECK(caught([](const world& w) { return w.refused != never; }, flaw::new_ids, same) ==
          "a row that cannot be marked is sent again");
    // It sends a row that makes each request fail always together with others.
    CHECK(caught([](const world& w) { return w.stuck != never && !w.per_entry; },
                 flaw::large_claims, same) == "a row is left");
    // It waits for a throttled row as long as it takes.
    CHECK(caught([](const world& w) { return w.stuck != never && w.per_entry; }, flaw::none,
                 [](relay_report::policy& p) {
                     p.poll_interval = duration::seconds(3'600);
                     p.lease = p.poll_interval * 4.0;
                 }) == "a row is left");
    // It renews too late.
    CHECK(caught([](const world& w) { return w.in_time && w.slow != 0; }, flaw::none,
                 [](relay_report::policy& p) { p.lease = p.lease / 3; }) ==
          "a row is sent twice within the lease");
}

}  // namespace relay_answers_property
