// SPDX-License-Identifier: MIT

#include "ticks.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

namespace autoscaler {

namespace {

/// The first whole multiple of `every` that is not before `at`.
waybill::wall_time first_tick(waybill::wall_time at, waybill::duration every)
{
    const std::int64_t ns = at.since_epoch().count();
    const std::int64_t rest = ((ns % every.count()) + every.count()) % every.count();
    if (rest == 0) return at;
    return at + waybill::duration::nanoseconds(every.count() - rest);
}

class planner {
public:
    planner(schedule& to, waybill::duration every) : to_(to), every_(every) {}

    /// Accepted rows are moved to the front, so that the rows of a tick are contiguous.
    void take(row r)
    {
        const bool leaps = kept_ == 0 || r.at - latest_ > longest_gap;
        if (!leaps) {
            drop_doubtful();
            return keep(std::move(r));
        }
        const bool agree =
            doubtful_ && r.at - doubtful_->at <= longest_gap && doubtful_->at - r.at <= longest_gap;
        if (agree) {
            keep(*std::exchange(doubtful_, std::nullopt));
            return keep(std::move(r));
        }
        drop_doubtful();
        doubtful_ = std::move(r);
    }

    void end()
    {
        drop_doubtful();
        to_.rows.resize(kept_);
        to_.waiting = kept_ - begun_;
        for (std::size_t n = 0; n != to_.ticks.size(); ++n) {
            to_.ticks[n].rows = std::span(to_.rows).subspan(begins_[n], ends_[n] - begins_[n]);
        }
    }

private:
    void drop_doubtful()
    {
        if (!doubtful_) return;
        reject(to_.rejected_rows, "time is more than 1h from all others", doubtful_->line);
        doubtful_.reset();
    }

    /// `to_.rows` has a free place for it: rows only move to lower indices.
    void keep(row r)
    {
        if (kept_ == 0) {
            latest_ = r.at;
            next_ = first_tick(r.at, every_);
        }
        std::uint64_t in_gap = 0;
        const waybill::wall_time last = latest_;
        while (next_ < r.at) {
            if (next_ - last > longest_gap && in_gap != 0) {
                const waybill::wall_time behind = first_tick(r.at, every_);
                skipped_ += static_cast<std::uint64_t>((behind - next_).count() / every_.count());
                next_ = behind;
                break;
            }
            ++in_gap;
            decide();
        }
        mark_ = marked(mark_, fmt::format("{} {} {}", r.at.since_epoch().count(), r.value,
                                          r.instances ? fmt::to_string(*r.instances) : "-"));
        mark_ = marked(marked(mark_, r.resource), r.metric);
        latest_ = std::max(latest_, r.at);
        to_.rows[kept_++] = std::move(r);
    }

    void decide()
    {
        mark_ = marked(mark_, fmt::to_string(next_.since_epoch().count()));
        to_.ticks.push_back({.now = next_, .skipped = std::exchange(skipped_, 0), .mark = mark_});
        begins_.push_back(begun_);
        ends_.push_back(kept_);
        begun_ = kept_;
        next_ = next_ + every_;
    }

    schedule& to_;
    waybill::duration every_;
    std::size_t kept_ = 0;
    std::size_t begun_ = 0;
    std::vector<std::size_t> begins_{};
    std::vector<std::size_t> ends_{};
    waybill::wall_time next_{};
    waybill::wall_time latest_{};
    std::optional<row> doubtful_{};
    std::uint64_t skipped_ = 0;
    std::uint64_t mark_ = first_mark;
};

}  // namespace

schedule schedule_of(trace t, waybill::duration every)
{
    schedule s;
    s.rows = std::move(t.rows);
    s.rejected_rows = std::move(t.rejected_rows);
    planner p(s, every);
    for (std::size_t n = 0; n != s.rows.size(); ++n) {
        p.take(std::move(s.rows[n]));
    }
    p.end();
    return s;
}

}  // namespace autoscaler
