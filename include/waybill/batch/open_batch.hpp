// SPDX-License-Identifier: MIT
//
// open_batch: one batch that fills while messages arrive, and has a deadline.
//
//     auto open = waybill::open_batch<order>::of(limits, wire_size, 50ms);
//     switch (open.try_add(o, now)) {                              // three results
//         case added:     break;
//         case full:      flush(open.take(now)); open.try_add(o, now); break;
//         case too_large: store_elsewhere(o); break;
//     }
//     if (open.due(now)) flush(open.take(now));                    // with items, bytes, closed
//
// With a `bool` result, a loop could be endless: flush, retry, still too large.
//   1. `full` and `too_large` leave the message unchanged. After `full`, no message is added before
//      take(). So later messages do not overtake it.
//   2. After `full` and take(), the same message is `added`.
//   3. The bytes are exact (envelope + sum of sizes) and never exceed the limit.
//
// open_batch::of accepts any size function or framing, or neither if the items are their own sizes.
// For a plain function: `waybill::open_batch<order> open{limits, wire_size, 50ms};`.
// A value without locks: one thread at a time.

#ifndef WAYBILL_BATCH_OPEN_BATCH_HPP
#define WAYBILL_BATCH_OPEN_BATCH_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include <waybill/batch/add_result.hpp>
#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/batch/detail/assignable.hpp>
#include <waybill/batch/detail/size_model.hpp>
#include <waybill/batch/detail/tally.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/time.hpp>

namespace waybill::inline v0_2 {

/// A closed batch.
template <class Item>
struct closed_batch {
    std::vector<Item> items{};
    std::uint64_t bytes = 0;  ///< Size of the batch, envelope included; 0 if it has no items.
    batch_close_reason closed = batch_close_reason::end;  ///< The reason why it was closed.
    steady_time opened{};                                 ///< When its first item was added.

    friend bool operator==(const closed_batch&, const closed_batch&) = default;
};

/// By default, `Size` is a pointer to a function; a lambda without captures converts to it. For a
/// framing or a size function with state, open_batch::of deduces the type.
template <class Item, class Size = std::uint64_t (*)(const Item&)>
class open_batch {
    using framing_type = detail::kept_framing<Item, Size>;

public:
    /// `linger`: the maximum time that the batch stays open after its first item. The highest
    /// duration means no deadline.
    open_batch(const batch_limits& l, Size size_of, duration linger = duration::highest())
        : limits_(l), framing_(detail::framing_of<Item, Size>(std::move(size_of))), linger_(linger)
    {
    }
    /// The same for any size function or framing, whose type it deduces.
    template <class F = std::identity>
    [[nodiscard]] static auto of(const batch_limits& l, F size = {},
                                 duration linger = duration::highest())
    {
        return open_batch<Item, F>{l, std::move(size), linger};
    }
    /// Refuses a size function or framing of another type: use `of`.
    template <class F>
        requires(!std::convertible_to<F, Size>)
    open_batch(const batch_limits& l, F size, duration linger = duration::highest())
        : open_batch(l, detail::size_of_type<Size>(std::move(size)), linger)
    {
    }

    /// Copies or moves `item` into the batch, only if the result is `added`. O(1) amortized, plus
    /// the time of the size function or framing.
    template <class T>
        requires std::same_as<std::remove_cvref_t<T>, Item> && std::constructible_from<Item, T>
    add_result try_add(T&& item, steady_time now)
    {
        detail::tally<framing_type> with = tally_;
        const add_result result = with.add(limits_, framing_, std::as_const(item));
        if (result == add_result::added) {
            items_.emplace_back(std::forward<T>(item));
            if (items_.size() == 1) opened_ = now;
        }
        tally_ = std::move(with);
        return result;
    }
    /// The same for a value that `Item` is constructed from. The size is that of the new item.
    template <class T>
        requires(!std::same_as<T, Item> && std::constructible_from<Item, const T&>)
    add_result try_add(const T& item, steady_time now)
    {
        return try_add(Item(item), now);
    }

    /// True if the batch has items and is full or past its deadline.
    [[nodiscard]] bool due(steady_time now) const
    {
        const auto due_time = deadline();
        return due_time && (tally_.full || now >= *due_time);
    }

    /// The time when the batch is due if no more items come; `opened` if it is full. Empty if the
    /// batch has no items, or no deadline.
    [[nodiscard]] std::optional<steady_time> deadline() const
    {
        if (items_.empty()) return {};
        if (tally_.full) return opened_;
        if (linger_ == duration::highest()) return {};
        return opened_ + linger_;
    }

    /// Returns the batch, which may have no items, and starts an empty one.
    [[nodiscard]] closed_batch<Item> take(steady_time now)
    {
        batch_close_reason reason = batch_close_reason::end;
        if (tally_.full) reason = tally_.closed;
        else if (due(now)) reason = batch_close_reason::deadline;
        closed_batch<Item> b{
            .items = std::move(items_), .bytes = tally_.bytes, .closed = reason, .opened = opened_};
        items_.clear();
        tally_ = {};
        return b;
    }

    [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
    /// The bytes of the items so far, envelope included; 0 if there are none.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return tally_.bytes; }

    /// Requires that items, and the size function or framing, can be compared.
    friend bool operator==(const open_batch&, const open_batch&) = default;

private:
    batch_limits limits_;
    framing_type framing_;
    duration linger_;
    std::vector<Item> items_;
    detail::tally<framing_type> tally_;
    steady_time opened_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_OPEN_BATCH_HPP
