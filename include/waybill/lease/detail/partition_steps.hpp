// SPDX-License-Identifier: MIT
//
// partition_steps: the next step of a `processor` of which some steps are in progress.

#ifndef WAYBILL_LEASE_DETAIL_PARTITION_STEPS_HPP
#define WAYBILL_LEASE_DETAIL_PARTITION_STEPS_HPP

#include <concepts>
#include <cstdint>
#include <utility>

#include <waybill/core/act.hpp>
#include <waybill/core/match.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/processor.hpp>

namespace waybill::inline v0_2::detail {

struct partition_steps {
    /// As `processor::next`, but without partitions for which `is_free(partition)` is false, and
    /// without a lease call if `calls_leases` is false. If `opens_and_processes` is false, only
    /// lease calls, closes and saves are returned. A template, so that it costs nothing where it is
    /// included and not called.
    template <std::same_as<processor> Processor, class IsFree>
    [[nodiscard]] static typename Processor::action next(const Processor& p, steady_time now,
                                                         bool calls_leases,
                                                         bool opens_and_processes,
                                                         const IsFree& is_free)
    {
        if (p.ended()) return idle{};
        if (calls_leases) {
            if (auto call = p.leases_.call(now)) return *std::move(call);
        }
        steady_time until = steady_time::highest();
        const std::uint32_t partitions = p.leases_.partitions();
        for (std::uint32_t n = 0; n != partitions; ++n) {
            const std::uint32_t partition = (p.next_partition_ + n) % partitions;
            if (!is_free(partition)) continue;
            auto a = p.due_action(partition, now, until);
            if (!a) continue;
            const bool works = holds_alternative<typename Processor::open>(*a) ||
                               holds_alternative<typename Processor::process>(*a);
            if (!works || opens_and_processes) return *std::move(a);
        }
        if (!opens_and_processes) until = steady_time::highest();
        if (calls_leases) until = earlier(until, next_lease_time(p, now));
        return wait_until{until};
    }

    /// The time of the next lease call; the highest time if there is none, `now` if one is due.
    template <std::same_as<processor> Processor>
    [[nodiscard]] static steady_time next_lease_time(const Processor& p, steady_time now)
    {
        const auto next = p.leases_.next(now);
        if (const auto* w = get_if<wait_until>(&next)) return w->time;
        return holds_alternative<idle>(next) ? steady_time::highest() : now;
    }

    /// The answer to a call that was not made, or whose outcome is not known.
    template <std::same_as<lease_manager_types::lease_call> Call>
    [[nodiscard]] static lease_manager_types::lease_answer failed(const Call& call)
    {
        using types = lease_manager_types;
        const auto error = [] {
            return unexpected(infrastructure("the lease call was not completed"));
        };
        return match(
            call,
            [&](const types::renew& a) -> types::lease_answer {
                return types::renewed{.call = a, .written = error(), .table = error()};
            },
            [](const types::claim& a) -> types::lease_answer { return types::claimed{a, {}}; },
            [&](const types::leave& a) -> types::lease_answer {
                return types::group_left{a, error()};
            },
            [&](const types::list_leases&) -> types::lease_answer {
                return types::listed{error()};
            });
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_LEASE_DETAIL_PARTITION_STEPS_HPP
