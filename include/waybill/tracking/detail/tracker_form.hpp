// SPDX-License-Identifier: MIT
//
// tracker_form: the four forms of the events done after the watermark.
//
// Part of tracker_bytes.hpp. The events are a sequence of runs, alternately done and open, from the
// first position that is not committed. One pass computes the sizes of all forms without writing.

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

/// How positions are written. If two forms have the same size, the first is used.
enum class tracker_form : std::uint8_t {
    runs,  ///< The lengths of done and open runs, alternately.
    open,  ///< Each position that is not done, by its distance from the previous one.
    done,  ///< Each position that is done, by its distance from the previous one.
    bits,  ///< One bit for each position.
};

/// Joins adjacent stretches of the same kind, and calls f with each complete run.
template <class F>
constexpr void for_each_run(const completion_tracker& t, F&& f)
{
    tracked_range run;
    bool any = false;
    t.for_each_range([&](const tracked_range& s) {
        if (any && s.done == run.done) {
            run.at.last = s.at.last;
            run.events = saturating_add(run.events, s.events);
            return;
        }
        if (any) f(run);
        run = s;
        any = true;
    });
    if (any) f(run);
}

/// The sizes of all forms in bytes, for the runs added so far.
struct form_sizes {
    std::uint64_t first = 0;  ///< The first position.
    std::uint64_t runs = 0;
    std::uint64_t open = 0;
    std::uint64_t done = 0;
    std::uint64_t bits = 0;
    std::uint64_t tail = 0;  ///< Bytes that the last run adds to `open` if it is done, else 0.
    bool any = false;
    std::uint64_t before = 0;  // length of the previous run

    constexpr void add(const tracked_range& r) noexcept
    {
        const std::uint64_t more = r.at.last - r.at.first;
        const std::uint64_t length = saturating_add(more, 1);
        const auto spend = [](std::uint64_t& sum, std::uint64_t bytes) {
            sum = saturating_add(sum, bytes);
        };
        if (!any) {
            first = r.at.first;
            if (!r.done) spend(runs, 1);  // an empty done run comes first
        }
        tail = r.done ? varint_size(more) : 0;
        spend(runs, r.done && !any ? varint_size(length) : varint_size(more));
        spend(r.done ? done : open, saturating_add(varint_size(before), more));
        bits = saturating_add((r.at.last - first) / 8, 1);
        before = length;
        any = true;
    }

    [[nodiscard]] constexpr std::uint64_t of(tracker_form f) const noexcept
    {
        switch (f) {
            case tracker_form::runs: return runs;
            case tracker_form::open: return saturating_add(open, tail);
            case tracker_form::done: return done;
            case tracker_form::bits: break;
        }
        return bits;
    }

    [[nodiscard]] constexpr tracker_form smallest() const noexcept
    {
        tracker_form best = tracker_form::runs;
        for (const tracker_form f : {tracker_form::open, tracker_form::done, tracker_form::bits}) {
            if (of(f) < of(best)) best = f;
        }
        return best;
    }
};

/// Writes runs in one form. The first run begins at the position `first`.
class form_writer {
public:
    form_writer(std::string& out, tracker_form form, std::uint64_t first)
        : out_(&out), begun_(out.size()), first_(first), form_(form)
    {
    }

    void add(const tracked_range& r, bool is_last)
    {
        const std::uint64_t more = r.at.last - r.at.first;
        const std::uint64_t length = saturating_add(more, 1);
        if (form_ == tracker_form::runs) {
            if (!any_ && !r.done) put_varint(*out_, 0);
            put_varint(*out_, r.done && !any_ ? length : more);
        } else if (form_ == tracker_form::bits) {
            if (r.done) set(r.at);
        } else if (r.done == (form_ == tracker_form::done)) {
            put_varint(*out_, before_);
            out_->append(more, '\0');
        } else if (is_last) {
            put_varint(*out_, more);
        }
        before_ = length;
        any_ = true;
    }

private:
    void set(position_run at)
    {
        for (std::uint64_t n = at.first - first_;; ++n) {
            const std::size_t place = begun_ + n / 8;
            if (place >= out_->size()) out_->resize(place + 1);
            const auto byte = static_cast<unsigned char>((*out_)[place]);
            (*out_)[place] = static_cast<char>(byte | 1U << n % 8);
            if (n == at.last - first_) return;
        }
    }

    std::string* out_;
    std::size_t begun_;
    std::uint64_t first_;
    std::uint64_t before_ = 0;
    tracker_form form_;
    bool any_ = false;
};

[[nodiscard]] constexpr std::string_view texts_of(tracker_form) noexcept
{
    return "runs, open, done, bits";
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_TRACKING_DETAIL_TRACKER_FORM_HPP
