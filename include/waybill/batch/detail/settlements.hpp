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
    [[nodiscard]] bool empty() const noexcept { return at_ == list_.size(); }
    [[nodiscard]] const batch_sender_types::report& front() const noexcept { return list_[at_]; }

    void make_room(std::size_t more) { detail::make_room(list_, more); }

    void push(const batch_sender_types::report& s)
    {
        if (list_.size() - at_ > 1) {
            batch_sender_types::report& last = list_.back();
            batch_sender_types::report joined = s;
            joined.items = {last.items.first, last.items.count + s.items.count};
            if (last.items.end() == s.items.first && s.outcome != item_outcome::too_large &&
                last.outcome == s.outcome && last.kind == s.kind) {
                last = joined;
                return;
            }
        }
        list_.push_back(s);
    }

    void pop()
    {
        if (++at_ > list_.size() / 2) {
            list_.erase(list_.begin(), list_.begin() + static_cast<std::ptrdiff_t>(at_));
            at_ = 0;
        }
    }

    /// The lowest item number among the outcomes, or `otherwise` if there is no outcome.
    /// O(outcomes).
    [[nodiscard]] std::uint64_t first(std::uint64_t otherwise) const noexcept
    {
        for (std::size_t i = at_; i < list_.size(); ++i) {
            otherwise = lesser(otherwise, list_[i].items.first);
        }
        return otherwise;
    }

    /// Recorded outcomes are not part of the value.
    friend bool operator==(const settlements& a, const settlements& b)
    {
        if (a.list_.size() - a.at_ != b.list_.size() - b.at_) return false;
        for (std::size_t i = a.at_, j = b.at_; i < a.list_.size(); ++i, ++j) {
            if (!(a.list_[i] == b.list_[j])) return false;
        }
        return true;
    }

private:
    std::vector<batch_sender_types::report> list_;
    std::size_t at_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SETTLEMENTS_HPP
