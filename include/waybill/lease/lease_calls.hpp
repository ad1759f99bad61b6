// SPDX-License-Identifier: MIT
//
// lease_calls: the calls to a lease store that a state machine requests, and their results.
//
// If the store can be called directly, one line makes the call and reports its result:
//
//     manager.on(waybill::perform(store, call, random), now);
//
// A result contains its call. A result that does not match the pending call is `stale`: it was
// reported twice, or it came after the call was given up.

#ifndef WAYBILL_LEASE_LEASE_CALLS_HPP
#define WAYBILL_LEASE_LEASE_CALLS_HPP

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <waybill/core/match.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/lease/detail/checked_lease_store.hpp>
#include <waybill/lease/lease.hpp>

namespace waybill::inline v0_2 {

/// The actions and events of a `lease_manager`, which inherits them.
struct lease_manager_types {
    /// Write the row of this owner, and read the leases that changed after the version `since` and
    /// all owners. The result is `renewed`.
    struct renew {
        owner_heartbeat row{};
        std::uint64_t since = 0;  ///< 0: all leases.
        friend bool operator==(const renew&, const renew&) = default;
    };

    /// Take, renew and give back leases. The result is `claimed`.
    struct claim {
        std::vector<lease_claim> rows{};
        /// The number of earlier claims of this manager that had a result. It distinguishes claims
        /// with equal rows.
        std::uint64_t number = 0;
        friend bool operator==(const claim&, const claim&) = default;
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

    /// The result of `renew`.
    struct renewed {
        renew call{};
        result<void> written{};       ///< The result of the heartbeat.
        result<lease_table> table{};  ///< The result of the read.
        /// True if the heartbeat renews all leases of the owner, because the store has `renew`.
        bool renews_leases = false;
        /// In [0, 1), supplied by the caller. It selects the time of the next round and the first
        /// partition to claim.
        double random = 0.5;
        friend bool operator==(const renewed&, const renewed&) = default;
    };

    /// The result of `claim`: one answer for each row. A missing answer counts as an error.
    struct claimed {
        claim call{};
        std::vector<result<lease_claim::result>> answers{};
        friend bool operator==(const claimed&, const claimed&) = default;
    };

    /// The result of `leave`.
    struct group_left {
        leave call{};
        result<void> answer{};
        friend bool operator==(const group_left&, const group_left&) = default;
    };

    /// The result of `list_leases`.
    struct listed {
        result<lease_table> answer{};
        friend bool operator==(const listed&, const listed&) = default;
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

    using lease_call = variant<renew, claim, leave, list_leases>;
    using lease_answer = variant<renewed, claimed, group_left, listed>;

    friend bool operator==(const lease_manager_types&, const lease_manager_types&) = default;
};

namespace detail {

/// Makes the claims one by one. After the first error, the others are not sent and get an error,
/// too. Otherwise a store that is down would cost one time limit for each row.
template <class S>
[[nodiscard]] std::vector<result<lease_claim::result>> claim_each(
    S& store, const std::vector<lease_claim>& rows)
{
    std::vector<result<lease_claim::result>> answers;
    answers.reserve(rows.size());
    for (const lease_claim& row : rows) {
        const bool failed = !answers.empty() && !answers.back();
        if (failed) answers.push_back(unexpected(infrastructure("not sent after a failed claim")));
        else answers.push_back(store.claim(row));
    }
    return answers;
}

template <bulk_lease_store S>
[[nodiscard]] std::vector<result<lease_claim::result>> claim_together(
    S& store, const std::vector<lease_claim>& rows)
{
    const result<std::vector<lease_claim::result>> all = store.claim_all(rows);
    std::vector<result<lease_claim::result>> answers;
    answers.reserve(rows.size());
    if (all) {
        for (const lease_claim::result& r : *all) answers.push_back(r);
    } else {
        while (answers.size() != rows.size()) answers.push_back(unexpected(all.error()));
    }
    return answers;
}

}  // namespace detail

/// Makes the call and returns its result. `random` in [0, 1) becomes `renewed::random`. With a
/// store that has no `renew` and `claim_all`, this makes a call for each row.
template <class S>
[[nodiscard]] lease_manager_types::lease_answer perform(S& store,
                                                        const lease_manager_types::lease_call& call,
                                                        double random)
{
    static_assert(detail::checked_lease_store<S>::ok);
    using types = lease_manager_types;
    constexpr bool bulk = detail::bulk_lease_store<S>;
    return match(
        call,
        [&](const types::renew& a) -> types::lease_answer {
            if constexpr (bulk) {
                owner_heartbeat row = a.row;
                row.renews_leases = true;
                result<lease_table> table = store.renew(row, a.since);
                result<void> written;
                if (!table) written = unexpected(table.error());
                return types::renewed{a, std::move(written), std::move(table), bulk, random};
            } else {
                result<void> written = store.heartbeat(a.row);
                return types::renewed{a, std::move(written), store.list(a.row.source, a.row.group),
                                      bulk, random};
            }
        },
        [&](const types::claim& a) -> types::lease_answer {
            if constexpr (bulk) return types::claimed{a, detail::claim_together(store, a.rows)};
            else return types::claimed{a, detail::claim_each(store, a.rows)};
        },
        [&](const types::leave& a) -> types::lease_answer {
            return types::group_left{a, store.leave(a.row)};
        },
        [&](const types::list_leases& a) -> types::lease_answer {
            return types::listed{store.list(a.source, a.group)};
        });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_LEASE_CALLS_HPP
