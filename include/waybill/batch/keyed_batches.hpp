// SPDX-License-Identifier: MIT
//
// keyed_batches: fills one batch per key at the same time, with limits for all of them.
//
//     auto open = waybill::keyed_batches<std::string, order>::of(
//         limits, wire_size, {.open = 16, .linger = 50ms, .items = 100});
//     switch (open.try_add(o.session, o, now)) {                   // three results
//         case added:     break;
//         case full:      flush(open.take(now)); open.try_add(o.session, o, now); break;
//         case too_large: store_elsewhere(o); break;
//     }
//     if (open.due(now)) flush(open.take(now));                    // with key, items, closed
//
//   1. `full` and `too_large` leave the message unchanged. After `full`, no message of its key is
//      added before a batch is taken. So later messages do not overtake it.
//   2. After `full` and one take(now), the same message is `added`, even after other refusals.
//   3. The bytes are exact. No limit is exceeded, neither of one batch nor of all batches.
//
// take(now): the batch that refused the last message, else a full one, else the oldest (see guide).
// Cost: the search for a key is linear, which is fast enough for about 64 open batches.
// A value without locks: one thread at a time.

#ifndef WAYBILL_BATCH_KEYED_BATCHES_HPP
#define WAYBILL_BATCH_KEYED_BATCHES_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/batch/add_result.hpp>
#include <waybill/batch/detail/assignable.hpp>
#include <waybill/batch/detail/open_batches.hpp>
#include <waybill/batch/detail/size_model.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/open_limits.hpp>

namespace waybill::inline v0_2 {

/// A closed batch and the key of all its items.
template <class Key, class Item>
struct keyed_batch {
    Key key{};
    std::vector<Item> items{};
    std::uint64_t bytes = 0;                              ///< Size of the batch, envelope included.
    batch_close_reason closed = batch_close_reason::end;  ///< The reason why it was closed.
    steady_time opened{};                                 ///< When its first item was added.

    friend bool operator==(const keyed_batch&, const keyed_batch&) = default;
};

/// `Size` is as in open_batch; keyed_batches::of deduces it. A key is a regular value, compared by
/// `==`. The last argument of the base selects the oldest batch for `take`, not the fullest.
template <std::regular Key, class Item, class Size = std::uint64_t (*)(const Item&)>
class keyed_batches
    : public detail::open_batches<keyed_batch<Key, Item>, detail::kept_framing<Item, Size>, false> {
    using base =
        detail::open_batches<keyed_batch<Key, Item>, detail::kept_framing<Item, Size>, false>;

public:
    /// Limits of one batch, its size function or framing, and limits of all batches together.
    keyed_batches(const batch_limits& l, Size size_of, const open_limits& o = {})
        : base(l, detail::framing_of<Item, Size>(std::move(size_of)), o)
    {
    }
    /// The same for any size function or framing, whose type it deduces.
    template <class F = std::identity>
    [[nodiscard]] static auto of(const batch_limits& l, F size = {}, const open_limits& o = {})
    {
        return keyed_batches<Key, Item, F>{l, std::move(size), o};
    }
    /// Refuses a size function or framing of another type: use `of`.
    template <class F>
        requires(!std::convertible_to<F, Size>)
    keyed_batches(const batch_limits& l, F size, const open_limits& o = {})
        : keyed_batches(l, detail::size_of_type<Size>(std::move(size)), o)
    {
    }

    /// Copies or moves `item` into the open batch of `key`, only if the result is `added`.
    /// Allocates if it opens a batch or if a buffer must grow. Linear in the open batches.
    template <class T>
        requires std::same_as<std::remove_cvref_t<T>, Item> && std::constructible_from<Item, T>
    add_result try_add(const Key& key, T&& item, steady_time now)
    {
        std::size_t at = find(key);
        detail::tally<detail::kept_framing<Item, Size>> with;
        if (at != this->open()) with = this->batches_[at].sum;
        const add_result result = with.add(this->limits_, this->framing_, std::as_const(item));
        if (result == add_result::added) {
            return this->put(at, {.key = key}, std::move(with), std::forward<T>(item), now);
        }
        if (result == add_result::full) {
            // The sum records that the batch is full, so later items of its key wait, too. The
            // batch moves to the front, so that `take` returns it first.
            this->batches_[at].sum = std::move(with);
            for (; at != 0; --at) std::swap(this->batches_[at], this->batches_[at - 1]);
        }
        return result;
    }
    /// The same for a value that `Item` is constructed from. The size is that of the new item.
    template <class T>
        requires(!std::same_as<T, Item> && std::constructible_from<Item, const T&>)
    add_result try_add(const Key& key, const T& item, steady_time now)
    {
        return try_add(key, Item(item), now);
    }

    using base::take;
    /// Takes the batch of one key. It is empty if no batch of this key is open.
    [[nodiscard]] keyed_batch<Key, Item> take(const Key& key, steady_time now)
    {
        auto b = this->take_at(find(key), now);
        b.key = key;
        return b;
    }

private:
    [[nodiscard]] std::size_t find(const Key& key) const
    {
        std::size_t at = 0;
        while (at != this->open() && !(this->batches_[at].batch.key == key)) ++at;
        return at;
    }
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_KEYED_BATCHES_HPP
