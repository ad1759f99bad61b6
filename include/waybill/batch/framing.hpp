// SPDX-License-Identifier: MIT
//
// framing: the bytes that an item adds to a batch. Accepted in place of a size function.
//
// If an item takes the same bytes in every place, a size function is enough. A framing also knows
// the batch so far. A Kafka record stores its distance from the first record. A JSON array adds a
// comma from its second element on. An AMQP batch copies properties of its first message.
//
//     struct json_array {
//         struct state { bool any = false;
//                        friend bool operator==(const state&, const state&) = default; };
//         constexpr std::uint64_t envelope(const text&) const { return 2; }
//         constexpr std::uint64_t delta(const state& s, const text& t) const
//         { return t.size() + s.any; }
//         constexpr void push(state& s, const text&) const { s.any = true; }
//     };
//     for (auto part : waybill::chunk_by(documents, limits, json_array{})) ...
//
//     fixed_overhead(54, &message::body_size)         // a size: overhead + body
//     framed(wire::kafka::record_batch{}, to_record)  // a wire model for items of another type
//     with_reserve(f, {.batch = 128, .item = 68})     // bytes added to the measured sizes

#ifndef WAYBILL_BATCH_FRAMING_HPP
#define WAYBILL_BATCH_FRAMING_HPP

#include <concepts>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <waybill/batch/detail/framings.hpp>
#include <waybill/batch/detail/sizer.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2 {

/// Computes the bytes of a batch item by item. All three functions are const. A state contains
/// values and no pointer to an item, because items may move while their batch is being filled.
template <class F, class Item>
concept framing =
    std::regular<typename F::state> &&
    requires(const F& f, typename F::state& s, const typename F::state& so_far, const Item& item) {
        { f.envelope(item) } -> detail::countable;       // bytes before the items; `item` is first
        { f.delta(so_far, item) } -> detail::countable;  // bytes that `item` would add
        f.push(s, item);                                 // `item` was added
    };

/// A size function that returns `overhead` plus the size of the body in bytes. Saturates.
template <class F>
[[nodiscard]] constexpr auto fixed_overhead(std::uint64_t overhead, F body)
{
    return [overhead, of = std::move(body)]<class Item>(const Item& item) -> std::uint64_t
               requires detail::sizer<F, const Item&>
    { return detail::saturating_add(overhead, detail::as_size(detail::measured(of, item))); };
}

/// A framing for items of another type. `of` converts an item to the type that the model accepts.
/// It is a callable or a pointer to a member.
template <class Model, class F>
struct framed {
    using state = typename Model::state;

    constexpr framed(Model m, F of_) : model(std::move(m)), of(std::move(of_)) {}

    template <class Item>
    [[nodiscard]] constexpr std::uint64_t envelope(const Item& item) const
        requires requires(const Model& m, const F& f) { m.envelope(detail::projected(f, item)); }
    {
        return detail::as_size(model.envelope(detail::projected(of, item)));
    }
    template <class Item>
    [[nodiscard]] constexpr std::uint64_t delta(const state& s, const Item& item) const
        requires requires(const Model& m, const F& f) { m.delta(s, detail::projected(f, item)); }
    {
        return detail::as_size(model.delta(s, detail::projected(of, item)));
    }
    template <class Item>
    constexpr void push(state& s, const Item& item) const
        requires requires(const Model& m, const F& f) { m.push(s, detail::projected(f, item)); }
    {
        model.push(s, detail::projected(of, item));
    }

    Model model;
    F of;
};

/// Bytes reserved for additions after sizing: tracing headers, a message id, a partition key.
struct reserve {
    std::uint64_t batch = 0;  ///< Bytes per batch.
    std::uint64_t item = 0;   ///< Bytes per item.

    friend bool operator==(const reserve&, const reserve&) = default;
};

/// Returns the framing or size function `f` as a framing that adds the bytes of `r`. Saturates.
template <class F>
[[nodiscard]] constexpr auto with_reserve(F f, reserve r)
{
    using inner = detail::plain_framing<F>;
    if constexpr (requires { typename F::state; })
        return detail::reserving<F>{std::move(f), r.batch, r.item};
    else return detail::reserving<inner>{{std::move(f)}, r.batch, r.item};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_FRAMING_HPP
