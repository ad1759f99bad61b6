// SPDX-License-Identifier: MIT
//
// lease: the stored row that names the owner of a partition, and the rules for a store of leases.
//
// A store has one row per partition and one per owner. It needs only conditional writes, and no
// clock: each reader measures time itself (lease_observer.hpp). balance.hpp divides the partitions.
//
//   list(source, group)   all leases and all owners of the group, or an error
//   claim(c)              writes the row if its version equals `expected`, or if both are absent;
//                         of two concurrent claims one wins and the other is contended
//   heartbeat(p)          writes the row of an owner, even if it holds no partition yet
//   leave(p)              removes that row if its version equals `p.version`; no error if absent
//
// A claim takes, renews or gives back a lease. With these two calls as well, one heartbeat renews
// all leases of its owner, and a round needs at most two calls (the guide has the rules):
//
//   renew(p, since)       writes the row of an owner, and reads what changed after version `since`
//   claim_all(claims)     makes several claims
//
// Rules for a store:
//   1. `contended` means that the row was written since it was read. An unreachable store returns
//      an error instead.
//   2. Each claim that wins changes the version, even if nothing else changes. A key never has the
//      same version twice, not even after its row was deleted.
//   3. The epoch is stored as claimed. It increases when a lease is taken, given back or raised,
//      and each commit is checked against it (fenced_store.hpp).

#ifndef WAYBILL_LEASE_LEASE_HPP
#define WAYBILL_LEASE_LEASE_HPP

#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/consume/position.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/nanoseconds.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// One process that shares partitions with others. `incarnation` distinguishes processes of the
/// same name; each draws a random one at its start. A process that starts with the name and the
/// incarnation of an earlier one takes over its leases.
struct owner_id {
    std::string name{};  ///< Empty: no owner.
    std::uint64_t incarnation = 0;

    [[nodiscard]] bool none() const noexcept { return name.empty(); }
    friend auto operator<=>(const owner_id&, const owner_id&) = default;
};

namespace detail {

/// The fault of a partition that cannot be taken or opened, because no epoch is left above
/// `lease::max_epoch`.
[[nodiscard]] inline fault epochs_used_up()
{
    return permanent("the epoch has its maximum, 18446744073709551615: no later claim is possible");
}

}  // namespace detail

/// The row of a partition. If it has no owner, the lease was given back.
struct lease {
    /// The highest epoch. A lease that has it is not taken over, and a partition whose checkpoint
    /// has it is not opened. Such a partition reports a permanent fault until a lower epoch is
    /// written to the store.
    static constexpr std::uint64_t max_epoch = ~std::uint64_t{0};

    partition_key key{};
    owner_id owner{};
    std::uint64_t epoch = 0;    ///< Increases when the lease is taken, given back, or raised.
    std::uint64_t version = 0;  ///< Changes with every write.

    friend bool operator==(const lease&, const lease&) = default;
};

/// The row of an owner. It makes the owner visible to others before it holds a partition.
struct owner_heartbeat {
    std::string source{};
    std::string group{};
    owner_id owner{};
    std::uint64_t version = 0;  ///< Changes with every write.
    /// True if this row renews all leases of the owner. Otherwise the owner renews each lease by
    /// itself.
    bool renews_leases = false;

    friend bool operator==(const owner_heartbeat&, const owner_heartbeat&) = default;
};

/// Leases and owners of a group, in any order.
struct lease_table {
    std::vector<lease> leases{};            ///< All, or those that changed.
    std::vector<owner_heartbeat> owners{};  ///< All.
    /// The version of the group, if the store counts its changes; otherwise 0.
    std::uint64_t version = 0;
    /// True if `leases` has only the rows that changed after the version that was asked for.
    bool partial = false;

    friend bool operator==(const lease_table&, const lease_table&) = default;
};

/// Writes this row if the version of the stored row equals `expected`. If `expected` is empty, the
/// row is written only if none exists.
struct lease_claim {
    struct result;

    partition_key key{};
    owner_id owner{};  ///< Empty to give the lease back.
    std::uint64_t epoch = 0;
    std::optional<std::uint64_t> expected{};
    /// The previous owner, if its leases expired with its heartbeat, and the version of that row.
    /// A store with `claim_all` returns `contended` if that row has another version now.
    owner_id expired_owner{};
    std::uint64_t expired_heartbeat = 0;

    friend bool operator==(const lease_claim&, const lease_claim&) = default;
};

/// The result of a claim. If it has won, `epoch` and `version` are those of the written row.
struct lease_claim::result {
    enum class claim_outcome : std::uint8_t {
        won,        ///< The row is as claimed.
        contended,  ///< The row was written since it was read. This claim has changed nothing.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(claim_outcome) noexcept
    {
        return "won, contended";
    }

    claim_outcome outcome = claim_outcome::contended;
    std::uint64_t epoch = 0;
    std::uint64_t version = 0;

    friend bool operator==(const result&, const result&) = default;
};

template <class S>
concept lease_store =
    requires(S& s, const std::string& name, const lease_claim& c, const owner_heartbeat& p) {
        { s.list(name, name) } -> std::same_as<result<lease_table>>;
        { s.claim(c) } -> std::same_as<result<lease_claim::result>>;
        { s.heartbeat(p) } -> std::same_as<result<void>>;
        { s.leave(p) } -> std::same_as<result<void>>;
    };

namespace detail {

/// A store in which one call renews all leases of an owner, and one call makes several claims.
template <class S>
concept bulk_lease_store = lease_store<S> && requires(S& s, const owner_heartbeat& own,
                                                      const std::vector<lease_claim>& claims) {
    { s.renew(own, std::uint64_t{}) } -> std::same_as<result<lease_table>>;
    { s.claim_all(claims) } -> std::same_as<result<std::vector<lease_claim::result>>>;
};

}  // namespace detail

/// When leases are renewed, and when a lease that is not renewed becomes free. The options must be
/// equal in the whole group.
struct lease_options {
    duration interval = duration::seconds(10);  ///< Maximum time from one round to the next.
    /// A lease that is unchanged for this time is free to take.
    duration expiry = duration::seconds(60);
    /// Maximum number of partitions that an owner starts to release, or steals, in one round; at
    /// least 1. Without a limit, the default, a group is balanced within three rounds.
    std::uint32_t max_moves = no_limit;

    static constexpr std::uint32_t no_limit = ~std::uint32_t{0};

    friend bool operator==(const lease_options&, const lease_options&) = default;
};

/// The first error of `o`: `interval` must be greater than 0, `max_moves` at least 1, `expiry` at
/// least three intervals. With fewer rounds per expiry, one failed renewal could lose a lease.
[[nodiscard]] constexpr std::optional<config_error> validate(const lease_options& o) noexcept
{
    if (o.interval <= duration{}) {
        return config_error{"leases.interval", detail::magnitude(o.interval),
                            "nanoseconds must be at least", 1, o.interval < duration{}};
    }
    const duration min_expiry = o.interval + o.interval + o.interval;
    if (o.expiry < min_expiry) {
        return config_error{"leases.expiry", detail::magnitude(o.expiry),
                            "nanoseconds must be at least three times the interval",
                            detail::magnitude(min_expiry), o.expiry < duration{}};
    }
    if (o.max_moves == 0) return config_error{"leases.max_moves", 0, "must be at least", 1};
    return {};
}

namespace detail {

/// The time for which an owner trusts a renewal: 7/8 of `expiry`, counted from before its request.
/// Other owners wait for all of `expiry`, counted from the later time when they read the renewal.
/// So a trusted lease has not expired for any owner. The remaining eighth (7.5 s by default) allows
/// for clocks that run at different rates and for the last store call.
[[nodiscard]] constexpr duration trusted_for(const lease_options& o) noexcept
{
    return o.expiry - duration::nanoseconds(o.expiry.count() / 8);
}

/// The time from one round to the next: 0.8 to 1.0 intervals, so that the rounds of owners that
/// started together diverge. `random` is in [0, 1); other values count as the nearest bound, NaN
/// as 0.
[[nodiscard]] constexpr duration until_next_round(const lease_options& o, double random) noexcept
{
    const double bounded = random >= 0.0 ? (random < 1.0 ? random : 1.0) : 0.0;
    constexpr double shortest = 0.8;  // in intervals
    return detail::lesser(o.interval * (shortest + (1 - shortest) * bounded), o.interval);
}

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_LEASE_HPP
