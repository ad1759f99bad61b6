// SPDX-License-Identifier: MIT
//
// any_answers: a service that gives any answer, for a request or for each entry, and what arrived at
// it. The oracle of a test compares that with a report. `check_mistakes` checks the oracle itself.

#ifndef WAYBILL_TESTS_SUPPORT_ANY_ANSWERS_HPP
#define WAYBILL_TESTS_SUPPORT_ANY_ANSWERS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/dice.hpp>

#include <waybill/batch/send_policy.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/time.hpp>

namespace any_answers {

using namespace waybill;
using tests_support::dice;

struct item {
    std::uint64_t number = 0;
    std::uint64_t bytes = 1;
    std::uint64_t key = 0;
    bool poison = false;  // never accepted
};

constexpr std::uint64_t never = unlimited;

/// A service that answers for a request, or for each entry. Some answers are lost.
class service {
public:
    service(dice& roll, std::size_t items, bool per_entry)
        : roll_(roll),
          per_entry_(per_entry),
          trouble_(roll.one_in(4) ? 2 : 3 + roll(20)),
          arrivals(items),
          first_arrival(items, never),
          unknown(items)
    {
    }

    template <class Batch>
    send_outcome operator()(const Batch& batch)
    {
        ++requests;
        std::uint64_t bytes = 0;
        for (const item& i : batch) bytes += i.bytes;
        if (bytes > limit) return over_the_limit(bytes);
        if (!roll_.one_in(trouble_)) return per_entry_ ? each(batch) : whole(batch);
        switch (roll_(6)) {
            case 0: return batch_sender_types::throttled{};
            case 1:
                return batch_sender_types::throttled{.retry_after = duration::milliseconds(700)};
            case 2: return batch_sender_types::failed{.kind = fault_kind::transient};
            case 3: return batch_sender_types::failed{.kind = fault_kind::infrastructure};
            case 4:  // the request is lost
                for (const item& i : batch) unknown[i.number] = true;
                return batch_sender_types::outcome_unknown{};
            default:  // the answer is lost
                (void)(per_entry_ ? each(batch) : whole(batch));
                for (const item& i : batch) unknown[i.number] = true;
                return batch_sender_types::outcome_unknown{};
        }
    }

    static constexpr std::uint64_t limit = 60;

private:
    send_outcome over_the_limit(std::uint64_t bytes)
    {
        batch_sender_types::too_large refusal;
        if (roll_.one_in(2)) refusal.actual = bytes;
        if (roll_.one_in(2)) refusal.limit = limit;
        return refusal;
    }

    void arrive(const item& i)
    {
        if (arrivals[i.number]++ == 0) first_arrival[i.number] = clock_++;
    }

    template <class Batch>
    send_outcome whole(const Batch& batch)
    {
        for (const item& i : batch) {
            if (i.poison)
                return batch_sender_types::failed{.kind = fault_kind::permanent, .text = "p"};
        }
        for (const item& i : batch) arrive(i);
        return batch_sender_types::accepted{};
    }

    template <class Batch>
    send_outcome each(const Batch& batch)
    {
        faults_.clear();
        std::uint64_t index = 0;
        for (const item& i : batch) {
            if (const auto fault = answer(i)) faults_.emplace_back(index, *fault);
            ++index;
        }
        std::reverse(faults_.begin(), faults_.end());  // in any order
        if (faults_.empty()) return batch_sender_types::accepted{};
        return batch_sender_types::partial{.failed = faults_};
    }

    /// The answer for an item that is not accepted; nothing for one that is.
    std::optional<send_outcome> answer(const item& i)
    {
        if (i.poison) return batch_sender_types::failed{.kind = fault_kind::permanent, .text = "p"};
        if (!roll_.one_in(trouble_)) {
            arrive(i);
            return std::nullopt;
        }
        switch (roll_(6)) {
            case 0: return batch_sender_types::throttled{};
            case 1:
                return batch_sender_types::throttled{.retry_after = duration::milliseconds(300)};
            case 2: return batch_sender_types::failed{.kind = fault_kind::infrastructure};
            case 3: return batch_sender_types::failed{.kind = fault_kind::transient};
            case 4: unknown[i.number] = true; return batch_sender_types::outcome_unknown{};
            default:
                arrive(i);
                unknown[i.number] = true;
                return batch_sender_types::outcome_unknown{};
        }
    }

    dice& roll_;
    bool per_entry_;
    std::uint64_t trouble_;  // a bad answer has this probability: 1 / trouble_
    std::uint64_t clock_ = 0;
    std::vector<batch_sender_types::entry_fault> faults_{};

public:
    std::vector<std::uint32_t> arrivals;       // by number
    std::vector<std::uint64_t> first_arrival;  // by number, as a place in the order of all arrivals
    std::vector<bool> unknown;                 // an outcome for it was unknown
    std::uint64_t requests = 0;
};

constexpr auto as_it_is = [](send_outcome o, std::uint64_t) { return o; };
constexpr auto same_policy = [](send_policy&) {};

/// The first promise that breaks if the sender gets another policy than the oracle, or other
/// answers. `run(seed, change_policy, change_answers)` returns the broken promise of one world.
template <class Run, class Policy, class Answers>
std::string caught(Run run, Policy change_policy, Answers change_answers)
{
    for (std::uint64_t seed = 0; seed != 3'000; ++seed) {
        const std::string broken = run(seed, change_policy, change_answers);
        if (!broken.empty()) return broken;
    }
    return "";
}

/// The same for a driver that takes one answer for another.
template <class From, class Run, class Change>
std::string mistakes(Run run, Change change)
{
    return caught(run, same_policy, [&](send_outcome o, std::uint64_t items) -> send_outcome {
        const From* from = get_if<From>(&o);
        return from ? change(*from, items) : o;
    });
}

/// The promises that a driver breaks if it mistakes an answer.
struct broken_promises {
    std::string overtaken;   ///< It sends several items of a key in a request.
    std::string lost;        ///< It reports an item as accepted that has not arrived.
    std::string twice;       ///< It does not count an item that arrived twice.
    std::string neighbours;  ///< It blames all items of a request for one.
};

/// Checks that the oracle of `run` catches each of these drivers.
template <class Run>
void check_mistakes(Run run, const broken_promises& p)
{
    using sender = batch_sender_types;
    CHECK(caught(run, [](send_policy& s) { s.may_overtake = true; }, as_it_is) == p.overtaken);
    const auto accepted = [](const auto&, auto) { return sender::accepted{}; };
    CHECK(mistakes<sender::outcome_unknown>(run, accepted) == p.lost);
    CHECK(mistakes<sender::partial>(run, accepted) == p.lost);
    const auto throttled = [](const auto&, auto) { return sender::throttled{}; };
    CHECK(mistakes<sender::outcome_unknown>(run, throttled) == p.twice);
    std::vector<sender::entry_fault> all;
    const auto all_at_fault = [&](const sender::failed& f, std::uint64_t items) -> send_outcome {
        if (f.kind != fault_kind::permanent) return f;
        all.clear();
        for (std::uint64_t n = 0; n != items; ++n) all.emplace_back(n, f);
        return sender::partial{.failed = all};
    };
    CHECK(mistakes<sender::failed>(run, all_at_fault) == p.neighbours);
}

}  // namespace any_answers

#endif  // WAYBILL_TESTS_SUPPORT_ANY_ANSWERS_HPP
