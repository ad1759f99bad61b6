// SPDX-License-Identifier: MIT

#include "consumer.hpp"

#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

#include <waybill/ext/exceptions.hpp>
#include <waybill/ext/fmt.hpp>

namespace mailroom {

namespace {

constexpr std::size_t events_per_batch = 100;

// A lock on the folder ensures one consumer at a time, so epochs are not needed. A constant also
// keeps the sink equal for any number of kills.
constexpr std::uint64_t only_epoch = 1;

// Dead letters contain the time of the event. The time of dead-lettering is left out, as it would
// differ between runs.
constexpr waybill::wall_time no_time{};

}  // namespace

waybill::result<engines::sqlite_store::transaction> watched_store::begin()
{
    auto tx = sqlite_store::begin();
    at_.reach("consume.begin", byte);
    return tx;
}

waybill::result<void> watched_store::put(transaction& tx, const waybill::dead_letter& d)
{
    auto written = sqlite_store::put(tx, d);
    at_.reach("consume.parked", byte);
    return written;
}

waybill::result<waybill::advance_outcome> watched_store::advance(
    transaction& tx, const waybill::partition_key& key,
    const std::optional<waybill::position>& from, const waybill::position& to, std::uint64_t epoch)
{
    auto outcome = sqlite_store::advance(tx, key, from, to, epoch);
    at_.reach("consume.advanced", byte);
    return outcome;
}

consumer::consumer(engines::database& sink, engines::sqlite_queue& queue, phases& at)
    : sink_(sink), queue_(queue), at_(at), store_(sink, at), ledger_(sink, at)
{
    const auto loaded = store_.load(checkpoint_key());
    if (!loaded)
        throw std::runtime_error(fmt::format("the checkpoint cannot be read: {}", loaded.error()));
    mine_ = {checkpoint_key(), waybill::position_of(*loaded), only_epoch};
}

std::vector<delivery> consumer::fetch()
{
    std::vector<delivery> batch;
    queue_.read(reached(), events_per_batch,
                [&](std::uint64_t number, std::string_view header, std::string_view body) {
                    batch.push_back(to_delivery(number, header, body));
                });
    return batch;
}

std::uint64_t consumer::drain()
{
    std::uint64_t taken = 0;
    const auto handle = waybill::catching(
        [this](auto&, const delivery& d) { return ledger_.apply(d); }, engines::classify);
    for (std::vector<delivery> batch = fetch(); !batch.empty(); batch = fetch()) {
        store_.byte = batch.front().begin;
        const waybill::batch_report r =
            waybill::process_batch(store_, mine_, batch, handle, no_time);
        if (r.outcome != waybill::batch_outcome::committed) {
            throw std::runtime_error(fmt::format("a batch could not be committed: {}", r));
        }
        mine_.from = r.reached;
        taken += batch.size();
        at_.reach("consume.done", store_.byte);
    }
    if (taken == 0 && queue_.depth() == 0) return 0;

    // Syncs the sink before the queue is trimmed: after a power cut each event is in one of them.
    sink_.sync();
    at_.reach("trim.begin", store_.byte);
    queue_.trim(reached());
    at_.reach("trim.done", store_.byte);
    return taken;
}

}  // namespace mailroom
