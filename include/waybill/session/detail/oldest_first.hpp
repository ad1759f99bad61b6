// SPDX-License-Identifier: MIT
//
// oldest_first: the order in which redrive_all sends the sessions of a plan.

#ifndef WAYBILL_SESSION_DETAIL_OLDEST_FIRST_HPP
#define WAYBILL_SESSION_DETAIL_OLDEST_FIRST_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <waybill/core/time.hpp>
#include <waybill/session/detail/dead_letter_order.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/redrive_plan.hpp>

namespace waybill::inline v0_2::detail {

/// The time of the first dead letter of a session, as a number in the same order.
template <class Letters>
[[nodiscard]] std::uint64_t age_key(const Letters& session) noexcept
{
    wall_time first = wall_time::highest();
    for (const auto& l : session) first = earlier(first, l.dead_lettered_at);
    constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
    return static_cast<std::uint64_t>(first.since_epoch().count()) ^ sign;
}

/// Sorts the sessions to be sent by the time of their first dead letter, and their dead letters
/// with them. Sessions of the same time keep their order. O(n) for n dead letters.
template <class Letter>
void oldest_first(redrive_plan& plan, std::span<Letter> letters)
{
    std::vector<order_key> keys;
    bool sorted = true;
    for (const auto& s : plan.sessions) {
        if (s.reason != redrive_plan::skip_reason::none) break;
        const std::uint64_t key = age_key(letters.subspan(s.offset, s.count));
        sorted = sorted && (keys.empty() || keys.back().major <= key);
        keys.push_back({.major = key, .index = keys.size()});
    }
    if (sorted) return;
    std::size_t current = 0;  // the session of the dead letter at `at`
    dead_letter_order(letters).by_key(0, plan.ready, [&](const Letter&, std::size_t at) {
        while (at >= plan.sessions[current].end()) ++current;
        return keys[current].major;
    });
    std::vector<order_key> scratch(keys.size());
    sort_keys(keys, scratch);
    std::vector<redrive_plan::planned_session> sessions;
    sessions.reserve(keys.size());
    std::uint64_t offset = 0;
    for (const order_key& k : keys) {
        sessions.push_back(std::move(plan.sessions[k.index]));
        sessions.back().offset = std::exchange(offset, offset + sessions.back().count);
    }
    for (std::size_t i = 0; i != sessions.size(); ++i) plan.sessions[i] = std::move(sessions[i]);
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_OLDEST_FIRST_HPP
