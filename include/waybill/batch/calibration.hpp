// SPDX-License-Identifier: MIT
//
// calibration: what has been learnt about the sizes that a destination counts.
//
// The caller knows bodies; the broker counts headers, too, and its limit may not be the one that the
// manual names. What the answers taught is a value apart from any run: copy it, keep it for the next
// run, keep one for each destination.
//
//     waybill::sender next{policy, last.learnt()};       // goes on with what is known
//
// The model is bytes(batch) = envelope + sum of bodies + header * items, held against a budget.
//   - A refusal that tells its numbers corrects the header and the limit by them.
//   - One that tells nothing is an upper end; the largest accepted batch is a lower one; the budget
//     is half-way between until they are within 1/64 of each other.
//   - A refused batch of one item teaches nothing: it is the item, and what the batches taught that
//     were refused because of it is forgotten.
//
// This is the seam for better learning: the sender knows only what is public here.

#ifndef WAYBILL_BATCH_CALIBRATION_HPP
#define WAYBILL_BATCH_CALIBRATION_HPP

#include <cstdint>
#include <optional>

#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_1 {

/// What a batch is made of, as far as the sender knows.
struct batch_sizes {
    std::uint64_t bodies = 0;   ///< Bytes of items whose header is estimated.
    std::uint64_t guessed = 0;  ///< How many those are.
    std::uint64_t exact = 0;    ///< Bytes of items whose whole size a broker has told.
    std::uint64_t items = 0;    ///< All items.

    friend bool operator==(const batch_sizes&, const batch_sizes&) = default;
};

/// What is known, in terms of the destination and not of how it was found out: to be stored, and
/// understood by a later version that learns in another way. Sizes are those of whole batches.
struct calibration_state {
    std::uint64_t limit = unlimited;  ///< As documented, or as the broker reported it.
    std::uint64_t envelope = 0;       ///< Bytes of a batch before its first item.
    std::uint64_t header = 0;         ///< Estimated bytes of an item beyond its body.
    std::uint64_t accepted = 0;  ///< The largest size that went through since the last surprise.
    std::uint64_t refused = unlimited;  ///< The smallest that did not.

    friend bool operator==(const calibration_state&, const calibration_state&) = default;
};

class calibration {
public:
    constexpr calibration() noexcept = default;

    /// Starts from the limits as documented and a guess of the bytes that an item has beyond its body.
    constexpr explicit calibration(const limits& l, std::uint64_t header = 0) noexcept
        : limit_(l.bytes), envelope_(l.envelope), header_(header)
    {
    }

    /// Goes on with what was known. A bracket that contradicts itself is forgotten.
    constexpr explicit calibration(const calibration_state& known) noexcept
        : limit_(known.limit),
          envelope_(known.envelope),
          header_(known.header),
          accepted_(known.accepted),
          refused_(known.refused)
    {
        if (refused_ <= accepted_) forget_bracket();
    }

    /// All that is known, to be stored.
    [[nodiscard]] constexpr calibration_state state() const noexcept
    {
        return {limit_, envelope_, header_, accepted_, refused_};
    }

    /// Most bytes that the next batch should take by this model's own counting.
    [[nodiscard]] constexpr std::uint64_t budget() const noexcept
    {
        if (refused_ == unlimited) return limit_;
        const std::uint64_t gap = refused_ - accepted_;
        if (gap > refused_ / 64 + 1) return lesser(limit_, accepted_ + gap / 2);
        return lesser(limit_, accepted_ == 0 ? refused_ - 1 : accepted_);
    }

    /// The limit as documented or as reported, whichever came last.
    [[nodiscard]] constexpr std::uint64_t limit() const noexcept { return limit_; }

    /// The estimated bytes of an item beyond its body.
    [[nodiscard]] constexpr std::uint64_t header() const noexcept { return header_; }

    [[nodiscard]] constexpr std::uint64_t predict(const batch_sizes& b) const noexcept
    {
        const std::uint64_t headers = saturating_mul(header_, b.guessed);
        return saturating_add(saturating_add(envelope_, b.exact),
                              saturating_add(b.bodies, headers));
    }

    /// A batch was accepted; `actual` is its size as the broker counted it, where it says so.
    constexpr void accepted(const batch_sizes& b, std::optional<std::uint64_t> actual) noexcept
    {
        if (actual && b.guessed != 0) {
            const std::uint64_t predicted = predict(b);
            if (*actual > predicted) {
                raise_header(*actual - predicted, b.guessed);
            } else {
                header_ -= lesser(header_, (predicted - *actual) / b.guessed / 8);
            }
        }
        const std::uint64_t size = actual.value_or(predict(b));
        if (size > accepted_) accepted_ = lesser(size, unlimited - 1);
        if (accepted_ >= refused_) refused_ = unlimited;  // the limit has been raised
    }

    /// A batch was refused for its size, with whatever numbers the broker gave.
    constexpr void refused(const batch_sizes& b, std::optional<std::uint64_t> actual,
                           std::optional<std::uint64_t> limit) noexcept
    {
        if (b.items < 2) {
            // It is the item, not the limit: what was learnt while it was searched for is wrong.
            if (predict(b) <= limit_) refused_ = unlimited;
            return;
        }
        if (limit && *limit != 0 && !(actual && *actual <= *limit)) {
            limit_ = *limit;
            forget_bracket();
        }
        const std::uint64_t predicted = predict(b);
        const bool told = actual && *actual > predicted && b.guessed != 0;
        if (told) {
            raise_header(*actual - predicted, b.guessed);
            forget_bracket();
        }
        const std::uint64_t size = predict(b);
        if ((limit || told) && size > limit_) return;  // the numbers explain the refusal
        if (size == 0) return;
        refused_ = lesser(refused_, size);
        if (refused_ <= accepted_) accepted_ = 0;  // the limit has been lowered
    }

    friend bool operator==(const calibration&, const calibration&) = default;

private:
    constexpr void raise_header(std::uint64_t missing, std::uint64_t items) noexcept
    {
        header_ = saturating_add(header_, missing / items + (missing % items != 0 ? 1 : 0));
    }

    constexpr void forget_bracket() noexcept
    {
        accepted_ = 0;
        refused_ = unlimited;
    }

    std::uint64_t limit_ = unlimited;
    std::uint64_t envelope_ = 0;
    std::uint64_t header_ = 0;
    std::uint64_t accepted_ = 0;         // the largest size that went through
    std::uint64_t refused_ = unlimited;  // the smallest that did not
};

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_BATCH_CALIBRATION_HPP
