// SPDX-License-Identifier: MIT
//
// consumer: applies the messages of the queue, each once.
//
// Queue and sink are two systems without a common transaction. The checkpoint is in the sink and
// committed with the effects. The queue is trimmed up to that checkpoint.

#ifndef WAYBILL_EXAMPLES_MAILROOM_CONSUMER_HPP
#define WAYBILL_EXAMPLES_MAILROOM_CONSUMER_HPP

#include <cstdint>
#include <optional>
#include <vector>

#include "../engines/sqlite.hpp"
#include "../engines/sqlite_queue.hpp"
#include "../engines/sqlite_store.hpp"
#include "event.hpp"
#include "ledger.hpp"
#include "phases.hpp"
#include <waybill/consume.hpp>
#include <waybill/lease.hpp>

namespace mailroom {

/// The checkpoint of this consumer in the sink.
[[nodiscard]] inline waybill::partition_key checkpoint_key()
{
    return {"mailroom", "ledger", "0"};
}

/// The store of the sink, which stops at the phases of a batch.
class watched_store : public engines::sqlite_store {
public:
    watched_store(engines::database& db, phases& at) : sqlite_store(db), at_(at) {}

    [[nodiscard]] waybill::result<transaction> begin();
    [[nodiscard]] waybill::result<void> put(transaction& tx, const waybill::dead_letter& d);
    [[nodiscard]] waybill::result<waybill::advance_outcome> advance(
        transaction& tx, const waybill::partition_key& key,
        const std::optional<waybill::position>& from, const waybill::position& to,
        std::uint64_t epoch);

    std::uint64_t byte = 0;  ///< The position in the input at which the batch begins.

private:
    phases& at_;
};

class consumer {
public:
    consumer(engines::database& sink, engines::sqlite_queue& queue, phases& at);

    /// Applies all messages of the queue, then trims it. Returns the number of messages.
    std::uint64_t drain();

    /// The number of the last message that was applied or dead-lettered.
    [[nodiscard]] std::uint64_t reached() const { return mine_.from ? mine_.from->sequence : 0; }

private:
    std::vector<delivery> fetch();

    engines::database& sink_;
    engines::sqlite_queue& queue_;
    phases& at_;
    watched_store store_;
    ledger ledger_;
    waybill::assignment mine_;
};

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_CONSUMER_HPP
