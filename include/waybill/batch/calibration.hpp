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
// A batch is expected to take
//
//     envelope + ratio * bodies + header * items
//
// bytes, and is cut that far below the limit that most bytes go through a request (see overhead.hpp
// and normal.hpp): the more items vary, the farther.
//   - Any number that a broker gives is taken: the size of a refused batch or of an accepted one,
//     sizes of single items, the limit. One refusal with numbers is enough for headers that are
//     alike. A reported limit is ignored once a larger batch has been accepted. One above the known
//     limit is adopted if the refused batch was larger than it; else it is only probed for.
//   - A refusal that tells nothing says that the header is larger than believed, as long as nobody
//     has told sizes; then it says that the limit is lower, and the limit is searched between the
//     largest batch that was accepted and the smallest that was refused.
//   - Upward probes. After 32 accepted full batches the next one is cut larger. If a limit was
//     reported or searched, it is up to twice as large; else a sixteenth larger, because items may
//     have shrunk. The latter takes 512 batches if refusals report sizes, and is not needed if
//     acceptances do. At most one probe is in flight. After an accepted probe another one follows.
//     A refused probe doubles the number of batches before the next.
//   - The outcome of a batch that was cut before the last refusal may lower the limit further, but
//     never raises it.
//   - Batches that were closed for another reason than their bytes teach nothing about limits.
//   - A refused batch of one item teaches nothing: it is the item.
//
// All arithmetic is the library's own and deterministic; nothing here fails or depends on time.

#ifndef WAYBILL_BATCH_CALIBRATION_HPP
#define WAYBILL_BATCH_CALIBRATION_HPP

#include <cstdint>
#include <optional>

#include <waybill/batch/calibration_state.hpp>
#include <waybill/batch/normal.hpp>
#include <waybill/batch/overhead.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/wire/limits.hpp>

namespace waybill::inline v0_2 {

class calibration {
public:
    constexpr calibration() noexcept = default;

    /// Starts from the limits as documented and a guess of the bytes that an item has beyond its body.
    constexpr explicit calibration(const limits& l, std::uint64_t header = 0) noexcept
        : documented_(l.bytes),
          limit_(l.bytes),
          ceiling_(l.bytes),
          envelope_(l.envelope),
          items_(static_cast<double>(header))
    {
    }

    /// Goes on with what was known. What contradicts itself is forgotten.
    constexpr explicit calibration(const calibration_state& s) noexcept
        : documented_(s.documented),
          limit_(s.limit),
          ceiling_(s.ceiling < s.limit ? s.limit : s.ceiling),
          envelope_(s.envelope),
          items_(s.items),
          accepted_(s.accepted),
          refused_(s.refused),
          row_(s.row),
          probe_after_(s.probe_after < 32 ? 32 : s.probe_after),
          tells_(s.tells),
          refuted_(s.refuted)
    {
        if (refused_ <= accepted_ || refused_ < 2) forget_bracket();
        if (probe_after_ > 16'384) probe_after_ = 16'384;
    }

    /// All that is known, to be stored.
    [[nodiscard]] constexpr calibration_state state() const noexcept
    {
        return {documented_, limit_, ceiling_,     envelope_, items_.state(), accepted_,
                refused_,    row_,   probe_after_, tells_,    refuted_};
    }

    /// The same under the limits as they are documented now. Where those have changed, what was learnt
    /// about the limit is void, and what was learnt about items is not.
    [[nodiscard]] constexpr calibration under(const limits& l) const noexcept
    {
        if (documented_ == l.bytes) return *this;
        calibration c = *this;
        c.documented_ = c.limit_ = c.ceiling_ = l.bytes;
        c.row_ = 0;
        c.probe_after_ = 32;
        c.refuted_ = 0;
        c.forget_bracket();
        return c;
    }

    /// The limit as documented or as reported, whichever came last.
    [[nodiscard]] constexpr std::uint64_t limit() const noexcept { return limit_; }

    /// The highest limit that is known; higher than `limit()` where the broker told a lower one.
    [[nodiscard]] constexpr std::uint64_t ceiling() const noexcept { return ceiling_; }

    /// The estimated bytes of an item beyond its body, rounded up, where bodies are as large on the
    /// wire as they are.
    [[nodiscard]] constexpr std::uint64_t header() const noexcept
    {
        return whole(items_.state().header);
    }

    /// What items are estimated to have beyond their bodies.
    [[nodiscard]] constexpr const overhead& items() const noexcept { return items_; }

    /// The size that a batch is expected to have.
    [[nodiscard]] constexpr std::uint64_t predict(const batch_sizes& b) const noexcept
    {
        const std::uint64_t known = saturating_add(saturating_add(envelope_, b.exact), b.bodies);
        if (b.guessed == 0) return known;
        const double beyond = items_.mean(static_cast<double>(b.bodies),
                                          static_cast<double>(b.guessed));
        if (beyond >= 0) return saturating_add(known, whole(beyond));
        // Less than a 64th of a body is taken for a limit that is higher, not for an encoder.
        return saturating_sub(known, lesser(whole(-beyond), b.bodies - b.bodies / 64));
    }

    /// The bytes that the next batch may be expected to have, and its margin.
    [[nodiscard]] constexpr std::uint64_t budget() const noexcept
    {
        if (!probing()) return believed_limit();
        if (limit_ < ceiling_) return lesser(ceiling_, saturating_add(limit_, reach(limit_)));
        if (refused_ == unlimited) return saturating_add(limit_, reach(limit_ / 16));
        // Up to twice as much, and half of that the next time if it was refused.
        const std::uint64_t now = believed_limit();
        std::uint64_t more = lesser(limit_ - now, now);
        for (std::uint32_t n = probe_after_; n > 32; n /= 2) more /= 2;
        return lesser(limit_, saturating_add(now, reach(more > now / 32 ? more : now / 32 + 1)));
    }

    /// The bytes to stay below the budget with such a batch, as its size is not certain.
    [[nodiscard]] constexpr std::uint64_t margin(const batch_sizes& b) const noexcept
    {
        if (b.guessed == 0 && b.told == 0) return 0;
        return margin_of(spread_of(b));
    }

    /// The most that the margin can be of any batch that has `from` in it and is in `to`.
    [[nodiscard]] constexpr std::uint64_t widest_margin(const batch_sizes& from,
                                                        const batch_sizes& to) const noexcept
    {
        // The margin grows with the deviation up to 0.24 of the budget, and falls behind that.
        const double most = 0.24 * static_cast<double>(budget());
        const double spread = detail::root(items_.widest_variance(
            static_cast<double>(from.bodies), static_cast<double>(to.bodies),
            static_cast<double>(from.guessed), static_cast<double>(to.guessed),
            static_cast<double>(to.told), doubt_counts()));
        return spread < most ? margin_of(spread) : highest_size;
    }

    /// Whether a batch of this should be sent as one.
    [[nodiscard]] constexpr bool fits(const batch_sizes& b) const noexcept
    {
        const std::uint64_t size = predict(b);
        return size <= budget() && size != highest_size &&
               saturating_add(size, margin(b)) <= budget();
    }

    /// The knowledge that the next batch is cut with: `probe` or `latest`.
    [[nodiscard]] constexpr cut_with next_cut() const noexcept
    {
        return probing() ? cut_with::probe : cut_with::latest;
    }

    /// While `on`, no probe is cut, because one is in flight. Not part of `state()`.
    constexpr void hold_probes(bool on) noexcept { held_ = on; }

    /// A batch was accepted; `actual` is its size as the broker counted it, where it says so. It was
    /// `full` where another item would have been too many bytes.
    constexpr void accepted(const batch_sizes& b, std::optional<std::uint64_t> actual,
                            bool full) noexcept
    {
        accepted(b, actual, full, next_cut());
    }
    constexpr void accepted(const batch_sizes& b, std::optional<std::uint64_t> actual, bool full,
                            cut_with cut) noexcept
    {
        const bool probe = full && cut == cut_with::probe;
        const bool vain = probe && predict(b) <= believed_limit();
        const std::uint64_t counted = told(actual);
        if (counted != 0) {
            tells_ = broker_tells::sizes;
            // A refusal was of a size that was expected, and this says how good that is.
            const std::uint64_t guess = predict(b);
            const std::uint64_t off = guess < counted ? counted - guess : guess - counted;
            if (b.guessed != 0 && off > counted / 16) refused_ = unlimited;
            items_.observe(static_cast<double>(b.bodies), static_cast<double>(b.guessed),
                           static_cast<double>(b.told), beyond_bodies(b, counted));
        } else if ((full || unlikely(b)) && limit_ != unlimited) {
            items_.bounded(static_cast<double>(b.bodies), static_cast<double>(b.guessed),
                           static_cast<double>(b.told),
                           beyond_bodies(b, probe ? ceiling_ : limit_), false);
        }
        if (cut == cut_with::older) return;
        const bool told_lower = limit_ < ceiling_;
        const std::uint64_t size = counted != 0 ? counted : predict(b);
        raise(b, size, counted != 0, probe);
        if (size > accepted_) accepted_ = lesser(size, unlimited - 1);
        if (accepted_ >= refused_) {  // the limit has been raised: who knows how far
            refused_ = saturating_add(accepted_, accepted_ / 64 + 1);
            if (refused_ > limit_) refused_ = unlimited;
            if (probe) probe_after_ = 32;
        }
        const bool doubted = limit_in_doubt() || refused_ != unlimited ||
                             (b.guessed != 0 && !items_.believed());
        if (full && doubted) count_full(b, probe, vain || (probe && told_lower));
    }

    /// The broker reported one size for the items of `b` and `others` more items. The batch was
    /// `less` bytes smaller than its share of that size, so the others are `less` bytes larger.
    constexpr void shared(const batch_sizes& b, double less, std::uint64_t others) noexcept
    {
        items_.shared(static_cast<double>(b.told), less, static_cast<double>(others));
    }

    /// A batch was refused for its size, with whatever numbers the broker gave.
    constexpr void refused(const batch_sizes& b, std::optional<std::uint64_t> actual,
                           std::optional<std::uint64_t> limit,
                           const item_samples& samples = {}) noexcept
    {
        refused(b, actual, limit, samples, next_cut());
    }
    constexpr void refused(const batch_sizes& b, std::optional<std::uint64_t> actual,
                           std::optional<std::uint64_t> limit, const item_samples& samples,
                           cut_with cut) noexcept
    {
        if (b.items < 2) return;
        const std::uint64_t predicted = predict(b);
        const bool older = cut == cut_with::older;
        const bool probe = cut == cut_with::probe;
        if (probe) {
            row_ = 0;
            if (probe_after_ < 16'384) probe_after_ *= 2;
        }
        // A size within the reported limit does not explain the refusal: both are ignored (0). A
        // limit that is not believed still serves as a guess in lower().
        std::uint64_t size = told(actual);
        std::uint64_t most = told(limit);
        if (size != 0 && size <= most) size = most = 0;
        const std::uint64_t reported = most;
        if (!believe(most, size != 0 || predicted > most, older)) most = 0;
        if (samples.n > 1 || size != 0) {
            learn_sizes(b, size, samples, reported, most != 0);
        } else if (older && predicted > believed_limit()) {
            return;  // known to be too large since
        } else if (most == 0 || predicted <= limit_) {
            learn_excess(b, predicted, reported, probe);
        }
    }

    friend bool operator==(const calibration&, const calibration&) = default;

private:
    /// A number that was told; 0 where it was none, or one that nobody can mean.
    [[nodiscard]] static constexpr std::uint64_t told(std::optional<std::uint64_t> n) noexcept
    {
        const std::uint64_t size = n.value_or(0);
        return size == highest_size ? 0 : size;
    }

    [[nodiscard]] static constexpr std::uint64_t whole(double x) noexcept
    {
        if (!(x > 0)) return 0;
        if (x >= 18'446'744'073'709'549'568.0) return highest_size;
        const auto n = static_cast<std::uint64_t>(x);
        return static_cast<double>(n) < x ? n + 1 : n;
    }

    /// Of what a batch has beyond its bodies; the doubt about the mean counts so many times.
    [[nodiscard]] constexpr double variance(const batch_sizes& b, double doubt) const noexcept
    {
        return items_.variance(static_cast<double>(b.bodies), static_cast<double>(b.guessed),
                               static_cast<double>(b.told), doubt);
    }

    /// The standard deviation that counts. The less a broker tells, the less a doubt about the mean is
    /// worth a margin: it is to be tried.
    [[nodiscard]] constexpr double spread_of(const batch_sizes& b) const noexcept
    {
        return detail::root(variance(b, doubt_counts()));
    }
    [[nodiscard]] constexpr double doubt_counts() const noexcept
    {
        return tells_ == broker_tells::sizes ? 1 : tells_ == broker_tells::refusals ? 0.5 : 0.25;
    }

    // The formula counts bytes alone. A refusal is also a thing that people look at.
    [[nodiscard]] constexpr std::uint64_t margin_of(double spread) const noexcept
    {
        const double part = spread / static_cast<double>(budget());
        return whole(1.25 * spread * detail::best_distance(part));
    }

    /// A single item that would fit by its body, but for what it is said to have beyond that; unless
    /// it may have been the limit that was raised.
    [[nodiscard]] constexpr bool unlikely(const batch_sizes& b) const noexcept
    {
        return b.guessed == 1 && b.items == 1 && limit_ == ceiling_ && predict(b) > limit_ &&
               saturating_add(envelope_, b.bodies) <= limit_;
    }

    /// What is left of a size for the overhead of guessed items.
    [[nodiscard]] constexpr double beyond_bodies(const batch_sizes& b, std::uint64_t size) const
    {
        return static_cast<double>(size) - static_cast<double>(envelope_) -
               static_cast<double>(b.exact) - static_cast<double>(b.bodies);
    }

    [[nodiscard]] constexpr bool probing() const noexcept
    {
        return !held_ && row_ >= patience() &&
               (limit_in_doubt() || refused_ != unlimited || tells_ != broker_tells::sizes);
    }

    /// Whether the limit is below the highest known one, or above the documented one.
    [[nodiscard]] constexpr bool limit_in_doubt() const noexcept
    {
        return limit_ < ceiling_ || limit_ > documented_;
    }

    /// How far a probe goes: twice as far for each that was in vain.
    [[nodiscard]] constexpr std::uint64_t reach(std::uint64_t step) const noexcept
    {
        const std::uint64_t further = saturating_sub(row_, patience());
        return saturating_mul(step, std::uint64_t{1} << lesser(further, 6));
    }

    /// How many full batches it takes to the next probe. What was told is rarely wrong.
    [[nodiscard]] constexpr std::uint32_t patience() const noexcept
    {
        const bool told = tells_ == broker_tells::refusals && !limit_in_doubt();
        return told && refused_ == unlimited ? 16 * probe_after_ : probe_after_;
    }

    /// The most that is believed to go through.
    [[nodiscard]] constexpr std::uint64_t believed_limit() const noexcept
    {
        if (refused_ == unlimited) return limit_;
        const std::uint64_t gap = refused_ - accepted_;
        if (gap > refused_ / 64 + 1) return lesser(limit_, accepted_ + gap / 2);
        return lesser(limit_, accepted_ == 0 ? refused_ - 1 : accepted_);
    }

    /// A refusal with the size of the batch, or of its items.
    constexpr void learn_sizes(const batch_sizes& b, std::uint64_t size, const item_samples& samples,
                               std::uint64_t reported, bool believed) noexcept
    {
        if (tells_ == broker_tells::nothing) tells_ = broker_tells::refusals;
        const bool known = size != 0;
        if (samples.n > 1) {
            items_.sampled(samples);
            if (envelope_ == 0) envelope_ = lesser(64, limit_ / 2'048);
            if (!known) size = predict(b);
        } else {
            items_.observe(static_cast<double>(b.bodies), static_cast<double>(b.guessed),
                           static_cast<double>(b.told), beyond_bodies(b, size));
        }
        if (believed || size > limit_) return;
        // Item sizes exclude the envelope, so a sum just below the limit means a larger envelope.
        if (!known && size > limit_ - limit_ / 64) {
            envelope_ = saturating_add(envelope_, saturating_add(limit_ - size, 64));
        } else {
            lower(size, reported);
        }
    }

    /// A refusal without sizes: items are larger than predicted, or the limit is lower.
    constexpr void learn_excess(const batch_sizes& b, std::uint64_t predicted,
                                std::uint64_t reported, bool probe) noexcept
    {
        if (limit_ == unlimited || b.guessed == 0 || tells_ == broker_tells::sizes ||
            refused_ != unlimited) {
            return lower(predicted, reported);
        }
        if (probe) return;
        items_.bounded(static_cast<double>(b.bodies), static_cast<double>(b.guessed),
                       static_cast<double>(b.told), beyond_bodies(b, limit_), true);
        // More overhead than the bodies and 64 bytes an item is implausible: the limit is lower.
        const double bodies = static_cast<double>(b.bodies);
        const double items = static_cast<double>(b.guessed);
        if (items_.mean(bodies, items) < bodies + 64 * items) return;
        items_ = overhead();
        accepted_ = 0;
        lower(predict(b), reported);
    }

    /// Counts an accepted full batch towards the next probe. After an accepted probe another one
    /// follows. `longer` doubles its reach, because the last one may not have exceeded the limit.
    constexpr void count_full(const batch_sizes& b, bool probe, bool longer) noexcept
    {
        if (longer && row_ < patience() + 6) ++row_;
        if (probe || row_ >= patience()) return;
        // If refusals report sizes but the mean is in doubt by a sixteenth of the limit, count 32.
        const double far = static_cast<double>(limit_) / 16;
        const double doubt = variance(b, 1) - variance(b, 0);
        row_ += tells_ == broker_tells::refusals && doubt > far * far ? 32U : 1U;
    }

    /// Adopts a reported limit. False if it is 0, refuted by an accepted batch, or above the known
    /// limit without explaining the refusal.
    constexpr bool believe(std::uint64_t limit, bool explains, bool older) noexcept
    {
        if (limit <= refuted_) return false;
        if (limit > ceiling_) ceiling_ = limit;
        if (limit > limit_ && !explains) return false;
        if (limit == limit_ || (older && limit > limit_)) return true;
        row_ = 0;
        const std::uint64_t off = limit < limit_ ? limit_ - limit : limit - limit_;
        if (off > limit / 16) probe_after_ = 32;  // a smaller change may be a limit that varies
        limit_ = limit;
        forget_bracket();
        return true;
    }

    /// A batch of that size was accepted. It refutes a lower reported limit if the size is certain:
    /// reported, or that of the bodies alone. An accepted probe for the highest known limit, or of
    /// the largest reach, raises the limit, too.
    constexpr void raise(const batch_sizes& b, std::uint64_t size, bool counted, bool probe) noexcept
    {
        if (size <= limit_) return;
        const bool certain = counted || tells_ != broker_tells::nothing;
        if (limit_ == ceiling_) {
            if (certain) limit_ = ceiling_ = size;
            return;
        }
        const std::uint64_t bodies = saturating_add(saturating_add(envelope_, b.exact), b.bodies);
        const bool refutes = (certain ? size : lesser(size, bodies)) > limit_;
        const std::uint64_t most = saturating_add(limit_, reach(limit_));
        const bool highest = probe && (most >= ceiling_ || row_ >= patience() + 6);
        if (!refutes && !highest) return;
        if (refutes && limit_ > refuted_) refuted_ = limit_;
        if (counted && size > ceiling_) ceiling_ = size;
        limit_ = ceiling_;
    }

    /// Batches of that size are refused. If a batch as large was accepted before, the limit was
    /// lowered. The search then begins at `reported`, or at 0 if that is not smaller.
    constexpr void lower(std::uint64_t size, std::uint64_t reported) noexcept
    {
        if (size < 2) return;
        if (row_ > 32) row_ = 32;
        refused_ = lesser(refused_, size);
        if (refused_ <= accepted_) accepted_ = reported < refused_ ? reported : 0;
    }

    constexpr void forget_bracket() noexcept
    {
        accepted_ = 0;
        refused_ = unlimited;
    }

    std::uint64_t documented_ = unlimited;
    std::uint64_t limit_ = unlimited;
    std::uint64_t ceiling_ = unlimited;
    std::uint64_t envelope_ = 0;
    overhead items_;
    std::uint64_t accepted_ = 0;
    std::uint64_t refused_ = unlimited;
    std::uint32_t row_ = 0;
    std::uint32_t probe_after_ = 32;
    broker_tells tells_ = broker_tells::nothing;
    std::uint64_t refuted_ = 0;
    bool held_ = false;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_BATCH_CALIBRATION_HPP
