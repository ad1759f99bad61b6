// SPDX-License-Identifier: MIT

#include "kafka_downstream.hpp"

#include "ledger.hpp"
#include <waybill/consume/idempotency_key.hpp>
#include <waybill/core/crc32c.hpp>

namespace reliable_consumer {

using std::chrono::steady_clock;

/// The rule of the ledger.
waybill::fault downstream_service::judge(std::string_view body)
{
    const reading r = read_event(body);
    if (!r.is_object) return waybill::permanent("not a JSON object");
    if (r.package.empty()) return waybill::permanent("an event without a package");
    if (r.what == "installed" && r.version.empty()) {
        return waybill::permanent(r.package + " is installed, but has no version");
    }
    return {};
}

/// Applies valid events. One of forty fails at its first try.
waybill::fault downstream_service::apply(const std::string& key, std::string_view body)
{
    if (state_ == downstream_state::down) {
        ++in_vain_;
        return waybill::infrastructure("connection refused");
    }
    if (waybill::fault f = judge(body); !f.ok()) return f;
    if (waybill::crc32c(key) % 40 == 7 && failed_once_[key]++ == 0) {
        return waybill::transient("no response before the deadline");
    }
    ++applied_[key];
    return {};
}

void worker_pool::start(job j, const waybill::circuit_breaker::permit& p)
{
    j.permit = p;
    // Mostly a few milliseconds; some take so long that hundreds of later events finish before.
    const std::uint64_t n = dice_();
    const auto takes = std::chrono::microseconds(n % 97 == 0 ? 200'000 : n % 12'000);
    running_.emplace(steady_clock::now() + takes, std::move(j));
}

std::vector<job> worker_pool::finished()
{
    std::vector<job> ended;
    if (service_->hangs()) return ended;
    const auto now = steady_clock::now();
    while (!running_.empty() && running_.begin()->first <= now) {
        job& j = ended.emplace_back(std::move(running_.extract(running_.begin()).mapped()));
        const waybill::partition_key from{j.at.topic, "ledger", std::to_string(j.at.number)};
        j.why =
            service_->apply(waybill::idempotency_key(from, j.ticket.sequence), j.message.body());
    }
    return ended;
}

}  // namespace reliable_consumer
