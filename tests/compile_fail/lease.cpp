// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/lease.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_leases.hpp>
#include <waybill/testing/memory_log.hpp>

struct complete_leases {
    waybill::result<waybill::lease_table> list(const std::string&, const std::string&);
    waybill::result<waybill::lease_claim::result> claim(const waybill::lease_claim&);
    waybill::result<void> heartbeat(const waybill::owner_heartbeat&);
    waybill::result<void> leave(const waybill::owner_heartbeat&);
    waybill::result<std::optional<std::uint64_t>> epoch(complete_store::transaction&,
                                                        const waybill::partition_key&);
};

struct complete_log {
    waybill::result<std::vector<std::string>> partitions();
    waybill::result<std::vector<event>> read(const std::string&,
                                             const std::optional<waybill::position>&,
                                             std::uint64_t);
};

constexpr auto handles = [](auto&, const auto&) {};

template <class Leases>
void performs(Leases& leases)
{
    (void)waybill::perform(leases, waybill::lease_manager_types::lease_call{}, 0.5);
}

template <class Log, class Store, class Handler>
void runs_with(Log& log, Store& store, Handler handler)
{
    waybill::testing::manual_environment env;
    waybill::testing::memory_leases leases;
    (void)waybill::run_partitions(log, store, leases, handler, {.owner = "host-7"}, env);
}

template <class Log, class Store>
void runs(Log& log, Store& store)
{
    runs_with(log, store, handles);
}

// expect: lease store: list(source, group) must exist and return result<lease_table>
struct list_returns_leases : complete_leases {
    waybill::result<waybill::lease> list(const std::string&, const std::string&);
};
static_assert(&performs<list_returns_leases> != nullptr);

// expect: lease store: claim(lease_claim) must exist and return result<lease_claim::result>
struct claim_returns_bool : complete_leases {
    waybill::result<bool> claim(const waybill::lease_claim&);
};
static_assert(&performs<claim_returns_bool> != nullptr);

// expect: lease store: heartbeat(owner_heartbeat) must exist and return result<void>
struct without_heartbeat : complete_leases {
    void heartbeat() = delete;
};
static_assert(&performs<without_heartbeat> != nullptr);

// expect: lease store: leave(owner_heartbeat) must exist and return result<void>
struct leave_returns_void : complete_leases {
    void leave(const waybill::owner_heartbeat&);
};
static_assert(&performs<leave_returns_void> != nullptr);

// expect: lease store: renew(owner_heartbeat, version) must return result<lease_table>
struct renew_without_claim_all : complete_leases {
    waybill::result<waybill::lease_table> renew(const waybill::owner_heartbeat&, std::uint64_t);
};
static_assert(&performs<renew_without_claim_all> != nullptr);

// expect: event log: partitions() must exist and return
struct without_partitions : complete_log {
    void partitions() = delete;
};
static_assert(&runs<without_partitions, complete_store> != nullptr);

// expect: event log: read(partition, after, max_count) must exist and return a result
struct read_returns_events : complete_log {
    std::vector<event> read(const std::string&, const std::optional<waybill::position>&,
                            std::uint64_t);
};
static_assert(&runs<read_returns_events, complete_store> != nullptr);

// expect: event log: end(partition) must return
struct end_returns_number : complete_log {
    waybill::result<std::uint64_t> end(const std::string&);
};
static_assert(&runs<end_returns_number, complete_store> != nullptr);

// expect: transaction: commit() must exist and return result<commit_outcome>
struct store_without_commit : complete_store {
    struct transaction {
        void rollback() noexcept;
    };
    waybill::result<transaction> begin();
};
static_assert(&runs<waybill::testing::memory_log<>, store_without_commit> != nullptr);

// expect: run_partitions: the handler must accept (transaction&, const event&)
void handler_without_transaction(complete_log& l, complete_store& s)
{
    runs_with(l, s, [](const event&) {});
}

// expect: run_partitions: the handler must return a fault, an event_outcome or void
void handler_returns_bool(complete_log& l, complete_store& s)
{
    runs_with(l, s, [](auto&, const event&) { return true; });
}

// expect: fenced_store: the store must be a checkpoint_store, with begin(), load(key) and advance(
struct without_advance : complete_store {
    void advance() = delete;
};

auto fenced_without_advance(without_advance& s, complete_leases& l)
{
    return waybill::fenced_store(s, l);
}

// expect: fenced_store: the leases must have epoch(tx, key), and it must return
struct epoch_returns_number {
    std::uint64_t epoch(complete_store::transaction&, const waybill::partition_key&);
};

auto fenced_with_number(complete_store& s, epoch_returns_number& l)
{
    return waybill::fenced_store(s, l);
}
