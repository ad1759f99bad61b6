#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The log on NATS JetStream: it conforms, it repairs lost messages and consumers, and on a cluster no
# event is lost, repeated or skipped while the nodes are killed with -9 and started again.
#
#     nats_log.sh [SECONDS]         the time of the kills, 20 s without an argument
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs nats_log nats-server
program=$programs/nats_log

# The nodes of a cluster end with the program that started them, and their folder is free again.
start hold "$program" "$work" hold
await 'the cluster does not start' prints hold started
mapfile -t nodes < <(grep -v started hold.out)
[ "${#nodes[@]}" -eq 3 ] || fail "${#nodes[@]} nodes, not 3"
killed hold
none_runs() { ! grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "${nodes[@]/#//proc/}"; }
nodes=("${nodes[@]/%//status}")
await 'nodes run after kill -9 of the program that started them' none_runs
flock -n held_cluster/lock true || fail 'the folder is still locked'
expect_exit 0 "$work" "${1:-20}"
cat out
