// SPDX-License-Identifier: MIT
//
// slotted_window: quantiles of a recent period that has more samples than can be stored.
//
//     waybill::slotted_window<waybill::log_histogram<>> latency{{.span = 1h, .width = 1min}};
//     latency.insert(at, value, now);
//     std::optional<double> p99 = latency.quantile(0.99, now);
//     auto s = latency.query(now);                    // for several: s.quantile(0.5), ...
//
// A sketch cannot remove a value. So time is divided into slots, each with a sketch of its own
// (concept `detail::quantile_sketch`).
//   1. A query merges all slots that overlap (now - span, now]. So it may also count samples
//      less than one width before the window, in the oldest slot, and less than one width after
//      now, in the slot of now. It is exact if `now` and `span` are multiples of the width.
//   2. A query never contains a slot outside the window. The latest time passed in counts.
//   3. A sample is not inserted, but counted by reason, if its slot is before the window or more
//      than one slot after that of now. A sample in the next slot counts once the clock reaches it.
//   4. A sample costs one `add` and a query one `merge` a slot. Slots and their memory are reused.
//      The error of a quantile is that of the sketch.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_WINDOW_SLOTTED_WINDOW_HPP
#define WAYBILL_WINDOW_SLOTTED_WINDOW_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <waybill/core/config_error.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/quantile.hpp>
#include <waybill/window/sample.hpp>
#include <waybill/window/window_options.hpp>

namespace waybill::inline v0_2 {

/// The division of time into slots. A plain value; `validate` checks it.
struct slot_options {
    /// The maximum number of slots in a span.
    static constexpr std::uint64_t max_slots = 65'536;

    duration span = duration::seconds(3'600);  ///< The length of the window. More than 0.
    duration width = duration::seconds(60);    ///< The length of a slot. In [span / 65,536, span].

    friend bool operator==(const slot_options&, const slot_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const slot_options& o) noexcept
{
    if (o.span <= duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.span.count());
        return config_error{.field = "span",
                            .value = ns,
                            .rule = "nanoseconds must be more than",
                            .bound = 0,
                            .negative = o.span < duration{}};
    }
    if (o.width <= duration{}) {
        const std::uint64_t ns = 0 - static_cast<std::uint64_t>(o.width.count());
        return config_error{.field = "width",
                            .value = ns,
                            .rule = "nanoseconds must be more than",
                            .bound = 0,
                            .negative = o.width < duration{}};
    }
    const auto span = static_cast<std::uint64_t>(o.span.count());
    const auto width = static_cast<std::uint64_t>(o.width.count());
    if (span < width) {
        return config_error{"width", width, "nanoseconds must be at most the span", span};
    }
    if (const std::uint64_t min_width = (span - 1) / slot_options::max_slots + 1;
        width < min_width) {
        return config_error{"width", width,
                            "nanoseconds must be at least span / slot_options::max_slots",
                            min_width};
    }
    return {};
}

template <detail::quantile_sketch Sketch, class Time = wall_time>
class slotted_window {
public:
    using time_type = Time;
    using sketch_type = Sketch;

    explicit slotted_window(detail::no_options = {}) : slotted_window(slot_options{}) {}
    /// Options that `validate` would refuse are corrected: the span to at least 1 ns, and the width
    /// to the nearest valid width. Every slot begins as a copy of `empty`.
    explicit slotted_window(const slot_options& o, const Sketch& empty = Sketch())
        : options_(o), empty_sketch_(empty)
    {
        options_.span = detail::greater(options_.span, duration::nanoseconds(1));
        const std::int64_t span = options_.span.count();
        const std::int64_t min_width =
            (span - 1) / static_cast<std::int64_t>(slot_options::max_slots) + 1;
        options_.width = detail::greater(options_.width, duration::nanoseconds(min_width));
        options_.width = detail::lesser(options_.width, options_.span);
        // A window overlaps at most ceil(span / width) + 1 slots, where ceil(a / b) is
        // (a - 1) / b + 1. One more is for the slot after that of now.
        const std::int64_t count = (span - 1) / options_.width.count() + 3;
        slots_.resize(static_cast<std::size_t>(count),
                      slot{.number = 0, .used = false, .sketch = empty_sketch_});
    }

    slotted_window(const slotted_window&) = default;
    slotted_window& operator=(const slotted_window& o) { return *this = slotted_window(o); }
    ~slotted_window() = default;

    /// After a move the source has no slots. It reports each sample as too old.
    slotted_window(slotted_window&&) = default;
    slotted_window& operator=(slotted_window&&) = default;

    /// Moves the clock to `now` and inserts a sample. Returns `late` for a slot before that of the
    /// clock. One `add`, and one copy of the empty sketch if the slot is new.
    insert_result insert(Time at, double value, Time now)
    {
        const std::uint64_t weight = 1;
        return insert_into_slot(at, value, weight, now, [&](Sketch& s) { s.add(value); });
    }
    insert_result insert(Time at, double value, std::uint64_t weight, Time now)
        requires detail::weighted_sketch<Sketch>
    {
        return insert_into_slot(at, value, weight, now, [&](Sketch& s) { s.add(value, weight); });
    }

    /// Moves the clock to `now`. An earlier time than before changes nothing.
    void advance(Time now)
    {
        if (!clock_ || *clock_ < now) clock_ = now;
    }

    /// Moves the clock to `now` and returns the merged sketch of the window. One `merge` a slot.
    [[nodiscard]] Sketch query(Time now)
    {
        advance(now);
        Sketch all = empty_sketch_;
        const auto merge_slot = [&](std::int64_t number) {
            const slot& s = slots_[slot_index_of(number)];
            if (s.used && s.number == number) all.merge(s.sketch);
        };
        if (slots_.empty()) return all;
        const std::int64_t newest = slot_number_of(*clock_);
        for (std::int64_t n = oldest_number(); n < newest; ++n) merge_slot(n);
        merge_slot(newest);  // not in the loop: ++n could overflow
        return all;
    }
    /// The quantile q in [0, 1] of the window. For several quantiles of one time, use `query` once.
    [[nodiscard]] std::optional<double> quantile(double q, Time now)
    {
        Sketch all = query(now);
        return all.quantile(q);
    }

    /// The latest time passed to the window. Empty before the first.
    [[nodiscard]] std::optional<Time> clock() const noexcept { return clock_; }
    [[nodiscard]] const slot_options& options() const noexcept { return options_; }
    /// The number of samples that were not inserted, by reason.
    [[nodiscard]] const window_losses& losses() const noexcept { return losses_; }

    friend bool operator==(const slotted_window&, const slotted_window&) = default;

private:
    struct slot {
        std::int64_t number;
        bool used;
        Sketch sketch;

        friend bool operator==(const slot&, const slot&) = default;
    };

    /// The number n of the slot ((n - 1) * width, n * width] that contains `t`: t / width, rounded
    /// up. Integer division rounds towards zero, so only a positive remainder needs a correction.
    [[nodiscard]] std::int64_t slot_number_of(Time t) const noexcept
    {
        const std::int64_t ns = t.since_epoch().count();
        const std::int64_t width = options_.width.count();
        return ns / width + (ns % width > 0 ? 1 : 0);
    }

    /// The number of the oldest slot that overlaps the window. The start of the window is excluded,
    /// so the first time in it is one nanosecond later.
    [[nodiscard]] std::int64_t oldest_number() const noexcept
    {
        return slot_number_of(*clock_ - options_.span + duration::nanoseconds(1));
    }

    /// The index of a slot in `slots_`: its number modulo their count, also if it is negative.
    [[nodiscard]] std::size_t slot_index_of(std::int64_t number) const noexcept
    {
        const auto count = static_cast<std::int64_t>(slots_.size());
        const std::int64_t rest = number % count;
        return static_cast<std::size_t>(rest < 0 ? rest + count : rest);
    }

    template <class F>
    insert_result insert_into_slot(Time at, double value, std::uint64_t weight, Time now, F add)
    {
        advance(now);
        if (!detail::is_finite(value)) {
            ++losses_.not_finite;
            return insert_result::not_finite;
        }
        if (weight == 0) {
            ++losses_.no_weight;
            return insert_result::no_weight;
        }
        const std::int64_t number = slot_number_of(at);
        const std::int64_t newest = slot_number_of(*clock_);
        if (slots_.empty() || number < oldest_number()) {
            ++losses_.too_old;
            return insert_result::too_old;
        }
        if (number > newest && number - 1 > newest) {  // newest + 1 could overflow
            ++losses_.future;
            return insert_result::future;
        }
        slot& s = slots_[slot_index_of(number)];
        if (!s.used || s.number != number) {
            s.used = false;  // if the copy fails to allocate, the slot is empty
            s.sketch = empty_sketch_;
            s.number = number;
            s.used = true;
        }
        add(s.sketch);
        return number < newest ? insert_result::late : insert_result::newest;
    }

    slot_options options_;
    Sketch empty_sketch_;
    std::vector<slot> slots_;
    std::optional<Time> clock_;
    window_losses losses_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_SLOTTED_WINDOW_HPP
