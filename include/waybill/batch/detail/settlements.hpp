// SPDX-License-Identifier: MIT
//
// settlements: outcomes that the caller has not recorded yet, oldest first.
//
// Part of the sender. Adjacent items with the same outcome become one run. The first run does not
// grow, because `next` may have returned it. Each run has a copy of its text.

#ifndef WAYBILL_BATCH_DETAIL_SETTLEMENTS_HPP
#define WAYBILL_BATCH_DETAIL_SETTLEMENTS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
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

/// Removes one element. The others keep their order. O(elements after it).
template <class T>
void remove_at(std::vector<T>& list, std::size_t index)
{
    for (; index + 1 < list.size(); ++index) list[index] = std::move(list[index + 1]);
    list.pop_back();
}

class settlements {
public:
    [[nodiscard]] bool empty() const noexcept { return first_index_ == runs_.size(); }
    [[nodiscard]] batch_sender_types::report front() const
    {
        const run& f = runs_[first_index_];
        batch_sender_types::report r = f.report;
        r.text = text_of(f);
        return r;
    }

    void make_room(std::size_t more) { detail::make_room(runs_, more); }
    /// Keeps a copy of a text, so that reports with it can be pushed without failure. O(texts).
    void keep_text(std::string_view text)
    {
        if (find(text) == std::string::npos) texts_ += text;
    }

    /// A text of the report must have been kept.
    void push(const batch_sender_types::report& s)
    {
        run added{s, find(s.text), s.text.size()};
        added.report.text = {};
        if (runs_.size() - first_index_ > 1) {
            run& last = runs_.back();
            const item_range items = added.report.items;
            added.report.items = last.report.items;
            if (last == added && last.report.items.end() == items.first &&
                s.outcome != item_outcome::too_large) {
                last.report.items.count += items.count;
                return;
            }
            added.report.items = items;
        }
        runs_.push_back(added);
    }

    void clear() noexcept
    {
        runs_.clear();
        texts_.clear();
        first_index_ = 0;
    }

    void pop()
    {
        if (++first_index_ > runs_.size() / 2) {
            for (std::size_t i = first_index_; i < runs_.size(); ++i)
                runs_[i - first_index_] = runs_[i];
            for (; first_index_ != 0; --first_index_) runs_.pop_back();
        }
        if (empty()) texts_.clear();
    }

    /// The lowest item number among the outcomes, or `otherwise` if there is no outcome.
    /// O(outcomes).
    [[nodiscard]] std::uint64_t first(std::uint64_t otherwise) const noexcept
    {
        for (std::size_t i = first_index_; i < runs_.size(); ++i) {
            otherwise = lesser(otherwise, runs_[i].report.items.first);
        }
        return otherwise;
    }

    /// Recorded outcomes are not part of the value.
    friend bool operator==(const settlements& a, const settlements& b)
    {
        if (a.runs_.size() - a.first_index_ != b.runs_.size() - b.first_index_) return false;
        for (std::size_t i = a.first_index_, j = b.first_index_; i < a.runs_.size(); ++i, ++j) {
            if (!(a.runs_[i].report == b.runs_[j].report)) return false;
            if (a.text_of(a.runs_[i]) != b.text_of(b.runs_[j])) return false;
        }
        return true;
    }

private:
    struct run {
        batch_sender_types::report report{};  // without its text
        std::size_t text = 0;                 // index of its text in texts_
        std::size_t text_size = 0;

        friend bool operator==(const run&, const run&) = default;
    };

    [[nodiscard]] std::size_t find(std::string_view text) const noexcept
    {
        return texts_.find(text.data(), 0, text.size());
    }
    [[nodiscard]] std::string_view text_of(const run& r) const noexcept
    {
        return {texts_.data() + r.text, r.text_size};
    }

    std::vector<run> runs_;
    std::string texts_;  // those of all runs, one after the other
    std::size_t first_index_ = 0;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_BATCH_DETAIL_SETTLEMENTS_HPP
