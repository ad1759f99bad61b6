// SPDX-License-Identifier: MIT
//
// Settles handled messages in batches of ten. By hand: two lists, sent when they are full.

#include <cstdint>
#include <span>
#include <vector>

struct handled {
    std::uint64_t id = 0;
    bool ok = false;
};
bool queue_complete(std::span<const std::uint64_t> ids);
bool queue_abandon(std::span<const std::uint64_t> ids);
void not_settled(std::uint64_t id);

#ifndef BY_HAND

#include <waybill/core/match.hpp>
#include <waybill/queue/settle_batches.hpp>

waybill::steady_time steady_now();
void sleep_until(waybill::steady_time time);

void settle_all(std::span<const handled> messages)
{
    using waybill::settle_batches;
    settle_batches calls({.items = 10});
    for (const handled& m : messages) {
        const auto kind =
            m.ok ? settle_batches::settle_kind::complete : settle_batches::settle_kind::abandon;
        calls.on(settle_batches::decided{kind, waybill::duration::highest()}, steady_now());
    }
    calls.on(settle_batches::last_decided{}, steady_now());
    std::vector<std::uint64_t> ids;
    while (!calls.empty()) {
        waybill::match(
            calls.next(steady_now()),
            [&](const settle_batches::settle_batch& b) {
                ids.clear();
                for (const std::uint64_t n : b.items) ids.push_back(messages[n].id);
                const bool ok = b.kind == settle_batches::settle_kind::complete
                                    ? queue_complete(ids)
                                    : queue_abandon(ids);
                calls.on(settle_batches::batch_settled{.call = b.call,
                                                       .items = b.items,
                                                       .kind = ok ? waybill::fault_kind::none
                                                                  : waybill::fault_kind::transient},
                         steady_now());
            },
            [&](const settle_batches::report& r) {
                if (r.outcome != settle_batches::settle_outcome::done)
                    not_settled(messages[r.item].id);
                calls.on(settle_batches::reported{r.item}, steady_now());
            },
            [&](waybill::wait_until w) { sleep_until(w.time); }, [&](waybill::idle) {});
    }
}

#else

void settle_all(std::span<const handled> messages)
{
    std::vector<std::uint64_t> good, bad;
    const auto send = [](std::vector<std::uint64_t>& ids,
                         bool (*call)(std::span<const std::uint64_t>)) {
        for (unsigned attempt = 0; attempt != 3; ++attempt) {
            if (call(ids)) return ids.clear();
        }
        for (const std::uint64_t id : ids) not_settled(id);
        ids.clear();
    };
    for (const handled& m : messages) {
        std::vector<std::uint64_t>& ids = m.ok ? good : bad;
        ids.push_back(m.id);
        if (ids.size() == 10) send(ids, m.ok ? queue_complete : queue_abandon);
    }
    if (!good.empty()) send(good, queue_complete);
    if (!bad.empty()) send(bad, queue_abandon);
}

#endif
