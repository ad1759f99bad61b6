// SPDX-License-Identifier: MIT
//
// sending: the actions and events of a sender.
//
// Items are numbers 0, 1, 2 ... in the order in which they were queued. A batch is a list of runs
// of consecutive numbers, because a partial failure leaves gaps. A result event reports what the
// broker did with one attempt.

#ifndef WAYBILL_BATCH_SENDING_HPP
#define WAYBILL_BATCH_SENDING_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/batch/batch_close_reason.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/batch_limits.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/variant.hpp>

namespace waybill::inline v0_2 {

/// Consecutive items.
struct item_range {
    std::uint64_t first = 0;
    std::uint64_t count = 0;

    [[nodiscard]] constexpr std::uint64_t end() const noexcept { return first + count; }
    friend bool operator==(const item_range&, const item_range&) = default;
};

/// The outcome of an item. Every item has exactly one.
enum class item_outcome : std::uint8_t {
    accepted,   ///< The broker accepted it.
    too_large,  ///< It fits into no batch, not even alone.
    failed,     ///< It was refused permanently, or all retries failed.
    /// Sent, but its arrival is unknown. A repetition may duplicate it.
    in_doubt,
    unsent,  ///< It has not arrived, and the sender was stopped.
    /// Not sent, because an earlier item of its key did not arrive.
    blocked_by_key,
};

[[nodiscard]] constexpr std::string_view texts_of(item_outcome) noexcept
{
    return "accepted, too_large, failed, in_doubt, unsent, blocked_by_key";
}

namespace detail {

template <class T>
[[nodiscard]] constexpr bool same(std::span<T> a, std::span<T> b)
{
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (!(a[i] == b[i])) return false;
    }
    return true;
}

}  // namespace detail

/// The actions and events of a `batch_sender`, which inherits them.
struct batch_sender_types {
    /// The runs of one batch, in ascending order. A view into the sender: valid until its next
    /// event; in an attempt that has `started`, until the result of the attempt.
    class item_ranges {
    public:
        constexpr item_ranges() noexcept = default;
        constexpr item_ranges(const item_range* first, std::size_t size) noexcept
            : first_(first), size_(size)
        {
        }

        [[nodiscard]] constexpr const item_range* begin() const noexcept { return first_; }
        [[nodiscard]] constexpr const item_range* end() const noexcept { return first_ + size_; }
        [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
        [[nodiscard]] constexpr const item_range& front() const noexcept { return *first_; }

        /// The number of items in all runs. O(runs).
        [[nodiscard]] constexpr std::uint64_t items() const noexcept
        {
            std::uint64_t n = 0;
            for (const item_range& r : *this) n += r.count;
            return n;
        }

        friend constexpr bool operator==(const item_ranges& a, const item_ranges& b) noexcept
        {
            if (a.size_ != b.size_) return false;
            for (std::size_t i = 0; i < a.size_; ++i) {
                if (!(a.first_[i] == b.first_[i])) return false;
            }
            return true;
        }

    private:
        const item_range* first_ = nullptr;
        std::size_t size_ = 0;
    };

    /// Send these items as one batch. If the result comes later, report `started` first. If an
    /// attempt is requested again, send the identical batch again: its first outcome is unknown.
    struct send {
        std::uint64_t attempt = 0;  ///< Number of the attempt; the same for a repetition.
        item_ranges items{};        ///< The items of the batch.
        std::uint64_t bytes = 0;    ///< Expected bytes, envelope and headers included.
        /// The reason why the batch was closed.
        batch_close_reason closed = batch_close_reason::end;

        friend bool operator==(const send&, const send&) = default;
    };

    /// The outcome of these items. Record it, then report `reported`.
    struct report {
        item_range items{};
        item_outcome outcome = item_outcome::accepted;
        /// If the outcome is `failed`: the kind of the last failure.
        fault_kind kind = fault_kind::none;
        /// If the outcome is `too_large`: the size of the item in a batch of its own, as far as
        /// known. Without the envelope if the item exceeds `limits.single`.
        std::uint64_t bytes = 0;
        /// If the outcome is `too_large`: the limit for `bytes`.
        std::uint64_t limit = 0;
        /// If the outcome is `too_large`: the bytes of a batch's envelope.
        std::uint64_t envelope = 0;
        /// The broker's text about the last failure. A view: valid until the next event.
        std::string_view text{};
        /// They have arrived before an earlier item of their key, or may have (only if `ordered`).
        bool overtook = false;

        friend bool operator==(const report&, const report&) = default;
    };

    /// This item fits into no batch. Store it elsewhere, put a smaller reference in its place, and
    /// report `replaced` with the size of the reference. If that is impossible, report
    /// `not_replaced`.
    struct replace {
        std::uint64_t item = 0;
        /// Its size in a batch of its own. Without the envelope if it exceeds `limits.single`.
        std::uint64_t bytes = 0;
        /// The limit for `bytes`.
        std::uint64_t limit = 0;
        /// The bytes of a batch's envelope.
        std::uint64_t envelope = 0;

        friend bool operator==(const replace&, const replace&) = default;
    };

    /// An input begins: its items have the next numbers. For drivers that can be called again.
    struct input_opened {
        friend bool operator==(const input_opened&, const input_opened&) = default;
    };

    /// All items of the input are settled.
    struct input_closed {
        friend bool operator==(const input_closed&, const input_closed&) = default;
    };

    /// One more item. Its bytes exclude the overhead that the broker adds. A negative size counts
    /// as too large. The key is a number for the item's session or partition, if the policy uses
    /// keys.
    struct queued {
        std::uint64_t bytes = 0;
        std::uint64_t key = 0;

        constexpr queued() noexcept = default;
        template <detail::countable N>
        constexpr explicit queued(N size, std::uint64_t key_ = 0) noexcept
            : bytes(detail::as_size(size)), key(key_)
        {
        }

        friend bool operator==(const queued&, const queued&) = default;
    };

    /// Items queued so far need not wait for a full batch.
    struct flushed {
        friend bool operator==(const flushed&, const flushed&) = default;
    };

    /// Another item of `bytes` bytes is now in the place of this one. `bytes` is measured like
    /// `queued::bytes`. An item is replaced at most once.
    struct replaced {
        std::uint64_t item = 0;
        std::uint64_t bytes = 0;

        friend bool operator==(const replaced&, const replaced&) = default;
    };

    /// This item stays as it is, and ends as `too_large`.
    struct not_replaced {
        std::uint64_t item = 0;

        friend bool operator==(const not_replaced&, const not_replaced&) = default;
    };

    /// A stopped key continues with items that are queued from now on.
    struct resumed {
        std::uint64_t key = 0;

        friend bool operator==(const resumed&, const resumed&) = default;
    };

    /// The sender sends nothing more, not even of later inputs. Waiting items end as `unsent`, and
    /// batches that wait for a repetition as `in_doubt`. Attempts in flight still get their
    /// results.
    struct stopped {
        friend bool operator==(const stopped&, const stopped&) = default;
    };

    /// The caller takes back all items that are not settled or reported. They get no report, and
    /// results for attempts in flight are stale. Stopped keys are forgotten, too; what was learnt
    /// stays.
    struct discarded {
        friend bool operator==(const discarded&, const discarded&) = default;
    };

    /// An attempt is in flight; its result comes later.
    struct started {
        std::uint64_t attempt = 0;

        friend bool operator==(const started&, const started&) = default;
    };

    /// The broker accepted the whole batch.
    struct accepted {
        std::uint64_t attempt = 0;
        std::optional<std::uint64_t> actual{};  ///< Bytes of the batch as the broker counted.

        friend bool operator==(const accepted&, const accepted&) = default;
    };

    /// The batch was too large, and the broker accepted nothing of it. All numbers are optional.
    struct too_large {
        std::uint64_t attempt = 0;
        std::optional<std::uint64_t> actual{};  ///< Bytes of the batch as the broker counted.
        std::optional<std::uint64_t> limit{};   ///< The limit that the broker reported, in bytes.
        /// Bytes of each item, overhead included, in batch order.
        std::span<const std::uint64_t> item_sizes{};

        friend bool operator==(const too_large& a, const too_large& b)
        {
            return a.attempt == b.attempt && a.actual == b.actual && a.limit == b.limit &&
                   detail::same(a.item_sizes, b.item_sizes);
        }
    };

    /// The broker accepted nothing and requires a pause.
    struct throttled {
        std::uint64_t attempt = 0;
        duration retry_after{};  ///< Pause that the broker requires, or 0.
        /// Random value in [0, 1) for the jitter. The default 1 selects the longest pause.
        double random = 1.0;

        friend bool operator==(const throttled&, const throttled&) = default;
    };

    /// The broker accepted nothing, for a reason other than the size.
    struct failed {
        std::uint64_t attempt = 0;
        fault_kind kind = fault_kind::transient;
        std::string text{};  ///< The broker's text, for the report; not used by the sender.
        /// Random value in [0, 1) for the jitter. The default 1 selects the longest pause.
        double random = 1.0;

        friend bool operator==(const failed&, const failed&) = default;
    };

    /// The batch may or may not have arrived: a timeout, a broken connection.
    struct outcome_unknown {
        std::uint64_t attempt = 0;
        /// Random value in [0, 1) for the jitter. The default 1 selects the longest pause.
        double random = 1.0;

        friend bool operator==(const outcome_unknown&, const outcome_unknown&) = default;
    };

    struct entry_fault;
    struct partial;

    /// The outcome of these items has been recorded.
    struct reported {
        item_range items{};

        friend bool operator==(const reported&, const reported&) = default;
    };

    friend bool operator==(const batch_sender_types&, const batch_sender_types&) = default;
};

/// The broker accepted the batch except for these entries.
struct batch_sender_types::partial {
    std::uint64_t attempt = 0;
    /// The failed entries, in any order.
    std::span<const entry_fault> failed{};
    duration retry_after{};  ///< Pause that the broker requires, or 0.
    /// Random value in [0, 1) for the jitter. The default 1 selects the longest pause.
    double random = 1.0;

    friend bool operator==(const partial&, const partial&);
};

/// The outcome of one batch. `send_all` sets the attempt number. The array of a span
/// (`too_large::item_sizes`, `partial::failed`) must stay valid until the function is called again.
using send_outcome = variant<batch_sender_types::accepted, batch_sender_types::too_large,
                             batch_sender_types::partial, batch_sender_types::throttled,
                             batch_sender_types::failed, batch_sender_types::outcome_unknown>;

/// The answer for one entry of a batch, if it was not accepted. It says all that the answer for a
/// batch can; `attempt` and `random` are not used.
///
///     faults.push_back({3, outcome_of(wire::kinesis_errors, entry.code, entry.text)});
///
/// `failed` has the effect that it has for a batch, except that `infrastructure` uses up no
/// try. The kind `none` counts as `infrastructure`. `throttled` uses up no try either. `too_large`
/// ends it, or asks for a replacement. `outcome_unknown` is sent again in another batch, or ends as
/// `in_doubt`; so does `partial`.
struct batch_sender_types::entry_fault {
    std::uint64_t index = 0;  ///< Position in the batch, from 0.
    send_outcome answer = batch_sender_types::failed{};

    entry_fault() = default;
    entry_fault(std::uint64_t position, send_outcome a) : index(position), answer(std::move(a)) {}
    entry_fault(std::uint64_t position, fault_kind kind = fault_kind::transient)
        : index(position), answer(batch_sender_types::failed{.kind = kind})
    {
    }

    friend bool operator==(const entry_fault&, const entry_fault&) = default;
};

inline bool operator==(const batch_sender_types::partial& a, const batch_sender_types::partial& b)
{
    return a.attempt == b.attempt && a.retry_after == b.retry_after && a.random == b.random &&
           detail::same(a.failed, b.failed);
}

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SENDING_HPP
