// SPDX-License-Identifier: MIT
//
// event: what process_batch has to know of an event, and what a handler says about it.
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

/// Has a sequence number. May have an `offset`, a `body` for its dead letter, and a `time`.
template <class E>
concept sequenced = requires(const E& e) {
    { e.sequence } -> std::convertible_to<std::uint64_t>;
};

/// Where an event stands in its partition.
template <sequenced E>
[[nodiscard]] position position_of(const E& e)
{
    position p{static_cast<std::uint64_t>(e.sequence), {}};
    if constexpr (requires { std::string(e.offset); }) {
        p.offset = std::string(e.offset);
    } else if constexpr (requires { e.offset; }) {
        static_assert(std::integral<std::remove_cvref_t<decltype(e.offset)>>,
                      "an event's `offset` is a text or an integer");
        p.offset = std::to_string(e.offset);
    }
    return p;
}

/// Where to go on after what a store has loaded.
[[nodiscard]] inline std::optional<position> position_of(const std::optional<checkpoint>& stored)
{
    if (!stored) return {};
    return stored->at;
}

/// What became of one event: it has taken effect, it failed, or it is none of ours.
struct event_outcome {
    fault why{};           ///< Where it failed; its text may also say why it is skipped.
    bool skipped = false;  ///< None of its effects stays, and the checkpoint goes past it.

    event_outcome() = default;
    event_outcome(fault f) : why(std::move(f)) {}

    friend bool operator==(const event_outcome&, const event_outcome&) = default;
};

/// The event is none of ours, which is no fault. The text is for those who wrap a handler and log.
[[nodiscard]] inline event_outcome skipped(std::string text = {})
{
    event_outcome o(fault{fault_class::none, std::move(text)});
    o.skipped = true;
    return o;
}

/// Takes an event into effect through a transaction, and answers a fault or an event_outcome.
template <class H, class Tx, class E>
concept event_handler = requires(H& handle, Tx& tx, const E& e) {
    { handle(tx, e) } -> std::convertible_to<event_outcome>;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_CONSUME_EVENT_HPP
