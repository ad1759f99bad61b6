// SPDX-License-Identifier: MIT
//
// assignable: makes a framing assignable, even if its type has no assignment operator.
//
// Detail of open_batch, keyed_batches and bin_packer. A lambda with captures can be copied but not
// assigned; the same holds for a framing that contains one. Without this wrapper, the copy of an
// open batch could not be assigned back:
//
//     auto open = waybill::open_batch<order>::of(limits, [&](const order& o) { ... });
//     const auto before = open;
//     if (!commit()) open = before;
//
// Assignment destroys the old framing and constructs the new one in its place. An exception in
// between would leave no framing. So a framing is wrapped only if its move constructor is noexcept.

#ifndef WAYBILL_BATCH_DETAIL_ASSIGNABLE_HPP
#define WAYBILL_BATCH_DETAIL_ASSIGNABLE_HPP

#include <concepts>
#include <new>
#include <type_traits>
#include <utility>

#include <waybill/batch/detail/size_model.hpp>

namespace waybill::inline v0_2::detail {

/// A framing `F` with copy and move assignment. Copy assignment requires a copyable `F`.
template <class F>
struct assignable : F {
    assignable(F f) : F(std::move(f)) {}
    assignable(const assignable&) = default;
    assignable(assignable&&) = default;
    assignable& operator=(const assignable& other)
        requires std::copy_constructible<F>
    {
        return *this = assignable(other);  // copying may throw: it comes before any change
    }
    assignable& operator=(assignable&& other) noexcept
    {
        if (this == &other) return *this;
        this->~assignable();
        return *::new (static_cast<void*>(this)) assignable(std::move(other));
    }
    ~assignable() = default;
};

// True if F lacks an assignment operator, and assignable<F> can add one that does not fail after
// the old value was destroyed.
template <class F>
concept lacks_assignment = std::is_nothrow_move_constructible_v<F> && !std::is_final_v<F> &&
                           (!std::is_move_assignable_v<F> ||
                            (std::copy_constructible<F> && !std::is_copy_assignable_v<F>));

/// The type of the framing that open batches store for the size function or framing `F`.
template <class Item, class F, class Framing = framing_for<Item, F>>
using kept_framing =
    std::conditional_t<detail::lacks_assignment<Framing>, assignable<Framing>, Framing>;

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_ASSIGNABLE_HPP
