// SPDX-License-Identifier: MIT
//
// lease_calls: the calls to a lease store that a machine asks for, and their answers.
//
// Where the store is at hand, one line makes the call and answers it:
//
//     keeper.on(waybill::ask(store, call, draw), now);
//
// An answer about one row carries the call that it answers. An answer to any other call than the
// one that is open is `late`: it was told twice, or came after the call had been given up.

#ifndef WAYBILL_CONSUME_LEASE_CALLS_HPP
#define WAYBILL_CONSUME_LEASE_CALLS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include <waybill/consume/lease.hpp>
#include <waybill/core/match.hpp>

namespace waybill::inline v0_2 {

namespace act {

/// Write that this owner is there. Answered by `announced`.
struct announce {
    presence who{};
    friend bool operator==(const announce&, const announce&) = default;
};

/// Remove that an owner is there: oneself at the end, or one who has not been seen for long.
/// Answered by `withdrawn`.
struct withdraw {
    presence who{};
    friend bool operator==(const withdraw&, const withdraw&) = default;
};

/// Read all leases and owners of the group. Answered by `listed`.
struct list_leases {
    std::string source{};
    std::string group{};
    friend bool operator==(const list_leases&, const list_leases&) = default;
};

/// Take a lease, renew it, or give it back. Answered by `claimed`.
struct claim {
    lease_claim row{};
    std::uint64_t number = 0;  ///< Of one keeper no two that were answered have the same.
    friend bool operator==(const claim&, const claim&) = default;
};

}  // namespace act

struct announced {
    act::announce call{};
    result<void> answer{};
    friend bool operator==(const announced&, const announced&) = default;
};

struct withdrawn {
    act::withdraw call{};
    result<void> answer{};
    friend bool operator==(const withdrawn&, const withdrawn&) = default;
};

/// `draw` in [0, 1) spreads what owners do next; where it comes from is the caller's.
struct listed {
    result<lease_table> answer{};
    double draw = 0.5;
    friend bool operator==(const listed&, const listed&) = default;
};

struct claimed {
    act::claim call{};
    result<claim_outcome> answer{};
    friend bool operator==(const claimed&, const claimed&) = default;
};

using lease_call = std::variant<act::announce, act::withdraw, act::list_leases, act::claim>;
using lease_answer = std::variant<announced, withdrawn, listed, claimed>;

namespace detail {

/// This is the call that is open.
template <class Call>
[[nodiscard]] bool answers(const Call& told, const std::optional<lease_call>& open)
{
    const Call* const asked = open ? std::get_if<Call>(&*open) : nullptr;
    return asked && *asked == told;
}

}  // namespace detail

/// Makes the call.
template <lease_store S>
[[nodiscard]] lease_answer ask(S& store, const lease_call& call, double draw)
{
    return match(
        call,
        [&](const act::announce& a) { return lease_answer(announced{a, store.announce(a.who)}); },
        [&](const act::withdraw& a) { return lease_answer(withdrawn{a, store.withdraw(a.who)}); },
        [&](const act::list_leases& a) {
            return lease_answer(listed{store.list(a.source, a.group), draw});
        },
        [&](const act::claim& a) { return lease_answer(claimed{a, store.claim(a.row)}); });
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_LEASE_CALLS_HPP
