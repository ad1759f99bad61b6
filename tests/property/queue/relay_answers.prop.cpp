// SPDX-License-Identifier: MIT
//
// relay against a broker that gives any answer and a store whose calls fail before or after their
// effect. The oracle sees what arrived, in which order and how often, what is left in the table,
// and the report. It knows nothing of the relay.

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

/// An outbox whose calls fail now and then, before their effect or after it.
class failing_outbox {
public:
    using message = memory_outbox::message;
    using claimed_rows = memory_outbox::claimed_rows;
    using transaction = memory_outbox::transaction;

    failing_outbox(memory_outbox& rows, dice& roll, std::uint64_t trouble)
        : rows_(rows), roll_(roll), trouble_(trouble)
    {
    }

    result<void> add(transaction& tx, message m) { return rows_.add(tx, std::move(m)); }
    result<claimed_rows> claim(std::uint64_t n, wall_time now, wall_time until)
    {
        return tried<claimed_rows>([&] { return rows_.claim(n, now, until); });
    }
    result<void> hold(const claimed_rows& c, const std::vector<std::uint64_t>& which,
                      wall_time until)
    {
        return tried<void>([&] { return rows_.hold(c, which, until); });
    }
    result<void> mark_sent(const claimed_rows& c, const std::vector<std::uint64_t>& which)
    {
        return tried<void>([&] { return rows_.mark_sent(c, which); });
    }
    result<void> mark_dead(const claimed_rows& c, std::uint64_t n, const std::string& reason,
                           bool blocks_key)
    {
        return tried<void>([&] { return rows_.mark_dead(c, n, reason, blocks_key); });
    }

private:
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
};

struct world {
    send_policy sender;
    relay_report::policy relay;
    std::vector<item> input;
    bool per_entry = false;  // how the service answers
    std::uint64_t store_trouble = 0;
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
    return w;
}

/// The first broken promise, or an empty text.
std::string broken_by(const world& w, const relay_report& r, const service& s,
                      const memory_outbox& rows)
{
    if (r.outcome != relay_report::ending::drained) return "it does not drain";
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
        if (left && !is_dead && !waits) return "a row is left";
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

/// `change` is applied to each answer before the relay gets it.
template <class Change>
std::string run(const world& w, std::uint64_t seed, const send_policy& policy,
                std::uint64_t& requests, Change&& change)
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
    failing_outbox outbox(rows, roll, w.store_trouble);
    service s(roll, w.input.size(), w.per_entry);
    batch_sender sender(policy);
    const auto transmit = [&](const auto& batch) {
        std::vector<item> items;
        for (const memory_outbox::message& m : batch) items.push_back(w.input[std::stoull(m.id)]);
        return change(s(items), items.size());
    };
    testing::manual_environment env(steady_time::at(duration::seconds(1)), {}, seed);
    env.stop_at(steady_time::at(duration::seconds(1'000'000)));
    const relay_report r = relay(outbox, sender, transmit, env, w.relay);
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
    return run(w, seed, p, requests, change_answers);
};

}  // namespace

TEST_CASE("relay: any answers of the broker, any faults of the store: the table says what arrived")
{
    std::uint64_t requests = 0;
    for (std::uint64_t seed = 0; seed != worlds; ++seed) {
        const world w = any_world(seed);
        const std::string broken = run(w, seed, w.sender, requests, any_answers::as_it_is);
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

}  // namespace relay_answers_property
