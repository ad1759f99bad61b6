// SPDX-License-Identifier: MIT
//
// lease: several processes share the partitions of a log. Includes its public headers.
//
//   run_partitions        processes the partitions of a log until it is stopped
//   partition_tasks       the same as tasks for several threads
//   processor             leases and partitions of one process in one state machine
//   lease_manager         claims, renews, balances and releases leases
//   partition_lifecycle   opens, processes, saves and closes one partition
//   fenced_store          a commit that fails if the partition has another owner
//   balance               which leases to claim, and how many to release

// Index, written by tests/api --write:
//
//   lease/balance.hpp
//     balance_plan balance(const balance_plan::lease_view& v, double random)
//
//   lease/balance_plan.hpp
//     struct balance_plan
//
//   lease/event_log.hpp
//     concept event_log
//
//   lease/fenced_store.hpp
//     class fenced_store
//
//   lease/lease.hpp
//     struct owner_id
//     struct lease
//     struct owner_heartbeat
//     struct lease_table
//     struct lease_claim
//     concept lease_store
//     struct lease_options
//
//   lease/lease_calls.hpp
//     struct lease_manager_types
//     lease_manager_types::lease_answer perform(store, call, random)
//
//   lease/lease_group.hpp
//     struct lease_group
//
//   lease/lease_manager.hpp
//     class lease_manager
//
//   lease/lease_observer.hpp
//     class lease_observer
//
//   lease/partition_lifecycle.hpp
//     struct partition_lifecycle_types
//     class partition_lifecycle
//
//   lease/partition_tasks.hpp
//     class partition_tasks
//
//   lease/partitions_report.hpp
//     struct partitions_report
//
//   lease/processor.hpp
//     class processor
//
//   lease/run_partitions.hpp
//     partitions_report run_partitions(log, store, leases, handler, work, env)
//     void run_partitions(log, store, leases, handler, p, env, report)
//     partitions_report run_partitions(log, store, leases, handler, p, env)

#ifndef WAYBILL_LEASE_HPP
#define WAYBILL_LEASE_HPP

#include <waybill/lease/balance.hpp>
#include <waybill/lease/balance_plan.hpp>
#include <waybill/lease/event_log.hpp>
#include <waybill/lease/fenced_store.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/lease_group.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/lease/lease_observer.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/lease/partition_tasks.hpp>
#include <waybill/lease/partitions_report.hpp>
#include <waybill/lease/processor.hpp>
#include <waybill/lease/run_partitions.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_LEASE_HPP
