// SPDX-License-Identifier: MIT
//
// lease: several processes share the partitions of a log. Includes its public headers.
//
//   processor             leases and partitions of one process in one state machine
//   lease_manager         claims, renews, balances and releases leases
//   partition_lifecycle   opens, processes, saves and closes one partition
//   fenced_store          a commit that fails if the partition has another owner
//   balance               which leases to claim or to steal

// Index, written by tests/api --write:
//
//   lease/balance.hpp
//     balance_plan balance(const lease_view& v, double random)
//
//   lease/balance_plan.hpp
//     struct lease_view
//     struct balance_plan
//
//   lease/fenced_store.hpp
//     concept lease_fence
//     class fenced_store
//
//   lease/lease.hpp
//     struct owner_id
//     constant last_epoch
//     fault epochs_used_up()
//     struct lease
//     struct owner_heartbeat
//     struct lease_table
//     struct lease_claim
//     enum claim_outcome { won, contended }
//     struct claim_result
//     concept lease_store
//     struct lease_options
//
//   lease/lease_calls.hpp
//     struct lease_manager_types
//     using lease_call
//     using lease_answer
//     lease_answer ask(S& store, const lease_call& call, double random)
//
//   lease/lease_group.hpp
//     struct lease_group
//     partition_key key_of(const lease_group& g, std::uint32_t partition)
//
//   lease/lease_manager.hpp
//     class lease_manager
//
//   lease/lease_observer.hpp
//     class lease_observer
//
//   lease/partition_lifecycle.hpp
//     enum batch_pass { moved, drained, again, reopen, lost }
//     struct partition_lifecycle_types
//     partition_lifecycle_types::partition_opened opened_with(a, stored)
//     partition_lifecycle_types::processed processed_with(a, e)
//     struct lifecycle_options
//     class partition_lifecycle
//
//   lease/processor.hpp
//     struct processor_config
//     class processor

#ifndef WAYBILL_LEASE_HPP
#define WAYBILL_LEASE_HPP

#include <waybill/lease/balance.hpp>
#include <waybill/lease/balance_plan.hpp>
#include <waybill/lease/fenced_store.hpp>
#include <waybill/lease/lease.hpp>
#include <waybill/lease/lease_calls.hpp>
#include <waybill/lease/lease_group.hpp>
#include <waybill/lease/lease_manager.hpp>
#include <waybill/lease/lease_observer.hpp>
#include <waybill/lease/partition_lifecycle.hpp>
#include <waybill/lease/processor.hpp>
#include <waybill/version.hpp>

#endif  // WAYBILL_LEASE_HPP
