// SPDX-License-Identifier: MIT
//
// Handles a batch of events in one transaction with the checkpoint. By hand: a savepoint for each
// event, a dead letter for a bad one, and a rollback if a call fails.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <waybill/consume/stores.hpp>

struct event {
    std::uint64_t sequence = 0;
    std::string_view body{};
};

struct store {
    struct transaction {
        transaction();
        transaction(transaction&&) noexcept;
        transaction& operator=(transaction&&) noexcept;
        ~transaction();
        waybill::result<waybill::commit_outcome> commit();
        void rollback() noexcept;
        waybill::result<void> savepoint();
        waybill::result<void> release_savepoint();
        waybill::result<void> rollback_to_savepoint();
        bool apply(std::string_view body);
    };
    waybill::result<transaction> begin();
    waybill::result<std::optional<waybill::checkpoint>> load(const waybill::partition_key& key);
    waybill::result<waybill::advance_outcome> advance(transaction& tx,
                                                      const waybill::partition_key& key,
                                                      const std::optional<waybill::position>& from,
                                                      const waybill::position& to,
                                                      std::uint64_t epoch);
    waybill::result<void> put(transaction& tx, const waybill::dead_letter& letter);
    waybill::result<std::optional<waybill::dead_letter>> find(const waybill::partition_key& key,
                                                              std::uint64_t sequence);
};

#ifndef BY_HAND

#include <waybill/consume/process_batch.hpp>

bool handle_events(store& s, waybill::assignment& mine, std::span<const event> events,
                   waybill::wall_time now)
{
    const auto handle = [](store::transaction& tx, const event& e) -> waybill::fault {
        return tx.apply(e.body) ? waybill::fault{} : waybill::permanent("not applied");
    };
    const waybill::batch_report r = waybill::process_batch(s, mine, events, handle, now);
    if (r.outcome == waybill::batch_outcome::committed) mine.from = r.reached;
    return r.outcome == waybill::batch_outcome::committed;
}

#else

bool handle_events(store& s, waybill::assignment& mine, std::span<const event> events,
                   waybill::wall_time now)
{
    auto tx = s.begin();
    if (!tx || events.empty()) return false;
    for (const event& e : events) {
        if (!tx->savepoint()) return false;
        if (tx->apply(e.body)) {
            if (!tx->release_savepoint()) return false;
            continue;
        }
        if (!tx->rollback_to_savepoint()) return false;
        waybill::dead_letter letter;
        letter.key = mine.key;
        letter.at = {.sequence = e.sequence};
        letter.kind = waybill::fault_kind::permanent;
        letter.reason = "not applied";
        letter.body = e.body;
        letter.size = e.body.size();
        letter.dead_lettered_at = now;
        if (!s.put(*tx, letter)) return false;
    }
    const waybill::position to{.sequence = events.back().sequence};
    const auto advanced = s.advance(*tx, mine.key, mine.from, to, mine.epoch);
    if (!advanced || *advanced != waybill::advance_outcome::applied) return false;
    const auto committed = tx->commit();
    if (!committed || *committed != waybill::commit_outcome::applied) return false;
    mine.from = to;
    return true;
}

#endif
