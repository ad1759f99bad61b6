#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example partition_threads: two processes of five threads each share the partitions of one log.
# If the compiler has ThreadSanitizer, the processes run under it: a data race ends them.
set -euo pipefail
command -v python3 >/dev/null || { echo "partition_threads: SKIPPED without python3"; exit 0; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=$WAYBILL_BIN/examples/partition_threads_tsan
[ -x "$program" ] || { echo "partition_threads: without ThreadSanitizer, which this compiler has not"; program=${program%_tsan}; }

fail()
{
    echo "partition_threads: $*: $(cat "$work"/*.out)" >&2
    exit 1
}

export TSAN_OPTIONS=halt_on_error=1:exitcode=66
"$program" "$work/orders.sqlite" one 1 >"$work/first.out" 2>&1 || fail "one process alone ends with $?"
"$program" "$work/orders.sqlite" one 400 >"$work/one.out" 2>&1 &
one=$!
"$program" "$work/orders.sqlite" two 400 >"$work/two.out" 2>&1 &
two=$!
wait $one || fail "the first ends with $?"
wait $two || fail "the second ends with $?"

python3 - "$work/orders.sqlite" <<'END' || fail "wrong invoices"
import sqlite3, sys

db = sqlite3.connect(sys.argv[1])
events = db.execute("SELECT part, sequence FROM log ORDER BY part, sequence").fetchall()
invoices = db.execute("SELECT part, number FROM invoice ORDER BY part, rowid").fetchall()
held = db.execute("SELECT count(*) FROM leases WHERE owner != ''").fetchone()[0]
print(f"{len(events)} events, {len(invoices)} invoices, {held} leases held")
sys.exit(invoices != events or len(events) != 801 or held != 0)
END
