// SPDX-License-Identifier: MIT
//
// send_in_flight: sends a whole input with several batches in flight, through an engine that begins
// a batch and reports its outcome later. As send_all, which has one batch in flight.
//
//     engines::kafka_sender topic(settings, "mails");
//     waybill::batch_sender sender{{.limit = topic.about().limit, .in_flight = 4}};
//     auto report = support::send_in_flight(
//         lines, size_of, sender,
//         [&](std::uint64_t attempt, const auto& batch) {  // a vector of const std::string*
//             std::vector<std::string_view> bodies;
//             for (const std::string* line : batch) bodies.push_back(*line);
//             topic.start(attempt, bodies);
//         },
//         [&](auto wait) { return topic.finished(wait); }, env);
//
//   1. Each item is in exactly one outcome of the report.
//   2. A batch that is started again after an unknown outcome has the same items.
//   3. The order of a key needs `.ordered` and a size function that returns queued{bytes, key}.
//
// The input must stay unchanged during the call. `finished(wait)` returns an optional object with
// the members attempt and outcome. The report does not count maybe_twice and unaccepted_bytes. For
// stop requests, and items that are replaced: send_all.

#ifndef WAYBILL_EXAMPLES_SUPPORT_SEND_IN_FLIGHT_HPP
#define WAYBILL_EXAMPLES_SUPPORT_SEND_IN_FLIGHT_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <waybill/batch.hpp>
#include <waybill/core/match.hpp>
#include <waybill/ext/chrono.hpp>

namespace support {

/// The sender must be new, or have ended its earlier inputs.
template <class Items, class Size, class Start, class Finished, class Environment>
[[nodiscard]] waybill::send_report send_in_flight(const Items& all, const Size& size,
                                                  waybill::batch_sender& s, Start&& start,
                                                  Finished&& finished, Environment& env)
{
    using sender = waybill::batch_sender;
    using std::chrono::milliseconds;
    waybill::send_report report;
    if (!s.finished()) return {.other_input = true};
    const std::uint64_t begin = s.end();
    std::vector<const typename Items::value_type*> batch;
    bool flushed = false;
    const auto feed = [&] {
        if (flushed || !s.wants_more()) return false;
        flushed = report.taken == all.size();
        if (flushed) s.on(sender::flushed{}, env.now());
        else s.on(sender::queued(size(all[report.taken++])), env.now());
        return true;
    };
    const auto take_outcome = [&](milliseconds wait) {
        auto ended = finished(wait);
        if (!ended) return;
        report.refusals += waybill::holds_alternative<sender::too_large>(ended->outcome) ? 1U : 0U;
        report.throttled += waybill::holds_alternative<sender::throttled>(ended->outcome) ? 1U : 0U;
        waybill::match(ended->outcome, [&](auto& event) {
            event.attempt = ended->attempt;
            if constexpr (requires { event.random; }) event.random = env.random();
            s.on(event, env.now());
        });
    };
    // Until an outcome, or until the sender can continue without one.
    const auto wait_until = [&](waybill::steady_time t) {
        const auto wait =
            std::clamp(std::chrono::ceil<milliseconds>(t.to_chrono() - env.now().to_chrono()),
                       milliseconds(0), milliseconds(1'000));
        if (s.in_flight() != 0) take_outcome(wait);
        else env.sleep_until(t);
    };
    while (!s.finished() || !(flushed || s.has_stopped())) {
        waybill::match(
            s.next(env.now()),
            [&](const sender::send& a) {
                if (feed()) return;
                const std::uint64_t attempt = a.attempt;
                // Before `started`, which changes the sender. The engine reports nothing before.
                batch.clear();
                for (const waybill::item_range& run : a.items)
                    for (std::uint64_t n = run.first; n != run.end(); ++n)
                        batch.push_back(&all[n - begin]);
                start(attempt, std::as_const(batch));
                s.on(sender::started{attempt}, env.now());
                ++report.sends;
            },
            [&](const sender::report& r) {
                report.add({.items = {r.items.first - begin, r.items.count},
                            .outcome = r.outcome,
                            .kind = r.kind,
                            .bytes = r.bytes,
                            .limit = r.limit,
                            .envelope = r.envelope});
                s.on(sender::reported{r.items}, env.now());
            },
            [&](const sender::replace& r) { s.on(sender::not_replaced{r.item}, env.now()); },
            [&](const waybill::wait_until& w) {
                if (!feed()) wait_until(w.time);
            },
            [&](waybill::idle) {
                if (!feed() && s.in_flight() != 0) take_outcome(milliseconds(1'000));
            });
    }
    report.stopped = s.has_stopped();
    return report;
}

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_SEND_IN_FLIGHT_HPP
