// SPDX-License-Identifier: MIT
//
// tracker_form: four ways to encode the positions done after the watermark; the smallest is used.
//
// Part of tracker_bytes.hpp. The positions from the first one that is not committed are a sequence
// of runs, alternately done and open. One pass computes the sizes of all forms without writing.

#ifndef WAYBILL_TRACKING_DETAIL_TRACKER_FORM_HPP
#define WAYBILL_TRACKING_DETAIL_TRACKER_FORM_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/detail/seal.hpp>
#include <waybill/core/detail/varint.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/tracking/completion_tracker.hpp>

namespace waybill::inline v0_2::detail {

/// The encoding of positions. If two forms have the same size, the first is used.
enum class tracker_form : std::uint8_t {
    runs,  ///< The lengths of done and open runs, alternately.
    open,  ///< Each position that is not done, by its distance from the previous one.
    done,  ///< Each position that is done, by its distance from the previous one.
    bits,  ///< One bit for each position.
};

/// Calls f with each run: adjacent ranges that are all done, or all open, are joined.
template <class F>
constexpr void for_each_run(const completion_tracker& t, F&& f)
{
    tracked_range run;
    bool has_runs = false;
    t.for_each_range([&](const tracked_range& range) {
        if (has_runs && range.done == run.done) {
            run.at.last = range.at.last;
            run.events = saturating_add(run.events, range.events);
            return;
        }
        if (has_runs) f(run);
        run = range;
        has_runs = true;
    });
    if (has_runs) f(run);
}

/// The sizes of all forms in bytes, for the runs added so far.
struct form_sizes {
    std::uint64_t first = 0;  ///< The first position.
    std::uint64_t runs = 0;
    std::uint64_t open = 0;
    std::uint64_t done = 0;
    std::uint64_t bits = 0;
    /// Bytes that the last run adds to `open` if it is done, else 0.
    std::uint64_t last_done_bytes = 0;
    bool has_runs = false;
    std::uint64_t previous_length = 0;  ///< Length of the previous run.

    constexpr void add(const tracked_range& r) noexcept
    {
        const std::uint64_t length_less_1 = r.at.last - r.at.first;
        const std::uint64_t length = saturating_add(length_less_1, 1);
        const auto add_bytes = [](std::uint64_t& sum, std::uint64_t bytes) {
            sum = saturating_add(sum, bytes);
        };
        if (!has_runs) {
            first = r.at.first;
            if (!r.done) add_bytes(runs, 1);  // an empty done run comes first
        }
        last_done_bytes = r.done ? varint_size(length_less_1) : 0;
        add_bytes(runs, r.done && !has_runs ? varint_size(length) : varint_size(length_less_1));
        // The distance of the first position, then one byte (distance 0) for each further one.
        add_bytes(r.done ? done : open,
                  saturating_add(varint_size(previous_length), length_less_1));
        bits = saturating_add((r.at.last - first) / 8, 1);
        previous_length = length;
        has_runs = true;
    }

    [[nodiscard]] constexpr std::uint64_t size_of(tracker_form f) const noexcept
    {
        switch (f) {
            case tracker_form::runs: return runs;
            case tracker_form::open: return saturating_add(open, last_done_bytes);
            case tracker_form::done: return done;
            case tracker_form::bits: break;
        }
        return bits;
    }

    [[nodiscard]] constexpr tracker_form smallest() const noexcept
    {
        tracker_form best = tracker_form::runs;
        for (const tracker_form f : {tracker_form::open, tracker_form::done, tracker_form::bits}) {
            if (size_of(f) < size_of(best)) best = f;
        }
        return best;
    }
};

/// Writes runs in one form. The first run begins at the position `first`.
class form_writer {
public:
    form_writer(std::string& out, tracker_form form, std::uint64_t first)
        : out_(&out), body_offset_(out.size()), first_(first), form_(form)
    {
    }

    void add(const tracked_range& r, bool is_last)
    {
        const std::uint64_t length_less_1 = r.at.last - r.at.first;
        const std::uint64_t length = saturating_add(length_less_1, 1);
        if (form_ == tracker_form::runs) {
            if (!has_runs_ && !r.done) put_varint(*out_, 0);
            put_varint(*out_, r.done && !has_runs_ ? length : length_less_1);
        } else if (form_ == tracker_form::bits) {
            if (r.done) set_bits(r.at);
        } else if (r.done == (form_ == tracker_form::done)) {
            put_varint(*out_, previous_length_);
            out_->append(length_less_1, '\0');
        } else if (is_last) {
            put_varint(*out_, length_less_1);
        }
        previous_length_ = length;
        has_runs_ = true;
    }

private:
    void set_bits(position_run at)
    {
        for (std::uint64_t n = at.first - first_;; ++n) {
            const std::size_t byte_index = body_offset_ + n / 8;
            if (byte_index >= out_->size()) out_->resize(byte_index + 1);
            const auto byte = static_cast<unsigned char>((*out_)[byte_index]);
            (*out_)[byte_index] = static_cast<char>(byte | 1U << n % 8);
            if (n == at.last - first_) return;
        }
    }

    std::string* out_;
    std::size_t body_offset_;
    std::uint64_t first_;
    std::uint64_t previous_length_ = 0;
    tracker_form form_;
    bool has_runs_ = false;
};

[[nodiscard]] constexpr std::string_view texts_of(tracker_form) noexcept
{
    return "runs, open, done, bits";
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_TRACKING_DETAIL_TRACKER_FORM_HPP
