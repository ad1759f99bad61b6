// SPDX-License-Identifier: MIT
//
// keyed_batches: batches that fill side by side, one a key.
//
// Messages of different sessions or partition keys must not share a batch, and they come mixed. One
// open batch would close at every change of key; here each key has its own, within bounds:
//
//     auto open = waybill::keyed_batches_of<std::string, order>(
//         limits, wire_size, {.open = 16, .linger = 50ms, .items = 100});
//     switch (open.try_add(o.session, o, now)) {                   // three answers, not two
//         case added:     break;
//         case full:      flush(open.take(now)); open.try_add(o.session, o, now); break;
//         case too_large: store_elsewhere(o); break;
//     }
//     if (open.due(now)) flush(open.take(now));                    // b.key, b.items, b.closed
//
//   1. `full` and `too_large` leave the message as it was; after `full` nothing more of its key
//      goes in until a batch has been taken, so that what came later does not overtake it;
//   2. after `full` and take(now), the same message is `added`: one take is enough, whoever else
//      has been refused before;
//   3. the bytes are exact and never over the limit; no more batches are open, and no more items
//      are in all of them, than was said.
//
// take(now) gives the batch that refused the last message, then one that is full, then one past its
// deadline, then the one that was opened first. Not the fullest: busy keys leave by being full, but
// a quiet one would stay for ever, and its items have waited longest. Such a batch was closed by
// `key` if it had to make room for another key, by `items` if there are as many in all as may be.
// Where all that is open goes into one transaction, `items` is how many that may have: then take
// until nothing is left.
//
// keyed_batches_of takes the size functions and framings that open_batch_of does. A key is looked
// for among the open ones, one after the other: fine for some 64 of them.
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

#include <waybill/batch/assignable.hpp>
#include <waybill/batch/framing.hpp>
#include <waybill/batch/side_by_side.hpp>

namespace waybill::inline v0_2 {

/// A batch that is closed, and the key of all that is in it.
template <class Key, class Item>
struct keyed_batch {
    Key key{};
    std::vector<Item> items{};
    std::uint64_t bytes = 0;  ///< With the envelope.
    closed_by closed = closed_by::end;
    steady_time opened{};  ///< When its first item came.

    friend bool operator==(const keyed_batch&, const keyed_batch&) = default;
};

/// `Size` as in open_batch; keyed_batches_of finds it out. A key is any value that can be compared.
template <std::regular Key, class Item,
          size_model<const Item&> Size = std::uint64_t (*)(const Item&)>
class keyed_batches
    : public side_by_side<keyed_batch<Key, Item>, kept_framing<Item, Size>, false> {
    using base = side_by_side<keyed_batch<Key, Item>, kept_framing<Item, Size>, false>;
    struct use_keyed_batches_of;  // what a compiler says of another size

public:
    keyed_batches(const limits& l, Size weigh, const open_limits& o = {})
        : base(l, framing_of<Item, Size>(std::move(weigh)), o)
    {
    }
    /// Any other size function or framing is part of another type: see keyed_batches_of.
    template <class F, class = use_keyed_batches_of>
        requires(!std::convertible_to<F, Size>)
    keyed_batches(const limits&, F, const open_limits& = {}) = delete;

    /// Adds a copy of `item`, or the item itself where it may be moved; only if it is `added`.
    /// Allocates where a batch is opened or its buffer has to grow.
    template <class T>
        requires std::same_as<std::remove_cvref_t<T>, Item> && std::constructible_from<Item, T>
    adding try_add(const Key& key, T&& item, steady_time now)
    {
        std::size_t at = find(key);
        tally<kept_framing<Item, Size>> with;
        if (at != this->open()) with = this->all_[at].sum;
        const adding what = with.add(this->limits_, this->framing_, std::as_const(item));
        if (what == adding::added) {
            return this->put(at, {.key = key}, std::move(with), std::forward<T>(item), now);
        }
        if (what == adding::full) {
            this->all_[at].sum = std::move(with);
            for (; at != 0; --at) std::swap(this->all_[at], this->all_[at - 1]);
        }
        return what;
    }
    /// The same for what an item can be made of: the bytes are those of the item.
    template <class T>
        requires(!std::same_as<T, Item> && std::constructible_from<Item, const T&>)
    adding try_add(const Key& key, const T& item, steady_time now)
    {
        return try_add(key, Item(item), now);
    }

    using base::take;
    /// Takes the batch of one key, which is empty where that has none open.
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
        while (at != this->open() && !(this->all_[at].batch.key == key)) ++at;
        return at;
    }
};

/// Keyed batches of `Item` by any size function or framing.
template <class Key, class Item, size_model<const Item&> F = std::identity>
[[nodiscard]] auto keyed_batches_of(const limits& l, F size = {}, const open_limits& o = {})
{
    return keyed_batches<Key, Item, F>{l, std::move(size), o};
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_KEYED_BATCHES_HPP
