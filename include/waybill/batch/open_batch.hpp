// SPDX-License-Identifier: MIT
//
// open_batch: one batch that fills while messages come, and closes in time.
//
//     auto open = waybill::open_batch_of<order>(limits, wire_size, 50ms);
//     switch (open.try_add(o, now)) {                              // three answers, not two
//         case added:     break;
//         case full:      flush(open.take(now)); open.try_add(o, now); break;
//         case too_large: store_elsewhere(o); break;
//     }
//     if (open.due(now)) flush(open.take(now));                    // says why it closed
//
// A `false` for "does not fit" has sent many a loop round for ever: flush, try again, still too
// large. So there are three answers, and these hold:
//   1. `full` and `too_large` leave the message as it was; after `full` nothing more goes in, so
//      that what came later does not overtake it;
//   2. after `full` and take(), the same message is `added`;
//   3. the bytes are exact: envelope + sum of sizes, never over the limit.
//
// open_batch_of takes what chunk_by takes: any size function, a lambda with captures and a pointer
// to a member among them, or a framing; and nothing where the items are the sizes. With a plain
// function `open_batch<order>` is the whole name of the type:
//
//     waybill::open_batch<order> open{limits, wire_size, 50ms};
//
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

#include <waybill/batch/assignable.hpp>
#include <waybill/batch/closed_by.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/tally.hpp>
#include <waybill/core/time.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_2 {

/// A batch that is closed.
template <class Item>
struct closed_batch {
    std::vector<Item> items{};
    std::uint64_t bytes = 0;  ///< With the envelope.
    closed_by closed = closed_by::end;
    steady_time opened{};  ///< When its first item came.

    friend bool operator==(const closed_batch&, const closed_batch&) = default;
};

/// `Size` is a plain function by default, which a lambda without captures turns into; open_batch_of
/// finds out the type of a framing, or of a size function that carries state.
template <class Item, size_model<const Item&> Size = std::uint64_t (*)(const Item&)>
class open_batch {
    using framing_type = kept_framing<Item, Size>;
    struct use_open_batch_of;  // what a compiler says of another size

public:
    /// Stays open for `linger` after its first item at most.
    open_batch(const limits& l, Size weigh, duration linger = duration::highest())
        : limits_(l), framing_(framing_of<Item, Size>(std::move(weigh))), linger_(linger)
    {
    }
    /// Any other size function or framing is part of another type: see open_batch_of.
    template <class F, class = use_open_batch_of>
        requires(!std::convertible_to<F, Size>)
    open_batch(const limits&, F, duration = {}) = delete;

    /// Adds a copy of `item`, or the item itself where it may be moved; only if it is `added`.
    template <class T>
        requires std::same_as<std::remove_cvref_t<T>, Item> && std::constructible_from<Item, T>
    adding try_add(T&& item, steady_time now)
    {
        tally<framing_type> with = tally_;
        const adding what = with.add(limits_, framing_, std::as_const(item));
        if (what == adding::added) {
            items_.emplace_back(std::forward<T>(item));
            if (items_.size() == 1) opened_ = now;
        }
        tally_ = std::move(with);
        return what;
    }
    /// The same for what an item can be made of: the bytes are those of the item.
    template <class T>
        requires(!std::same_as<T, Item> && std::constructible_from<Item, const T&>)
    adding try_add(const T& item, steady_time now)
    {
        return try_add(Item(item), now);
    }

    /// There is something to send and no reason to wait: it is full, or has been open long enough.
    [[nodiscard]] bool due(steady_time now) const
    {
        const auto by = deadline();
        return by && (tally_.full || now >= *by);
    }

    /// When it will be due though nothing more comes; empty where nothing is in it or it may wait.
    [[nodiscard]] std::optional<steady_time> deadline() const
    {
        if (items_.empty()) return {};
        if (tally_.full) return opened_;
        if (linger_ == duration::highest()) return {};
        return opened_ + linger_;
    }

    /// Takes what is in it, maybe nothing, and begins anew.
    [[nodiscard]] closed_batch<Item> take(steady_time now)
    {
        const closed_by why = tally_.full ? tally_.closed
                              : due(now)  ? closed_by::deadline
                                          : closed_by::end;
        closed_batch<Item> b{std::move(items_), tally_.bytes, why, opened_};
        items_.clear();
        tally_ = {};
        return b;
    }

    [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
    /// Of what is in it, with the envelope; 0 while it is empty.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return tally_.bytes; }

    /// Where items, and the size function or framing, can be compared.
    friend bool operator==(const open_batch&, const open_batch&) = default;

private:
    limits limits_;
    framing_type framing_;
    duration linger_;
    std::vector<Item> items_;
    tally<framing_type> tally_;
    steady_time opened_;
};

/// An open batch of `Item` by any size function or framing.
template <class Item, size_model<const Item&> F = std::identity>
[[nodiscard]] auto open_batch_of(const limits& l, F size = {},
                                 duration linger = duration::highest())
{
    return open_batch<Item, F>{l, std::move(size), linger};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_OPEN_BATCH_HPP
