// SPDX-License-Identifier: MIT
//
// lease_calls: the calls to a lease store that a state machine requests, and their results.
//
// If the store can be called directly, one line makes the call and reports its result:
//
//     manager.on(waybill::perform(store, call, random), now);
//
// A result of a call about one row contains that call. A result that does not match the pending
// call is `stale`: it was reported twice, or it came after the call was given up.

#ifndef WAYBILL_LEASE_LEASE_CALLS_HPP
#define WAYBILL_LEASE_LEASE_CALLS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <waybill/core/match.hpp>
#include <waybill/lease/detail/checked_lease_store.hpp>
#include <waybill/lease/lease.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of a `lease_manager`, which inherits them.
struct lease_manager_types {
    /// Write the row of this owner. The result is `heartbeat_stored`.
    struct heartbeat {
        owner_heartbeat row{};
        friend bool operator==(const heartbeat&, const heartbeat&) = default;
    };

    /// Remove the row of an owner: of this owner at its end, or of an owner whose row has not
    /// changed for two expiries. The result is `group_left`.
    struct leave {
        owner_heartbeat row{};
        friend bool operator==(const leave&, const leave&) = default;
    };

    /// Read all leases and owners of the group. The result is `listed`.
    struct list_leases {
        std::string source{};
        std::string group{};
        friend bool operator==(const list_leases&, const list_leases&) = default;
    };

    /// Take a lease, renew it, or give it back. The result is `claimed`.
    struct claim {
        lease_claim row{};
        /// The number of earlier claims of this manager that had a result. It distinguishes claims
        /// with equal rows.
        std::uint64_t number = 0;
        friend bool operator==(const claim&, const claim&) = default;
    };

    /// The result of `heartbeat`.
    struct heartbeat_stored {
        heartbeat call{};
        result<void> answer{};
        friend bool operator==(const heartbeat_stored&, const heartbeat_stored&) = default;
    };

    /// The result of `leave`.
    struct group_left {
        leave call{};
        result<void> answer{};
        friend bool operator==(const group_left&, const group_left&) = default;
    };

    /// The result of `list_leases`. `random` in [0, 1) is supplied by the caller. It selects the
    /// time of the next round and the first partition to claim.
    struct listed {
        result<lease_table> answer{};
        double random = 0.5;
        friend bool operator==(const listed&, const listed&) = default;
    };

    /// The result of `claim`.
    struct claimed {
        claim call{};
        result<claim_result> answer{};
        friend bool operator==(const claimed&, const claimed&) = default;
    };

    /// Event: the partition is closed and saved, and its lease is to be given back.
    struct lease_released {
        std::uint32_t partition = 0;

        friend bool operator==(const lease_released&, const lease_released&) = default;
    };

    /// Event: a store has reported that another owner has the partition. The manager verifies this
    /// at once.
    struct lease_suspected {
        std::uint32_t partition = 0;

        friend bool operator==(const lease_suspected&, const lease_suspected&) = default;
    };

    /// Event: the checkpoint of the partition has this epoch. The epoch of the lease must exceed
    /// it. `lease::max_epoch` is invalid, because no epoch is above it.
    struct epoch_too_low {
        std::uint32_t partition = 0;
        std::uint64_t epoch = 0;

        friend bool operator==(const epoch_too_low&, const epoch_too_low&) = default;
    };

    using lease_call = std::variant<heartbeat, leave,
                                    list_leases, claim>;

    using lease_answer =
        std::variant<heartbeat_stored, group_left,
                     listed, claimed>;

    friend bool operator==(const lease_manager_types&, const lease_manager_types&) = default;
};

namespace detail {

/// True if a result with the call `reported` belongs to the pending call.
template <class Call>
[[nodiscard]] bool is_result_of(const Call& reported,
                                const std::optional<lease_manager_types::lease_call>& pending)
{
    const Call* const pending_call = pending ? std::get_if<Call>(&*pending) : nullptr;
    return pending_call && *pending_call == reported;
}

}  // namespace detail

/// Makes the call and returns its result. `random` in [0, 1) becomes `listed::random`.
template <class S>
[[nodiscard]] lease_manager_types::lease_answer perform(S& store,
                                                        const lease_manager_types::lease_call& call,
                                                        double random)
{
    static_assert(detail::checked_lease_store<S>::ok);
    return match(
        call,
        [&](const lease_manager_types::heartbeat& a) {
            return lease_manager_types::lease_answer(
                lease_manager_types::heartbeat_stored{a, store.heartbeat(a.row)});
        },
        [&](const lease_manager_types::leave& a) {
            return lease_manager_types::lease_answer(
                lease_manager_types::group_left{a, store.leave(a.row)});
        },
        [&](const lease_manager_types::list_leases& a) {
            return lease_manager_types::lease_answer(
                lease_manager_types::listed{store.list(a.source, a.group), random});
        },
        [&](const lease_manager_types::claim& a) {
            return lease_manager_types::lease_answer(
                lease_manager_types::claimed{a, store.claim(a.row)});
        });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_LEASE_CALLS_HPP
