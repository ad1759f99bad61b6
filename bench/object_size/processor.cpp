// SPDX-License-Identifier: MIT
//
// Shares partitions among processes and processes those of this one. By hand: each partition is
// claimed if its lease has not changed for a minute, and renewed before each batch.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <waybill/lease/lease.hpp>

struct lease_table_store {
    waybill::result<waybill::lease_table> list(const std::string& source, const std::string& group);
    waybill::result<waybill::lease_claim::result> claim(const waybill::lease_claim& c);
    waybill::result<void> heartbeat(const waybill::owner_heartbeat& h);
    waybill::result<void> leave(const waybill::owner_heartbeat& h);
};
bool stop_wanted();
double random_share();
waybill::steady_time steady_now();
void sleep_until(waybill::steady_time time);
std::uint64_t read_epoch(std::uint32_t partition);
bool handle_batch(std::uint32_t partition, std::uint64_t epoch);

#ifndef BY_HAND

#include <waybill/core/match.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/processor.hpp>

void run(lease_table_store& leases, const std::vector<std::string>& partitions, std::uint64_t id)
{
    using waybill::partition_lifecycle;
    waybill::processor work({.group = {"orders", "billing", partitions, {"host", id}}});
    while (!work.ended()) {
        if (stop_wanted()) work.on(waybill::stop_requested{}, steady_now());
        waybill::match(
            work.next(steady_now()),
            [&](const waybill::lease_manager::lease_call& c) {
                work.on(waybill::perform(leases, c, random_share()), steady_now());
            },
            [&](partition_lifecycle::open a) {
                work.on(
                    partition_lifecycle::partition_opened{.partition = a.partition,
                                                          .epoch = a.epoch,
                                                          .stored_epoch = read_epoch(a.partition)},
                    steady_now());
            },
            [&](partition_lifecycle::process a) {
                const bool ok = handle_batch(a.partition, a.epoch);
                work.on(
                    partition_lifecycle::processed::of(a, ok ? waybill::batch_outcome::committed
                                                             : waybill::batch_outcome::redeliver),
                    steady_now());
            },
            [&](partition_lifecycle::close a) {
                work.on(partition_lifecycle::partition_closed{a.partition, a.epoch}, steady_now());
            },
            [&](partition_lifecycle::save a) {
                work.on(partition_lifecycle::partition_saved{a.partition, a.epoch}, steady_now());
            },
            [&](waybill::wait_until w) { sleep_until(w.time); }, [&](waybill::idle) {});
    }
}

#else

void run(lease_table_store& leases, const std::vector<std::string>& partitions, std::uint64_t id)
{
    struct seen {
        std::uint64_t version = 0;
        waybill::steady_time since{};
    };
    std::map<std::string, seen> all;
    const waybill::owner_id self{"host", id};
    while (!stop_wanted()) {
        const auto table = leases.list("orders", "billing");
        const waybill::steady_time now = steady_now();
        for (std::uint32_t n = 0; table && n != partitions.size(); ++n) {
            const waybill::lease* row = nullptr;
            for (const waybill::lease& l : table->leases)
                if (l.key.partition == partitions[n]) row = &l;
            seen& s = all[partitions[n]];
            if (row != nullptr && row->version != s.version) s = {row->version, now};
            const bool own = row != nullptr && row->owner == self;
            if (row != nullptr && !own && now - s.since < waybill::duration::seconds(60)) continue;
            const std::uint64_t epoch = own ? row->epoch : row != nullptr ? row->epoch + 1 : 1;
            const waybill::partition_key key{"orders", "billing", partitions[n]};
            std::optional<std::uint64_t> version;
            if (row != nullptr) version = row->version;
            const auto won = leases.claim({key, self, epoch, version});
            if (won && won->outcome == waybill::lease_claim::result::claim_outcome::won)
                (void)handle_batch(n, epoch);
        }
        sleep_until(now + waybill::duration::seconds(1));
    }
}

#endif
