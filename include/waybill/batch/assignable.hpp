// SPDX-License-Identifier: MIT
//
// assignable: a framing that can be assigned, whatever it is made of.
//
// Part of the open batches. A lambda with captures can be copied and not assigned, and neither can
// what keeps one. Then a snapshot of an open batch could be taken, and never be gone back to:
//
//     auto open = waybill::open_batch_of<order>(limits, [&](const order& o) { ... });
//     const auto before = open;
//     if (!commit()) open = before;
//
// So it is destroyed and made anew from the other. That must not fail half-way: a framing that may
// throw while it is moved stays as it is.

#ifndef WAYBILL_BATCH_ASSIGNABLE_HPP
#define WAYBILL_BATCH_ASSIGNABLE_HPP

#include <concepts>
#include <new>
#include <type_traits>
#include <utility>

#include <waybill/batch/framing.hpp>

namespace waybill::inline v0_2 {

template <class F>
struct assignable : F {
    assignable(F f) : F(std::move(f)) {}
    assignable(const assignable&) = default;
    assignable(assignable&&) = default;
    assignable& operator=(const assignable& other)
        requires std::copy_constructible<F>
    {
        return *this = assignable(other);  // what a copy throws comes before anything is changed
    }
    assignable& operator=(assignable&& other) noexcept
    {
        if (this == &other) return *this;
        this->~assignable();
        return *::new (static_cast<void*>(this)) assignable(std::move(other));
    }
    ~assignable() = default;
};

namespace detail {

template <class F>
concept lacks_assignment =
    std::is_nothrow_move_constructible_v<F> && !std::is_final_v<F> &&
    (!std::is_move_assignable_v<F> ||
     (std::copy_constructible<F> && !std::is_copy_assignable_v<F>));

}  // namespace detail

/// The framing of `F` as open batches keep it.
template <class Item, class F, class Framing = framing_for<Item, F>>
using kept_framing =
    std::conditional_t<detail::lacks_assignment<Framing>, assignable<Framing>, Framing>;

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_ASSIGNABLE_HPP
