// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/consume.hpp>
#include <waybill/testing/conformance.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_store.hpp>

using waybill::testing::manual_environment;

constexpr auto succeeds = [](const auto&...) { return waybill::fault{}; };
constexpr auto handles = [](auto&, const event&) { return waybill::fault{}; };
constexpr auto fetches =
    [](const waybill::dead_letter& d) -> waybill::result<std::optional<event>> {
    return event{d.at.sequence, d.body};
};

template <class Store, class Handler, class... Ask>
void processes_with(Store& store, Handler handler, Ask... ask)
{
    const std::vector<event> events;
    (void)waybill::process_batch(store, waybill::assignment{}, events, handler,
                                 waybill::wall_time{}, waybill::batch_policy{}, ask...);
}

template <class Checkpoints, class Letters, class Handler>
void processes_at_least_once_with(Checkpoints& checkpoints, Letters& letters, Handler handler)
{
    const std::vector<event> events;
    (void)waybill::process_at_least_once(checkpoints, letters, waybill::assignment{}, events,
                                         handler, waybill::wall_time{});
}

template <class Store, class Fetch, class Handler>
void reprocesses_with(Store& store, Fetch fetch, Handler handler)
{
    (void)waybill::reprocess(store, waybill::partition_key{}, 7, fetch, handler,
                             waybill::wall_time{});
}

template <class Store>
void processes(Store& store)
{
    processes_with(store, handles);
}

template <class Checkpoints, class Letters>
void processes_at_least_once(Checkpoints& checkpoints, Letters& letters)
{
    processes_at_least_once_with(checkpoints, letters, succeeds);
}

template <class Store>
void reprocesses(Store& store)
{
    reprocesses_with(store, fetches, handles);
}

// expect: store: the type `transaction` must exist
struct without_transaction {
    waybill::result<int> begin();
    waybill::result<std::optional<waybill::checkpoint>> load(const waybill::partition_key&);
};
static_assert(&processes<without_transaction> != nullptr);

// expect: store: begin() must exist and return result<transaction>
struct begin_returns_pointer : complete_store {
    transaction* begin();
};
static_assert(&processes<begin_returns_pointer> != nullptr);

// expect: store: load(key) must exist and return result<std::optional<checkpoint>>
struct load_returns_position : complete_store {
    waybill::result<std::optional<waybill::position>> load(const key&);
};
static_assert(&processes<load_returns_position> != nullptr);

// expect: store: advance(tx, key, from, to, epoch) must exist and return result<advance_outcome>
struct advance_without_from : complete_store {
    // Without `from` it is no compare-and-set.
    outcome advance(transaction&, const key&, const waybill::position& to, std::uint64_t epoch);
};
static_assert(&processes<advance_without_from> != nullptr);

// expect: store: put(tx, letter) must exist and return result<void>
struct put_returns_bool : complete_store {
    bool put(transaction&, const waybill::dead_letter&);
};
static_assert(&processes<put_returns_bool> != nullptr);

// expect: store: find(key, sequence) must exist and return result<std::optional<dead_letter>>
struct without_find : complete_store {
    void find() = delete;
};
static_assert(&processes<without_find> != nullptr);

// expect: store with crash records: load_crash_record(key) must exist and return
struct without_load_crash_record : complete_store {
    void load_crash_record() = delete;
};
static_assert(&processes<without_load_crash_record> != nullptr);

// expect: store with crash records: store_crash_record(tx, key, row) must exist and return
struct store_crash_record_returns_void : complete_store {
    void store_crash_record(transaction&, const key&, const waybill::crash_record&);
};
static_assert(&processes<store_crash_record_returns_void> != nullptr);

// expect: store with crash records: clear_crash_record(tx, key) must exist and return result<void>
struct without_clear_crash_record : complete_store {
    void clear_crash_record() = delete;
};
static_assert(&processes<without_clear_crash_record> != nullptr);

// A store with another transaction has to accept it in `advance`, too.
template <class Transaction>
struct store_of : complete_store {
    using transaction = Transaction;
    waybill::result<transaction> begin();
    outcome advance(transaction&, const key&, const std::optional<waybill::position>&,
                    const waybill::position&, std::uint64_t epoch);
};

// expect: transaction: commit() must exist and return result<commit_outcome>
struct commit_returns_bool {
    bool commit();
    void rollback() noexcept;
};
static_assert(&processes<store_of<commit_returns_bool>> != nullptr);

// expect: transaction: rollback() must exist and be noexcept
struct rollback_may_throw {
    waybill::result<waybill::commit_outcome> commit();
    void rollback();
};
static_assert(&processes<store_of<rollback_may_throw>> != nullptr);

// expect: store: a transaction must be movable
struct not_movable {
    not_movable(const not_movable&) = delete;
    not_movable& operator=(const not_movable&) = delete;
    waybill::result<waybill::commit_outcome> commit();
    void rollback() noexcept;
};
static_assert(&processes<store_of<not_movable>> != nullptr);

// expect: transaction: commit() must exist and return result<commit_outcome>
struct store_without_commit : complete_store {
    struct transaction {
        void rollback() noexcept;
    };
    waybill::result<transaction> begin();
};

auto conformance_without_commit()
{
    return waybill::testing::conformance([] { return store_without_commit(); });
}

// expect: process_batch: the handler must accept (transaction&, const event&)
void handler_without_transaction(complete_store& s)
{
    processes_with(s, [](const event&) { return waybill::fault{}; });
}

// expect: and return a fault or an event_outcome
void handler_returns_void(complete_store& s)
{
    processes_with(s, [](auto&, const event&) {});
}

// expect: process_batch: `ask` must accept a number and return batch_policy::if_all_failed
void ask_returns_bool(complete_store& s)
{
    processes_with(s, handles, [](std::uint64_t failed) { return failed > 10; });
}

// expect: process_batch: an event must have a `sequence` that is an integer
waybill::batch_report event_without_sequence(complete_store& s, const waybill::assignment& mine)
{
    return waybill::process_batch(
        s, mine, std::vector<std::string>(), [](auto&, auto&) { return waybill::fault{}; },
        waybill::wall_time{});
}

// expect: checkpoints: load(key) must exist and return result<std::optional<checkpoint>>
struct offsets_load_position : complete_offsets {
    waybill::position load(const waybill::partition_key&);
};
static_assert(&processes_at_least_once<offsets_load_position, complete_letters> != nullptr);

// expect: checkpoints: commit(key, from, to, epoch) must exist and return result<advance_outcome>
struct offsets_commit_without_from : complete_offsets {
    waybill::result<void> commit(const waybill::partition_key&, const waybill::position& to);
};
static_assert(&processes_at_least_once<offsets_commit_without_from, complete_letters> != nullptr);

// expect: letters: put(letter) must exist and return result<void>
struct letters_put_returns_void {
    void put(const waybill::dead_letter&);
};
static_assert(&processes_at_least_once<complete_offsets, letters_put_returns_void> != nullptr);

// expect: process_at_least_once: the handler must accept (const event&, std::string_view key)
void at_least_once_handler_without_key(complete_offsets& o, complete_letters& l)
{
    processes_at_least_once_with(o, l, [](const event&) { return waybill::fault{}; });
}

// expect: and return a fault or an event_outcome
void at_least_once_handler_returns_void(complete_offsets& o, complete_letters& l)
{
    processes_at_least_once_with(o, l, [](const event&, std::string_view) {});
}

// expect: store: advance(tx, key, from, to, epoch) must exist and return result<advance_outcome>
struct without_advance : complete_store {
    void advance() = delete;
};

auto checkpoint_writer_for_without_advance(without_advance& s)
{
    return waybill::checkpoint_writer_for(s);
}

// expect: store: reset(tx, key, from, epoch) must return result<advance_outcome>
//
// rewind would otherwise report that the store cannot reset.
struct reset_returns_void : complete_store {
    waybill::result<void> reset(transaction&, const key&, const waybill::position&, std::uint64_t);
};

waybill::rewind_report to_beginning(reset_returns_void& s, const waybill::assignment& mine)
{
    return waybill::rewind(s, mine, {});
}

// expect: store: remove(tx, key, sequence) must exist and return result<bool>
struct remove_returns_void : complete_store {
    waybill::result<void> remove(transaction&, const key&, std::uint64_t);
};
static_assert(&reprocesses<remove_returns_void> != nullptr);

// expect: store: list(key, after, max_count) must exist and return result<std::vector<dead_letter>>
struct without_list : complete_store {
    void list() = delete;
};
static_assert(&reprocesses<without_list> != nullptr);

// expect: reprocess: fetch must accept a const dead_letter& and return result<std::optional<event>>
void fetch_returns_event(complete_store& s)
{
    reprocesses_with(
        s, [](const waybill::dead_letter& d) { return event{d.at.sequence, d.body}; }, handles);
}

// expect: reprocess: the handler must accept (transaction&, const event&)
void reprocess_handler_without_transaction(complete_store& s)
{
    reprocesses_with(s, fetches, [](const event&) { return waybill::fault{}; });
}

// expect: and return a fault or an event_outcome
void reprocess_handler_returns_void(complete_store& s)
{
    reprocesses_with(s, fetches, [](auto&, const event&) {});
}

// expect: store: list(key, after, max_count) must exist and return result<std::vector<dead_letter>>
struct without_list_for_all : complete_store {
    void list() = delete;
};

waybill::dead_letter::run_report reprocess_all_without_list(without_list_for_all& s,
                                                            manual_environment& env)
{
    return waybill::reprocess_all(
        s, [](auto&, const auto&) { return waybill::fault{}; },
        {.keys = {{"orders", "billing", "0"}}}, env);
}

// expect: resubmit: the send function must return a fault, a fault_kind, a result<void>, a call_answer or nothing, and not bool
waybill::dead_letter::run_report resubmit_send_returns_bool(
    waybill::testing::memory_store<std::string>& s, manual_environment& env)
{
    return waybill::resubmit(s, [](const auto&) { return true; }, env);
}

// expect: store: without dead_letter_keys(), which returns result<std::vector<partition_key>>, the policy must contain the keys
waybill::dead_letter::run_report resubmit_without_keys(complete_store& s, manual_environment& env)
{
    return waybill::resubmit(s, succeeds, env);
}
