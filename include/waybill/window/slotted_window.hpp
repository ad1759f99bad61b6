// SPDX-License-Identifier: MIT
//
// slotted_window: quantiles of the last hour, where an hour is more samples than one would keep.
//
//     waybill::slotted_window<waybill::log_histogram<>> latency{{.span = 1h, .width = 1min}};
//     latency.insert(at, value, now);
//     std::optional<double> p99 = latency.quantile(0.99, now);
//     auto s = latency.query(now);                    // all of it at once: s.quantile(0.5), ...
//
// No sketch can forget a single value. So time is cut into slots of one width, each with a sketch
// of its own, and an answer is that of all slots merged that the window touches. It is that
// precise and no more:
//   1. all samples in (now - span, now] are counted, and besides them some of less than a width
//      on either side: those that left the window while their slot has not, and those dated after
//      now in the slot of now. Slots end at whole multiples of the width since the epoch, and an
//      end belongs to its slot: asked at such a time, with a span of whole widths, it is exactly
//      the window;
//   2. an answer is never stale: slots that are out of the window are in none, whenever the last
//      sample came. The latest time that was told counts, and one that goes back changes nothing;
//   3. a sample whose slot is out of the window is not taken, and neither is one that is ahead of
//      now by more than a slot; in the next slot it waits for its time. What is not taken is
//      counted by reason;
//   4. a sample costs one `add`, however long nothing has come; an answer costs one `merge` a
//      slot. What the slots allocate they keep for the samples of later ones.
//
// The answer is as good as the sketch: see log_histogram.hpp for one, quantile.hpp for what one
// needs.
// A value without locks: one thread at a time.

#ifndef WAYBILL_WINDOW_SLOTTED_WINDOW_HPP
#define WAYBILL_WINDOW_SLOTTED_WINDOW_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/core/check.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/quantile.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/window_options.hpp>

namespace waybill::inline v0_2 {

/// How time is cut. A plain value; `check` finds what cannot work.
struct slot_options {
    duration span = duration::seconds(3'600);  ///< Samples older than this are not in an answer.
    duration width = duration::seconds(60);    ///< Of a slot.

    friend bool operator==(const slot_options&, const slot_options&) = default;
};

/// More slots than this no window has.
inline constexpr std::uint64_t most_slots = 65'536;

[[nodiscard]] constexpr std::optional<config_error> check(const slot_options& o) noexcept
{
    if (o.span <= duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.span.count());
        return config_error{"span", ns, "nanoseconds must be more than", 0, o.span < duration{}};
    }
    if (o.width <= duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.width.count());
        return config_error{"width", ns, "nanoseconds must be more than", 0, o.width < duration{}};
    }
    const auto span = static_cast<std::uint64_t>(o.span.count());
    const auto width = static_cast<std::uint64_t>(o.width.count());
    if (span < width) {
        return config_error{"width", width, "nanoseconds must be at most the span, which is", span};
    }
    if (const std::uint64_t fewest = (span - 1) / most_slots + 1; width < fewest) {
        return config_error{"width", width, "nanoseconds must, for this span, be at least", fewest};
    }
    return {};
}

template <quantile_sketch Sketch, class Time = wall_time>
class slotted_window {
public:
    using time_type = Time;
    using sketch_type = Sketch;

    /// With options that `check` would refuse, slots are made wider or narrower until they will do.
    /// Every slot begins as a copy of `empty`.
    explicit slotted_window(const slot_options& o = {}, const Sketch& empty = Sketch())
        : options_(o), empty_(empty)
    {
        const duration one = duration::nanoseconds(1);
        options_.span = greater(options_.span, one);
        const std::int64_t span = options_.span.count();
        const std::int64_t fewest = (span - 1) / static_cast<std::int64_t>(most_slots) + 1;
        options_.width = greater(options_.width, duration::nanoseconds(fewest));
        options_.width = lesser(options_.width, options_.span);
        // As many as a window may touch, and the one after that of now.
        const std::int64_t slots = (span - 1) / options_.width.count() + 3;
        slots_.resize(static_cast<std::size_t>(slots), slot{0, false, empty_});
    }

    slotted_window(const slotted_window&) = default;
    slotted_window& operator=(const slotted_window& o) { return *this = slotted_window(o); }
    ~slotted_window() = default;

    /// What was moved from has no slots, and so no sample is of its time.
    slotted_window(slotted_window&&) = default;
    slotted_window& operator=(slotted_window&&) = default;

    /// Takes a sample.
    inserted insert(Time at, double value, Time now)
    {
        return put(at, value, 1, now, [&](Sketch& s) { s.add(value); });
    }
    inserted insert(Time at, double value, std::uint64_t weight, Time now)
        requires weighted_sketch<Sketch>
    {
        return put(at, value, weight, now, [&](Sketch& s) { s.add(value, weight); });
    }

    /// Tells the time. An earlier one than was told before is not believed.
    void advance(Time now)
    {
        if (!clock_ || *clock_ < now) clock_ = now;
    }

    /// The sketch of the window, as precise as slots are.
    [[nodiscard]] Sketch query(Time now)
    {
        advance(now);
        Sketch all = empty_;
        const auto take = [&](std::int64_t number) {
            const slot& s = slots_[place_of(number)];
            if (s.used && s.number == number) all.merge(s.sketch);
        };
        if (slots_.empty()) return all;
        const std::int64_t newest = slot_of(*clock_);
        for (std::int64_t n = oldest(); n < newest; ++n) take(n);
        take(newest);
        return all;
    }
    [[nodiscard]] std::optional<double> quantile(double q, Time now)
    {
        Sketch all = query(now);
        return all.quantile(q);
    }

    /// The latest time that was told.
    [[nodiscard]] std::optional<Time> clock() const noexcept { return clock_; }
    [[nodiscard]] const slot_options& options() const noexcept { return options_; }
    /// How many samples were not taken, and why.
    [[nodiscard]] const window_losses& losses() const noexcept { return losses_; }

    friend bool operator==(const slotted_window&, const slotted_window&) = default;

private:
    struct slot {
        std::int64_t number;
        bool used;
        Sketch sketch;

        friend bool operator==(const slot&, const slot&) = default;
    };

    /// Slot n is (n * width - width, n * width].
    [[nodiscard]] std::int64_t slot_of(Time t) const noexcept
    {
        const std::int64_t ns = t.since_epoch().count();
        const std::int64_t width = options_.width.count();
        return ns / width + (ns % width > 0 ? 1 : 0);
    }

    /// The oldest one that the window touches. The end of it that is open is in the one before.
    [[nodiscard]] std::int64_t oldest() const noexcept
    {
        return slot_of(*clock_ - options_.span + duration::nanoseconds(1));
    }

    [[nodiscard]] std::size_t place_of(std::int64_t number) const noexcept
    {
        const auto slots = static_cast<std::int64_t>(slots_.size());
        const std::int64_t rest = number % slots;
        return static_cast<std::size_t>(rest < 0 ? rest + slots : rest);
    }

    template <class F>
    inserted put(Time at, double value, std::uint64_t weight, Time now, F add)
    {
        advance(now);
        if (!is_finite(value)) {
            ++losses_.not_finite;
            return inserted::not_finite;
        }
        if (weight == 0) {
            ++losses_.no_weight;
            return inserted::no_weight;
        }
        const std::int64_t number = slot_of(at);
        const std::int64_t newest = slot_of(*clock_);
        if (slots_.empty() || number < oldest()) {
            ++losses_.too_old;
            return inserted::too_old;
        }
        if (number > newest && number - 1 > newest) {
            ++losses_.future;
            return inserted::future;
        }
        slot& s = slots_[place_of(number)];
        if (!s.used || s.number != number) {
            s.used = false;  // should an allocation fail, it is empty
            s.sketch = empty_;
            s.number = number;
            s.used = true;
        }
        add(s.sketch);
        return number < newest ? inserted::late : inserted::newest;
    }

    slot_options options_;
    Sketch empty_;
    std::vector<slot> slots_;
    std::optional<Time> clock_;
    window_losses losses_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_SLOTTED_WINDOW_HPP
