// SPDX-License-Identifier: MIT
//
// any_answers: a service that gives any answer, for a request or for each entry, and what arrived at
// it. The oracle of a test compares that with a report.

#ifndef WAYBILL_TESTS_SUPPORT_ANY_ANSWERS_HPP
#define WAYBILL_TESTS_SUPPORT_ANY_ANSWERS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <support/dice.hpp>

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

}  // namespace any_answers

#endif  // WAYBILL_TESTS_SUPPORT_ANY_ANSWERS_HPP
