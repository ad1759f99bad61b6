#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example partition_threads: two processes of five threads each share the partitions of one log.
# If the compiler has ThreadSanitizer, the processes run under it: a data race ends them.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs partition_threads
program=$examples/partition_threads_tsan
[ -x "$program" ] || { echo "$script: without ThreadSanitizer, which this compiler has not"; program=${program%_tsan}; }

export TSAN_OPTIONS=halt_on_error=1:exitcode=66
expect_exit 0 orders.sqlite one 1
start one "$program" orders.sqlite one 400
start two "$program" orders.sqlite two 400
ended one 0
ended two 0
events=$(sql orders.sqlite 'SELECT part, sequence FROM log ORDER BY part, sequence')
invoices=$(sql orders.sqlite 'SELECT part, number FROM invoice ORDER BY part, rowid')
[ "$(wc -l <<<"$events")" -eq 801 ] || fail "$(wc -l <<<"$events") events, and not 801"
[ "$invoices" = "$events" ] || fail 'the invoices are not those of the events'
[ -z "$(sql orders.sqlite "SELECT part FROM leases WHERE owner != ''")" ] || fail 'leases are held'
