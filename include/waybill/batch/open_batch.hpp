// SPDX-License-Identifier: MIT
//
// open_batch: one batch that fills while messages come, and closes in time.
//
//     waybill::open_batch<order> open{limits, wire_size, 50ms};
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

#ifndef WAYBILL_BATCH_OPEN_BATCH_HPP
#define WAYBILL_BATCH_OPEN_BATCH_HPP

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/batch/chunk_by.hpp>
#include <waybill/batch/closed_by.hpp>
#include <waybill/core/time.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_1 {

/// What became of a message that was to be added.
enum class adding : std::uint8_t {
    added,      ///< It is in the batch.
    full,       ///< It fits into the next batch, not into this one.
    too_large,  ///< It fits into no batch.
};

[[nodiscard]] constexpr std::string_view name(adding a) noexcept
{
    switch (a) {
        case adding::added: return "added";
        case adding::full: return "full";
        case adding::too_large: return "too_large";
    }
    return "?";
}

/// A batch that is closed.
template <class Item>
struct closed_batch {
    std::vector<Item> items{};
    std::uint64_t bytes = 0;  ///< With the envelope.
    closed_by closed = closed_by::end;
    steady_time opened{};  ///< When its first item came.

    friend bool operator==(const closed_batch&, const closed_batch&) = default;
};

/// `Size` is a plain function by default, which a lambda without captures turns into; name the type
/// of a size function that carries state.
template <class Item, sizer<const Item&> Size = std::uint64_t (*)(const Item&)>
class open_batch {
public:
    /// Stays open for `linger` after its first item at most.
    open_batch(const limits& l, Size weigh, duration linger = duration::highest())
        : limits_(l), size_(std::move(weigh)), linger_(linger)
    {
    }

    /// Adds a copy of `item`, or the item itself where it may be moved; only if it is `added`.
    template <class T>
        requires std::constructible_from<Item, T>
    adding try_add(T&& item, steady_time now)
    {
        const std::uint64_t own = as_size(detail::measured(size_, std::as_const(item)));
        if (!fits_alone(limits_, own)) return adding::too_large;
        if (full_) return adding::full;
        if (!items_.empty()) {
            const std::uint64_t sum = saturating_add(bytes_, own);
            if (sum > limits_.bytes || sum == highest_size) return full(closed_by::bytes);
        }
        items_.emplace_back(std::forward<T>(item));
        if (items_.size() == 1) {
            opened_ = now;
            bytes_ = limits_.envelope;
        }
        bytes_ = saturating_add(bytes_, own);
        if (at_count()) full(closed_by::items);
        return adding::added;
    }

    /// There is something to send and no reason to wait: it is full, or it has been open long enough.
    [[nodiscard]] bool due(steady_time now) const
    {
        return !items_.empty() &&
               (full_ || (linger_ != duration::highest() && now >= opened_ + linger_));
    }

    /// When it will be due though nothing more comes; empty where nothing is in it or it may wait.
    [[nodiscard]] std::optional<steady_time> deadline() const
    {
        if (items_.empty()) return {};
        if (full_) return opened_;
        if (linger_ == duration::highest()) return {};
        return opened_ + linger_;
    }

    /// Takes what is in it, maybe nothing, and begins anew.
    [[nodiscard]] closed_batch<Item> take(steady_time now)
    {
        closed_batch<Item> b{std::move(items_), bytes_, closed_by::end, opened_};
        if (full_) {
            b.closed = full_by_;
        } else if (!b.items.empty() && linger_ != duration::highest() && now >= opened_ + linger_) {
            b.closed = closed_by::deadline;
        }
        items_.clear();
        bytes_ = 0;
        full_ = false;
        return b;
    }

    [[nodiscard]] bool empty() const noexcept { return items_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return items_.size(); }
    /// Of what is in it, with the envelope; 0 while it is empty.
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
    [[nodiscard]] bool at_count() const
    {
        return items_.size() >= (limits_.items == 0 ? 1 : limits_.items);
    }

    adding full(closed_by why)
    {
        full_ = true;
        full_by_ = why;
        return adding::full;
    }

    limits limits_;
    Size size_;
    duration linger_;
    std::vector<Item> items_;
    std::uint64_t bytes_ = 0;
    steady_time opened_;
    bool full_ = false;                   // no more goes in,
    closed_by full_by_ = closed_by::end;  // and why
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_BATCH_OPEN_BATCH_HPP
