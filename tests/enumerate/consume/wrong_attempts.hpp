// SPDX-License-Identifier: MIT
//
// wrong_attempts: a wrapper of a store that keeps the crash record wrongly, and a driver that
// delivers through it.

#ifndef WAYBILL_TESTS_ENUMERATE_CONSUME_WRONG_ATTEMPTS_HPP
#define WAYBILL_TESTS_ENUMERATE_CONSUME_WRONG_ATTEMPTS_HPP

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <enumerate/consume/batch_simulation.hpp>

#include <waybill/consume/process_batch.hpp>

namespace wrong_attempts {

using waybill::crash_record;
using waybill::result;

enum class keeps_attempts : std::uint8_t {
    rightly,
    in_memory,       // in the memory of the process
    after_handling,  // the record is stored when all events of the batch have been handled
    // an orderly failure does not clear the record, and each delivery counts as a process
    never_called_off,
    never_forgotten,  // the record is not removed with the checkpoint
    by_place,         // the suspects are the first events of the current batch
    without_a_look,   // a stored record is assumed to be still there when it is cleared
    without_epochs,   // the record of a later owner is taken for that of an earlier one
};

// The state of one delivery.
template <class Store>
struct attempts_elsewhere {
    using transaction = typename Store::transaction;

    Store& behind;
    keeps_attempts how;
    const waybill::assignment& mine;
    const std::vector<batch_simulation::event>& events;
    std::map<waybill::partition_key, crash_record>& memory;
    std::optional<crash_record> late{};
    std::optional<crash_record> noted{};
    bool advancing = false;

    auto begin() { return behind.begin(); }
    auto load(const waybill::partition_key& k) { return behind.load(k); }
    auto advance(transaction& tx, const waybill::partition_key& k,
                 const std::optional<waybill::position>& from, const waybill::position& to,
                 std::uint64_t epoch)
    {
        advancing = true;
        if (late) (void)behind.store_crash_record(tx, k, *late);
        return behind.advance(tx, k, from, to, epoch);
    }
    auto put(transaction& tx, const waybill::dead_letter& d) { return behind.put(tx, d); }
    auto find(const waybill::partition_key& k, std::uint64_t n) { return behind.find(k, n); }

    result<std::optional<crash_record>> load_crash_record(const waybill::partition_key& k)
    {
        if (how == keeps_attempts::in_memory) {
            const auto found = memory.find(k);
            if (found == memory.end()) return std::optional<crash_record>();
            return std::optional<crash_record>(found->second);
        }
        auto found = behind.load_crash_record(k);
        if (how == keeps_attempts::without_a_look && noted) return noted;
        if (!found || !*found) return found;
        crash_record row = **found;
        if (how == keeps_attempts::without_epochs)
            row.epoch = waybill::detail::lesser(row.epoch, mine.epoch);
        if (how == keeps_attempts::by_place && !noted && row.suspects != 0) {
            row.to = events[waybill::detail::lesser(row.suspects, events.size()) - 1].sequence;
        }
        return std::optional<crash_record>(row);
    }
    result<void> store_crash_record(transaction& tx, const waybill::partition_key& k,
                                    const crash_record& row)
    {
        if (row.incarnation != 0) noted = row;
        if (how == keeps_attempts::never_called_off && row.incarnation == 0) return {};
        if (how == keeps_attempts::after_handling) {
            late = row;
            return {};
        }
        if (how != keeps_attempts::in_memory) return behind.store_crash_record(tx, k, row);
        memory.insert_or_assign(k, row);
        return {};
    }
    result<void> clear_crash_record(transaction& tx, const waybill::partition_key& k)
    {
        memory.erase(k);
        late.reset();
        if (how == keeps_attempts::never_forgotten) return {};
        if (how == keeps_attempts::never_called_off && !advancing) return {};
        return behind.clear_crash_record(tx, k);
    }
};

struct with_wrong_attempts {
    keeps_attempts how;
    std::map<waybill::partition_key, crash_record> memory{};
    std::uint64_t process = 0;
    std::uint64_t deliveries = 0;

    template <class Store, class Handler, class Ask>
    waybill::batch_report operator()(Store& store, const waybill::assignment& given,
                                     const std::vector<batch_simulation::event>& events,
                                     Handler& handler, const waybill::batch_policy& p, Ask& ask)
    {
        waybill::assignment mine = given;
        if (mine.incarnation != process) memory.clear();
        process = mine.incarnation;
        if (how == keeps_attempts::never_called_off) mine.incarnation = 1'000 + ++deliveries;
        attempts_elsewhere<Store> own{store, how, mine, events, memory};
        auto r =
            waybill::process_batch(own, mine, events, handler, batch_simulation::parked_at, p, ask);
        given.last = mine.last;
        return r;
    }
};

}  // namespace wrong_attempts

#endif  // WAYBILL_TESTS_ENUMERATE_CONSUME_WRONG_ATTEMPTS_HPP
