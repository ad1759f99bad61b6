// SPDX-License-Identifier: MIT
//
// Sends a list in batches. By hand: batches up to the limit, each repeated a few times, and halved
// if the broker finds it too large.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

enum class reply { accepted, too_large, busy, failed };
reply client_send(std::span<const std::string* const> batch);
void client_failed(const std::string& message);
void sleep_ms(std::uint64_t ms);

#ifndef BY_HAND

#include <waybill/batch/send_all.hpp>

struct environment {
    waybill::steady_time now();
    waybill::wall_time wall_now();
    void sleep_until(waybill::steady_time time);
    double random();
};

void send_list(const std::vector<std::string>& inbox)
{
    using waybill::batch_sender;
    batch_sender sender({.limit = {.bytes = 262'144}, .item_overhead = 54});
    const auto size = [](const std::string& m) { return m.size(); };
    std::vector<const std::string*> pointers;
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        pointers.clear();
        for (const std::string& m : batch) pointers.push_back(&m);
        switch (client_send(pointers)) {
            case reply::accepted: return batch_sender::accepted{};
            case reply::too_large: return batch_sender::too_large{};
            case reply::busy: return batch_sender::throttled{};
            default: return batch_sender::failed{.kind = waybill::fault_kind::transient};
        }
    };
    environment env;
    const waybill::send_report report = waybill::send_all(inbox, size, sender, transmit, env);
    for (const waybill::item_report& r : report.outcomes) {
        if (r.outcome == waybill::item_outcome::accepted) continue;
        for (std::uint64_t n = r.items.first; n != r.items.end(); ++n) client_failed(inbox[n]);
    }
}

#else

static bool send_range(const std::vector<std::string>& inbox, std::size_t first, std::size_t count)
{
    std::vector<const std::string*> pointers;
    for (std::size_t n = first; n != first + count; ++n) pointers.push_back(&inbox[n]);
    for (unsigned attempt = 0; attempt != 5; ++attempt) {
        switch (client_send(pointers)) {
            case reply::accepted: return true;
            case reply::too_large:
                if (count == 1) return false;
                if (!send_range(inbox, first, count / 2))
                    for (std::size_t n = 0; n != count / 2; ++n) client_failed(inbox[first + n]);
                return send_range(inbox, first + count / 2, count - count / 2);
            case reply::busy:
            case reply::failed: sleep_ms(100U << attempt); break;
        }
    }
    return false;
}

void send_list(const std::vector<std::string>& inbox)
{
    std::size_t first = 0;
    while (first != inbox.size()) {
        std::size_t count = 0;
        std::uint64_t bytes = 0;
        while (first + count != inbox.size() &&
               (count == 0 || bytes + inbox[first + count].size() + 54 <= 262'144))
            bytes += inbox[first + count++].size() + 54;
        if (!send_range(inbox, first, count))
            for (std::size_t n = 0; n != count; ++n) client_failed(inbox[first + n]);
        first += count;
    }
}

#endif
