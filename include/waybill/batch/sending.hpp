// SPDX-License-Identifier: MIT
//
// sending: the words between a sender and whoever moves its bytes.
//
// Items are numbers, 0, 1, 2 ... in the order in which they were queued. A batch is a list of runs of
// consecutive numbers, since after a partial failure there are gaps. Events are what the broker
// answered, always about one attempt.

#ifndef WAYBILL_BATCH_SENDING_HPP
#define WAYBILL_BATCH_SENDING_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <waybill/batch/closed_by.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_2 {

/// Consecutive items.
struct run {
    std::uint64_t first = 0;
    std::uint64_t count = 0;

    [[nodiscard]] constexpr std::uint64_t end() const noexcept { return first + count; }
    friend bool operator==(const run&, const run&) = default;
};

/// The runs of one batch, in ascending order; a view into the machine. Good until its next event, and
/// from `started` on until the attempt is answered.
class runs {
public:
    constexpr runs() noexcept = default;
    constexpr runs(const run* first, std::size_t size) noexcept : first_(first), size_(size) {}

    [[nodiscard]] constexpr const run* begin() const noexcept { return first_; }
    [[nodiscard]] constexpr const run* end() const noexcept { return first_ + size_; }
    [[nodiscard]] constexpr std::size_t size() const noexcept { return size_; }
    [[nodiscard]] constexpr const run& front() const noexcept { return *first_; }

    /// How many items the runs have together.
    [[nodiscard]] constexpr std::uint64_t items() const noexcept
    {
        std::uint64_t n = 0;
        for (const run& r : *this) n += r.count;
        return n;
    }

    friend constexpr bool operator==(const runs& a, const runs& b) noexcept
    {
        if (a.size_ != b.size_) return false;
        for (std::size_t i = 0; i < a.size_; ++i) {
            if (!(a.first_[i] == b.first_[i])) return false;
        }
        return true;
    }

private:
    const run* first_ = nullptr;
    std::size_t size_ = 0;
};

/// How an item ended. Every item ends in exactly one of these.
enum class item_outcome : std::uint8_t {
    accepted,   ///< The broker has it.
    too_large,  ///< It does not fit into a batch of its own.
    failed,     ///< Refused for good, or tried as often as the policy allows.
    undecided,  ///< Sent, but nobody knows whether it arrived. Repeating it may double it.
    unsent,     ///< The sender was stopped first. It has not arrived.
    held_back,  ///< An earlier item of its key did not arrive, so it was not sent.
};

[[nodiscard]] constexpr std::string_view name(item_outcome o) noexcept
{
    switch (o) {
        case item_outcome::accepted: return "accepted";
        case item_outcome::too_large: return "too_large";
        case item_outcome::failed: return "failed";
        case item_outcome::undecided: return "undecided";
        case item_outcome::unsent: return "unsent";
        case item_outcome::held_back: return "held_back";
    }
    return "?";
}

namespace act {

/// Send these items as one batch. Tell `started` before anything else if the answer comes later.
/// An attempt that is asked for twice is the identical batch again: its first outcome is unknown.
struct send {
    std::uint64_t attempt = 0;  ///< Its number; the same again only when the batch is repeated.
    runs items{};
    std::uint64_t bytes = 0;  ///< As far as is known, envelope and estimated headers included.
    closed_by closed = closed_by::end;

    friend bool operator==(const send&, const send&) = default;
};

/// These items have come to an end. Tell `settled` once it is noted.
struct settle {
    run items{};
    item_outcome outcome = item_outcome::accepted;
    fault_class how = fault_class::none;  ///< Where the outcome is `failed`: the last failure.
    std::uint64_t bytes = 0;              ///< Where it is `too_large`: its size as far as is known,
    std::uint64_t limit = 0;              ///< what it was held against,
    std::uint64_t envelope = 0;           ///< and what of the size is not the item.

    friend bool operator==(const settle&, const settle&) = default;
};

/// This item fits into no batch, and a smaller one is wanted in its place: store it elsewhere and
/// tell `replaced` with the size of the reference, or `kept` where that cannot be.
struct replace {
    std::uint64_t item = 0;
    std::uint64_t bytes = 0;     ///< Of a batch of this one, or of the item where that is limited,
    std::uint64_t limit = 0;     ///< what that was held against,
    std::uint64_t envelope = 0;  ///< and what of it is not the item.

    friend bool operator==(const replace&, const replace&) = default;
};

}  // namespace act

/// An input begins: its items are numbered on from here. For drivers that can be called again.
struct opened {
    friend bool operator==(const opened&, const opened&) = default;
};

/// All items of the input are settled.
struct closed {
    friend bool operator==(const closed&, const closed&) = default;
};

/// One more item, of so many bytes without what the broker adds. A negative size reads as too large.
/// The key is a number for its session or partition: it counts where the policy says so.
struct queued {
    std::uint64_t bytes = 0;
    std::uint64_t key = 0;

    constexpr queued() noexcept = default;
    template <countable N>
    constexpr explicit queued(N size, std::uint64_t key_ = 0) noexcept
        : bytes(as_size(size)), key(key_)
    {
    }

    friend bool operator==(const queued&, const queued&) = default;
};

/// What is queued now need not wait for a batch to fill.
struct flushed {
    friend bool operator==(const flushed&, const flushed&) = default;
};

/// In the place of this item there is now another, of so many bytes. It is measured as the first
/// was, and replaced once at most.
struct replaced {
    std::uint64_t item = 0;
    std::uint64_t bytes = 0;

    friend bool operator==(const replaced&, const replaced&) = default;
};

/// This item stays as it is, and ends as `too_large`.
struct kept {
    std::uint64_t item = 0;

    friend bool operator==(const kept&, const kept&) = default;
};

/// Items of this key that are queued from now on may be sent again, after one of them has failed.
struct resumed {
    std::uint64_t key = 0;

    friend bool operator==(const resumed&, const resumed&) = default;
};

/// No more is to be sent. What has not been sent ends as `unsent`; attempts on their way are awaited.
struct stopped {
    friend bool operator==(const stopped&, const stopped&) = default;
};

/// An attempt is on its way and its answer comes later.
struct started {
    std::uint64_t attempt = 0;

    friend bool operator==(const started&, const started&) = default;
};

/// The broker has all of it; with the size that it counted, where it says so.
struct accepted {
    std::uint64_t attempt = 0;
    std::optional<std::uint64_t> actual{};

    friend bool operator==(const accepted&, const accepted&) = default;
};

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

/// Too large, and nothing of it was taken. Whatever numbers the broker gave help.
struct refused {
    std::uint64_t attempt = 0;
    std::optional<std::uint64_t> actual{};        ///< Bytes of the batch as the broker counted.
    std::optional<std::uint64_t> limit{};         ///< The limit that it named.
    std::span<const std::uint64_t> item_sizes{};  ///< Whole size of each item, in batch order.

    friend bool operator==(const refused& a, const refused& b)
    {
        return a.attempt == b.attempt && a.actual == b.actual && a.limit == b.limit &&
               detail::same(a.item_sizes, b.item_sizes);
    }
};

/// Which entry of a batch failed, and how.
struct entry_fault {
    std::uint64_t index = 0;  ///< Its place in the batch, the first being 0.
    fault_class how = fault_class::transient;

    friend bool operator==(const entry_fault&, const entry_fault&) = default;
};

/// Taken but for these entries.
struct partial {
    std::uint64_t attempt = 0;
    std::span<const entry_fault> failed{};
    duration retry_after{};
    double draw = 1.0;

    friend bool operator==(const partial& a, const partial& b)
    {
        return a.attempt == b.attempt && a.retry_after == b.retry_after && a.draw == b.draw &&
               detail::same(a.failed, b.failed);
    }
};

/// Nothing was taken, as the broker wants to be left alone for a while.
struct throttled {
    std::uint64_t attempt = 0;
    duration retry_after{};
    double draw = 1.0;  ///< In [0, 1): spreads the pause; 1 takes all of it.

    friend bool operator==(const throttled&, const throttled&) = default;
};

/// Nothing was taken, for another reason than its size.
struct failed {
    std::uint64_t attempt = 0;
    fault_class how = fault_class::transient;
    std::string text{};  ///< In the broker's words, for the report; the sender does not look at it.
    double draw = 1.0;

    friend bool operator==(const failed&, const failed&) = default;
};

/// It may or may not have arrived: a timeout, a broken connection.
struct unknown {
    std::uint64_t attempt = 0;
    double draw = 1.0;

    friend bool operator==(const unknown&, const unknown&) = default;
};

/// The outcome of these items has been noted.
struct settled {
    run items{};

    friend bool operator==(const settled&, const settled&) = default;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_SENDING_HPP
