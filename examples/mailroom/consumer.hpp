// SPDX-License-Identifier: MIT
//
// consumer: messages out of the queue and into effect, each once.
//
// Queue and sink are two systems. There is no transaction over both, and none is needed: what is
// done stands in the sink, written with the effects, and the queue is trimmed by what stands there.

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

    std::uint64_t byte = 0;  ///< Where in the input the batch begins.

private:
    phases& at_;
};

class consumer {
public:
    consumer(engines::database& sink, engines::sqlite_queue& queue, phases& at);

    /// Takes all that is in the queue into effect, then trims it. Answers how many messages.
    std::uint64_t drain();

    /// The number of the last message that is done.
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
