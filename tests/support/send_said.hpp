// SPDX-License-Identifier: MIT
//
// send_said: the results of a sender's queries, as plain values for tests.

#ifndef WAYBILL_TESTS_SUPPORT_SEND_SAID_HPP
#define WAYBILL_TESTS_SUPPORT_SEND_SAID_HPP

#include <cstdint>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/batch_sender.hpp>

namespace send_said {

using numbers = std::vector<std::uint64_t>;

constexpr waybill::steady_time zero = waybill::steady_time::at(waybill::duration());

inline numbers items(const waybill::batch_sender::item_ranges& all)
{
    numbers n;
    for (const waybill::item_range& r : all) {
        for (std::uint64_t i = r.first; i != r.end(); ++i) n.push_back(i);
    }
    return n;
}

/// The items to be sent now; empty if there are none.
inline numbers sending(const waybill::batch_sender& s, waybill::steady_time now = zero)
{
    const auto a = s.next(now);
    const auto* send = waybill::get_if<waybill::batch_sender::send>(&a);
    return send ? items(send->items) : numbers{};
}

/// The number of the attempt to be sent now.
inline std::uint64_t attempt(const waybill::batch_sender& s, waybill::steady_time now = zero)
{
    const auto a = s.next(now);
    const auto* send = waybill::get_if<waybill::batch_sender::send>(&a);
    return send ? send->attempt : waybill::unlimited;
}

/// Acknowledges all reports.
inline std::vector<waybill::batch_sender::report> settle_all(waybill::batch_sender& s)
{
    std::vector<waybill::batch_sender::report> all;
    for (;;) {
        const auto a = s.next(zero);
        const auto* x = waybill::get_if<waybill::batch_sender::report>(&a);
        if (!x) return all;
        all.push_back(*x);
        CHECK(s.on(waybill::batch_sender::reported{x->items}, zero) ==
              waybill::event_result::applied);
    }
}

}  // namespace send_said

#endif  // WAYBILL_TESTS_SUPPORT_SEND_SAID_HPP
