// SPDX-License-Identifier: MIT
//
// send_noise: events that a sender must ignore: late, invented or contradictory ones.

#ifndef WAYBILL_TESTS_ENUMERATE_BATCH_SEND_NOISE_HPP
#define WAYBILL_TESTS_ENUMERATE_BATCH_SEND_NOISE_HPP

#include <cstdint>
#include <variant>
#include <vector>

#include <support/send_audit.hpp>

#include <waybill/batch/batch_sender.hpp>

namespace send_schedules {

/// A copy `c` is equal and returns the same action, `a`. Noise does not change it.
template <class Machine, class Must>
void ignores_noise(const Machine& m, Machine& c, const send_audit::audit& expected,
                   const typename Machine::action& a, waybill::steady_time now, const Must& must)
{
    using namespace waybill;
    c = m;
    must(c == m, "a copy is equal");
    must(a == c.next(now), "a copy returns the same action");
    const auto ignored = [&](auto e, event_result h, const char* what) {
        must(c.on(e, now) == h && c == m, what);
    };
    ignored(batch_sender::reported{{77, 1}},
            waybill::holds_alternative<batch_sender::report>(a) ? event_result::invalid
                                                                : event_result::stale,
            "a wrong settled");
    ignored(batch_sender::input_closed{}, event_result::stale, "closed though not opened");
    ignored(batch_sender::resumed{777}, event_result::stale, "a key resumed that never was");
    for (const send_audit::audit::key& k : expected.keys) {
        if (!k.stopped() && !waybill::holds_alternative<batch_sender::report>(a)) {
            ignored(batch_sender::resumed{k.name}, event_result::stale,
                    "a key resumed that is not stopped");
        }
    }
    const auto* asks = waybill::get_if<batch_sender::replace>(&a);
    // A replacement may be requested after a report.
    if (asks || !waybill::holds_alternative<batch_sender::report>(a)) {
        ignored(batch_sender::replaced{78, 1}, asks ? event_result::invalid : event_result::stale,
                "a wrong one replaced");
        ignored(batch_sender::not_replaced{78}, asks ? event_result::invalid : event_result::stale,
                "a wrong one kept");
    }
    static const std::vector<batch_sender::entry_fault> far{{0, fault_kind::transient},
                                                            {7, fault_kind::transient}};
    static const std::vector<std::uint64_t> seven(7, 10);
    const auto offered = waybill::get_if<batch_sender::send>(&a);
    for (std::uint64_t n = 0; n != expected.attempts.size() + 2; ++n) {
        const bool asked_for = offered && offered->attempt == n;
        const bool open = n < expected.attempts.size() && expected.attempts[n].open;
        if (asked_for || open) {
            ignored(batch_sender::partial{n, far}, event_result::invalid, "an entry past the end");
            ignored(batch_sender::too_large{n, {}, {}, seven}, event_result::invalid,
                    "sizes of another number");
            ignored(batch_sender::failed{n, fault_kind::none}, event_result::invalid,
                    "failed, and worked");
            if (!asked_for && expected.attempts[n].away)
                ignored(batch_sender::started{n}, event_result::stale, "started twice");
            continue;
        }
        if (n >= expected.attempts.size() && !waybill::holds_alternative<idle>(a)) continue;
        ignored(batch_sender::started{n}, event_result::stale, "started what is over");
        ignored(batch_sender::accepted{n}, event_result::stale, "accepted what is over");
        ignored(batch_sender::too_large{n}, event_result::stale, "refused what is over");
        ignored(batch_sender::partial{n, far}, event_result::stale, "partial of what is over");
        ignored(batch_sender::throttled{n}, event_result::stale, "throttled what is over");
        ignored(batch_sender::failed{n}, event_result::stale, "failed what is over");
        ignored(batch_sender::outcome_unknown{n}, event_result::stale, "unknown of what is over");
    }
}

}  // namespace send_schedules

#endif  // WAYBILL_TESTS_ENUMERATE_BATCH_SEND_NOISE_HPP
