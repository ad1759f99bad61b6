// SPDX-License-Identifier: MIT
//
// lease: who has a partition, written where all can see it.
//
// A store keeps one row a partition and one row an owner. It needs one power only: to write a row
// if nobody else has written it since it was read. It needs no clock, since time is judged by those
// who look (lease_observer.hpp), and no rule by which partitions are shared (balance.hpp).
//
//   list(source, group)   all leases and all owners of the group, or an error
//   claim(c)              writes the row if its version is still `expected`, or if there is none
//                         and none is expected: of two who race one wins, the other is contended
//   announce(p)           writes that an owner is there, who may not have a partition yet
//   withdraw(p)           removes that, if its version is still this; no error where it is gone
//
// To take a partition, to keep it and to give it back are all claims. Three rules for a store:
//   1. contended means that somebody else wrote. What cannot be reached is an error, never that;
//   2. each claim that wins changes the version, also where nothing else changes, and a key never
//      has the same version twice, not even after its row was deleted;
//   3. the epoch is stored as claimed. It grows whenever a partition is taken or given back, and is
//      the fence that a commit is checked against (fenced_store.hpp).
//
// After the last epoch there is none. A lease that has it is not taken over, and a partition whose
// checkpoint has it is not opened: `epochs_used_up` says so until somebody writes a lower one.

#ifndef WAYBILL_CONSUME_LEASE_HPP
#define WAYBILL_CONSUME_LEASE_HPP

#include <compare>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <waybill/consume/position.hpp>
#include <waybill/core/check.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// One process that shares partitions with others. Two of one name are told apart by a number that
/// each draws when it starts; whoever passes the same number again takes up what it had before.
struct owner_id {
    std::string name{};  ///< Empty for nobody.
    std::uint64_t incarnation = 0;

    [[nodiscard]] bool nobody() const noexcept { return name.empty(); }
    friend auto operator<=>(const owner_id&, const owner_id&) = default;
};

inline constexpr std::uint64_t last_epoch = ~std::uint64_t{0};

/// What is said of a partition that has it, and whose owner is gone.
[[nodiscard]] inline fault epochs_used_up()
{
    return permanent("no epoch is left above 18446744073709551615");
}

/// The row of a partition. One without an owner was given back.
struct lease {
    partition_key key{};
    owner_id owner{};
    std::uint64_t epoch = 0;    ///< Grows with every change of hands.
    std::uint64_t version = 0;  ///< Changes with every write.

    friend bool operator==(const lease&, const lease&) = default;
};

/// The row of an owner, which lets others see him before he has anything.
struct presence {
    std::string source{};
    std::string group{};
    owner_id owner{};
    std::uint64_t version = 0;  ///< Changes with every write.

    friend bool operator==(const presence&, const presence&) = default;
};

/// What a store knows about a group, in any order.
struct lease_table {
    std::vector<lease> leases{};
    std::vector<presence> owners{};

    friend bool operator==(const lease_table&, const lease_table&) = default;
};

/// Write this row, if the version of the stored one is `expected`; empty expects that there is
/// none.
struct lease_claim {
    partition_key key{};
    owner_id owner{};  ///< Nobody gives the lease back.
    std::uint64_t epoch = 0;
    std::optional<std::uint64_t> expected{};

    friend bool operator==(const lease_claim&, const lease_claim&) = default;
};

enum class claim_end : std::uint8_t {
    won,        ///< The row is as claimed.
    contended,  ///< Somebody else has written it. Nothing has changed.
};

[[nodiscard]] constexpr std::string_view name(claim_end e) noexcept
{
    switch (e) {
        case claim_end::won: return "won";
        case claim_end::contended: return "contended";
    }
    return "?";
}

/// What became of a claim; epoch and version are those of the row that was won.
struct claim_outcome {
    claim_end end = claim_end::contended;
    std::uint64_t epoch = 0;
    std::uint64_t version = 0;

    friend bool operator==(const claim_outcome&, const claim_outcome&) = default;
};

template <class S>
concept lease_store = requires(S& s, const std::string& name, const lease_claim& c,
                               const presence& p) {
    { s.list(name, name) } -> std::same_as<result<lease_table>>;
    { s.claim(c) } -> std::same_as<result<claim_outcome>>;
    { s.announce(p) } -> std::same_as<result<void>>;
    { s.withdraw(p) } -> std::same_as<result<void>>;
};

/// How often leases are renewed, and when one that is not becomes free. The same for all of a
/// group.
struct lease_options {
    duration interval = duration::seconds(10);  ///< From one round to the next, at the most.
    duration expiry = duration::seconds(60);    ///< Unchanged for so long, a lease is free to take.

    friend bool operator==(const lease_options&, const lease_options&) = default;
};

/// With less than three rounds to an expiry one failed renewal can cost a lease.
[[nodiscard]] constexpr std::optional<config_error> check(const lease_options& o) noexcept
{
    const auto value = [](duration d) {
        const auto n = static_cast<std::uint64_t>(d.count());
        return d < duration{} ? std::uint64_t{0} - n : n;
    };
    if (o.interval <= duration{}) {
        return config_error{"leases.interval", value(o.interval), "nanoseconds must be at least", 1,
                            o.interval < duration{}};
    }
    const duration least = o.interval + o.interval + o.interval;
    if (o.expiry < least) {
        return config_error{"leases.expiry", value(o.expiry),
                            "nanoseconds must be at least three times the interval", value(least),
                            o.expiry < duration{}};
    }
    return {};
}

/// How long an owner trusts in a renewal, from when he asked for it. Others wait an eighth longer,
/// and count from when they saw it, which is later: what is trusted has expired for nobody.
[[nodiscard]] constexpr duration trusted_for(const lease_options& o) noexcept
{
    return o.expiry - duration::nanoseconds(o.expiry.count() / 8);
}

/// From one round to the next: the interval, up to a fifth shorter, so that owners who were started
/// together spread. `draw` in [0, 1).
[[nodiscard]] constexpr duration until_next_round(const lease_options& o, double draw) noexcept
{
    const double share = draw >= 0.0 ? (draw < 1.0 ? draw : 1.0) : 0.0;
    return lesser(o.interval * (0.8 + 0.2 * share), o.interval);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_LEASE_HPP
