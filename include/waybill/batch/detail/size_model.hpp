// SPDX-License-Identifier: MIT
//
// size_model: a size function or a framing, and an error text for each likely mistake in it.

#ifndef WAYBILL_BATCH_DETAIL_SIZE_MODEL_HPP
#define WAYBILL_BATCH_DETAIL_SIZE_MODEL_HPP

#include <concepts>
#include <type_traits>
#include <utility>

#include <waybill/batch/detail/framings.hpp>
#include <waybill/batch/detail/sizer.hpp>
#include <waybill/batch/framing.hpp>

namespace waybill::inline v0_2::detail {

/// The sizes of items: a size function or a framing.
template <class F, class Item>
concept size_model = sizer<F, Item> || framing<F, std::remove_cvref_t<Item>>;

/// A callable or pointer to a member that accepts an item. Its result may have a wrong type.
template <class F, class Item>
concept accepts_item =
    requires(const F& size, Item&& item) { detail::measured(size, static_cast<Item&&>(item)); };

/// True for the default size function, std::identity.
template <class F, class Item>
concept returns_item = requires(const F& size, Item&& item) {
    { size(static_cast<Item&&>(item)) } -> std::same_as<Item&&>;
};

/// Refuses sizes of a wrong type. Instantiate it before anything else that uses `F`, so that its
/// sentence is the first error.
template <class F, class Item>
struct checked_size {
    static constexpr bool ok = size_model<F, Item>;
    static constexpr bool has_size = ok || !returns_item<F, Item>;
    static constexpr bool no_framing = ok || !requires { typename F::state; };
    static constexpr bool takes_item = ok || !no_framing || accepts_item<F, Item>;
    static constexpr bool returns_bytes = ok || !has_size || !no_framing || !takes_item;

    static_assert(has_size,
                  "size function: the items are no integers, so pass a function that "
                  "returns the bytes of an item");
    static_assert(no_framing,
                  "framing: envelope(item), delta(state, item) and push(state, item) "
                  "must be const and accept an item, and `state` must be regular");
    static_assert(takes_item, "size function: it must be const and accept an item");
    static_assert(returns_bytes,
                  "size function: it must return the bytes of an item as an "
                  "integer, not as bool");
};

/// Returns `f` if it is a framing, or else the size function `f` as a framing.
template <class Item, class F>
[[nodiscard]] constexpr auto framing_of(F f)
{
    static_assert(checked_size<F, const Item&>::ok);
    if constexpr (framing<F, Item>) return f;
    else return plain_framing<F>{std::move(f)};
}

/// The type of `framing_of<Item>(f)` for an `f` of type `F`.
template <class Item, class F>
using framing_for = decltype(framing_of<Item, F>(std::declval<F>()));

/// Converts a size function to the type `Size` of an open batch, or refuses it.
template <class Size, class F>
[[nodiscard]] Size size_of_type(F size)
{
    static_assert(std::convertible_to<F, Size>,
                  "size function: the batch was declared for another type of it; of(limits, size) "
                  "deduces the type");
    return size;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SIZE_MODEL_HPP
