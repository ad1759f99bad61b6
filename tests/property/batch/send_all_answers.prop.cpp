// SPDX-License-Identifier: MIT
//
// send_all against a broker that gives any answer, for a request or for each entry. The oracle sees
// only what arrived, in which order and how often, and the report. It knows nothing of the sender.

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/any_answers.hpp>
#include <support/brief.hpp>
#include <support/dice.hpp>

#include <waybill/batch/send_all.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace send_all_answers_property {

using namespace waybill;
using any_answers::item;
using any_answers::service;
using tests_support::dice;

namespace {

struct world {
    send_policy policy;
    std::vector<item> input;
    bool per_entry = false;  // how the service answers
};

world any_world(std::uint64_t seed)
{
    dice roll(seed);
    world w;
    w.per_entry = roll.one_in(2);
    w.policy = {.limit = {.bytes = roll.one_in(4) ? 200 : service::limit,
                          .items = 1 + roll(12),
                          .answers_per_entry = roll.one_in(3) ? roll.one_in(2) : w.per_entry},
                .exact_sizes = roll.one_in(2),
                .ordered = !roll.one_in(3),
                .may_overtake = roll.one_in(4)};
    w.policy.retry.max_attempts = static_cast<std::uint32_t>(2 + roll(200));
    if (roll.one_in(4)) w.policy.on_unknown = send_policy::when_unknown::hand_back;
    const std::uint64_t keys = 1 + roll(6);
    const std::uint64_t poison = roll.one_in(2) ? 0 : 3 + roll(20);
    w.input.resize(1 + roll(60));
    for (std::uint64_t n = 0; n != w.input.size(); ++n)
        w.input[n] = {n, roll.one_in(30) ? 50 + roll(30) : 1 + roll(20), roll(keys),
                      poison != 0 && roll.one_in(poison)};
    return w;
}

/// The first broken promise, or an empty text.
std::string broken_by(const world& w, const send_report& r, const service& s)
{
    if (r.waiting || r.stopped) return "it does not end";
    std::vector<const item_report*> of(w.input.size());
    for (const item_report& o : r.outcomes) {
        for (std::uint64_t n = o.items.first; n != o.items.end(); ++n) {
            if (n >= of.size() || of[n]) return "an item has two outcomes";
            of[n] = &o;
        }
    }
    std::uint64_t twice = 0;
    std::uint64_t out_of_order = 0;
    std::uint64_t unknown = 0;
    for (const item& i : w.input) {
        const item_report* o = of[i.number];
        if (!o) return "an item has no outcome";
        const bool arrived = s.arrivals[i.number] != 0;
        if (s.arrivals[i.number] > 1) ++twice;
        if (s.unknown[i.number]) ++unknown;
        if (o->outcome == item_outcome::accepted && !arrived) return "accepted, and not arrived";
        if (o->outcome == item_outcome::in_doubt && !s.unknown[i.number])
            return "in doubt without an unknown outcome";
        if (o->outcome != item_outcome::accepted && o->outcome != item_outcome::in_doubt && arrived)
            return "arrived, and reported as not arrived";
        if (o->outcome == item_outcome::failed && o->kind == fault_kind::permanent && !i.poison)
            return "a valid item fails for good because of its neighbours";
        if (o->outcome == item_outcome::too_large && i.bytes <= service::limit)
            return "an item that fits is too large";
        if (o->outcome == item_outcome::blocked_by_key && !w.policy.ordered)
            return "blocked without an order";
        bool late = false;
        for (std::uint64_t n = 0; arrived && n != i.number; ++n) {
            late =
                late || (w.input[n].key == i.key && s.first_arrival[n] > s.first_arrival[i.number]);
        }
        if (late) ++out_of_order;
    }
    if (twice > r.maybe_twice) return "more items arrived twice than reported";
    if (!w.policy.ordered) return "";
    const bool strict = w.policy.limit.answers_per_entry && !w.policy.may_overtake;
    // The policy expects no answers for entries, so the report cannot count those that were lost.
    const bool misled = w.per_entry && !w.policy.limit.answers_per_entry && !w.policy.may_overtake;
    if (strict && r.overtook != 0) return "an item has overtaken one of its key";
    if (out_of_order > r.overtook + (misled ? unknown : 0))
        return "more items are out of order than reported";
    return "";
}

/// `change` is applied to each answer before the sender gets it.
template <class Change>
std::string run(const world& w, std::uint64_t seed, const send_policy& policy,
                std::uint64_t& requests, Change&& change)
{
    dice roll(seed ^ 0x5555U);
    service s(roll, w.input.size(), w.per_entry);
    batch_sender sender(policy);
    testing::manual_environment env(steady_time::at(duration::seconds(1)), {}, seed);
    const auto size = [](const item& i) { return batch_sender::queued(i.bytes, i.key); };
    const auto transmit = [&](const auto& batch) { return change(s(batch), batch.size()); };
    const send_report r = send_all(w.input, size, sender, transmit, env);
    requests += s.requests;
    return broken_by(w, r, s);
}

constexpr std::uint64_t worlds = tests_support::rounds(3'000, 200'000);

/// The same for the world of a seed, with changes that the oracle does not know.
constexpr auto mutant = [](std::uint64_t seed, auto change_policy, auto change_answers) {
    const world w = any_world(seed);
    send_policy p = w.policy;
    change_policy(p);
    std::uint64_t requests = 0;
    return run(w, seed, p, requests, change_answers);
};

}  // namespace

TEST_CASE("send_all: any answers for requests and entries: what the report says is what arrived")
{
    std::uint64_t requests = 0;
    for (std::uint64_t seed = 0; seed != worlds; ++seed) {
        const world w = any_world(seed);
        const std::string broken = run(w, seed, w.policy, requests, any_answers::as_it_is);
        if (!broken.empty()) FAIL("seed ", seed, ": ", broken);
    }
    MESSAGE(worlds, " inputs, ", requests, " requests");
}

TEST_CASE("send_all: the oracle catches senders that keep another order or mistake an answer")
{
    if (tests_support::sanitized) return;  // about logic, not about memory
    CHECK(any_answers::caught(
              mutant, [](send_policy& p) { p.ordered = false; }, any_answers::as_it_is) ==
          "more items are out of order than reported");
    any_answers::check_mistakes(
        mutant, {"an item has overtaken one of its key", "accepted, and not arrived",
                 "more items arrived twice than reported",
                 "a valid item fails for good because of its neighbours"});
}

}  // namespace send_all_answers_property
