// SPDX-License-Identifier: MIT
//
// lease: several processes share the partitions of a log. Includes its public headers.
//
//   processor             leases and partitions of one process in one state machine
//   lease_manager         claims, renews, balances and releases leases
//   partition_lifecycle   opens, processes, saves and closes one partition
//   fenced_store          a commit that fails if the partition has another owner
//   balance               which leases to claim or to steal

#ifndef WAYBILL_LEASE_HPP
#define WAYBILL_LEASE_HPP

#include <waybill/lease/balance.hpp>
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
