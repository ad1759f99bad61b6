// SPDX-License-Identifier: MIT
//
// event: the members that an event must have, and the result that a handler returns.
//
//     struct order { std::uint64_t sequence; std::string body; };        // enough
//
//     [](auto& tx, const order& o) -> waybill::event_outcome {           // or waybill::fault
//         if (o.body.starts_with("test")) return waybill::skipped("a test");
//         if (o.body.empty()) return waybill::permanent("it says nothing");
//         tx.record(o.body);
//         return {};
//     }

#ifndef WAYBILL_CONSUME_EVENT_HPP
#define WAYBILL_CONSUME_EVENT_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <waybill/consume/position.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

/// An event: it has a sequence number. Optional members: `offset`, and for the dead letter `body`
/// and `time`.
template <class E>
concept sequenced = requires(const E& e) {
    { e.sequence } -> std::convertible_to<std::uint64_t>;
};

namespace detail {

/// Stores the position of an event in `p`, which has no offset yet.
template <sequenced E>
void store_position(const E& e, position& p)
{
    p.sequence = static_cast<std::uint64_t>(e.sequence);
    if constexpr (requires { std::string(e.offset); }) {
        p.offset = std::string(e.offset);
    } else if constexpr (requires { e.offset; }) {
        static_assert(std::integral<std::remove_cvref_t<decltype(e.offset)>>,
                      "the `offset` of an event must be a text or an integer");
        p.offset = std::to_string(e.offset);
    }
}

}  // namespace detail

/// The position of an event in its partition.
template <sequenced E>
[[nodiscard]] position position_of(const E& e)
{
    position p;
    detail::store_position(e, p);
    return p;
}

/// The position of a loaded checkpoint; empty if there is none.
[[nodiscard]] inline std::optional<position> position_of(const std::optional<checkpoint>& stored)
{
    if (!stored) return {};
    return stored->at;
}

/// The result of one event: it took effect, it failed, or it was skipped.
struct event_outcome {
    fault reason{};  ///< The fault, if it failed. If it is skipped, the text may be the reason.
    bool skipped = false;  ///< The event leaves no effect, and the checkpoint moves past it.

    event_outcome() = default;
    event_outcome(fault f) : reason(std::move(f)) {}

    friend bool operator==(const event_outcome&, const event_outcome&) = default;
};

/// The result for an event without an effect; not a fault. A wrapper of a handler may log the text.
[[nodiscard]] inline event_outcome skipped(std::string text = {})
{
    event_outcome o(fault{fault_kind::none, std::move(text)});
    o.skipped = true;
    return o;
}

namespace detail {

/// Handles an event within a transaction. Returns a fault or an event_outcome.
template <class H, class Tx, class E>
concept event_handler = requires(H& handle, Tx& tx, const E& e) {
    { handle(tx, e) } -> std::convertible_to<event_outcome>;
};

}  // namespace detail

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_EVENT_HPP
