// SPDX-License-Identifier: MIT
//
// settlements: outcomes that the caller has not recorded yet, oldest first.
//
// Part of the sender. Adjacent items with the same outcome become one run. The first run does not
// grow, because `next` may have returned it.

#ifndef WAYBILL_BATCH_DETAIL_SETTLEMENTS_HPP
#define WAYBILL_BATCH_DETAIL_SETTLEMENTS_HPP

#include <cstddef>
#include <cstdint>
#include <vector>

#include <waybill/batch/sending.hpp>
#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::detail {

/// Allocates, so that `more` elements can be pushed without failure. A growing list doubles.
template <class T>
void make_room(std::vector<T>& list, std::size_t more = 1)
{
    const std::size_t needed = list.size() + more;
    if (needed > list.capacity()) list.reserve(needed + list.size());
}

class settlements {
public:
    [[nodiscard]] bool empty() const noexcept { return first_index_ == reports_.size(); }
    [[nodiscard]] const batch_sender_types::report& front() const noexcept
    {
        return reports_[first_index_];
    }

    void make_room(std::size_t more) { detail::make_room(reports_, more); }

    void push(const batch_sender_types::report& s)
    {
        if (reports_.size() - first_index_ > 1) {
            batch_sender_types::report& last = reports_.back();
            batch_sender_types::report joined = s;
            joined.items = {last.items.first, last.items.count + s.items.count};
            if (last.items.end() == s.items.first && s.outcome != item_outcome::too_large &&
                last.outcome == s.outcome && last.kind == s.kind) {
                last = joined;
                return;
            }
        }
        reports_.push_back(s);
    }

    void pop()
    {
        if (++first_index_ > reports_.size() / 2) {
            reports_.erase(reports_.begin(),
                           reports_.begin() + static_cast<std::ptrdiff_t>(first_index_));
            first_index_ = 0;
        }
    }

    /// The lowest item number among the outcomes, or `otherwise` if there is no outcome.
    /// O(outcomes).
    [[nodiscard]] std::uint64_t first(std::uint64_t otherwise) const noexcept
    {
        for (std::size_t i = first_index_; i < reports_.size(); ++i) {
            otherwise = lesser(otherwise, reports_[i].items.first);
        }
        return otherwise;
    }

    /// Recorded outcomes are not part of the value.
    friend bool operator==(const settlements& a, const settlements& b)
    {
        if (a.reports_.size() - a.first_index_ != b.reports_.size() - b.first_index_) return false;
        for (std::size_t i = a.first_index_, j = b.first_index_; i < a.reports_.size(); ++i, ++j) {
            if (!(a.reports_[i] == b.reports_[j])) return false;
        }
        return true;
    }

private:
    std::vector<batch_sender_types::report> reports_;
    std::size_t first_index_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SETTLEMENTS_HPP
