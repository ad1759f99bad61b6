#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The simulation of learning senders meets its targets, loses and doubles nothing, and prints the
# tables of bench/README.md.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CXX:-c++}" -std=c++20 -O2 -I"$WAYBILL_SOURCE/include" "$WAYBILL_SOURCE/bench/simulation.cpp" -o "$work/simulation"
"$work/simulation" --check >"$work/check" || { cat "$work/check" >&2; exit 1; }
grep -q '^N+A .*refused.*pass' "$work/check" || { echo "no targets were held" >&2; exit 1; }
"$work/simulation" --json "$work/table.json" >"$work/table"
grep -q '"S12"' "$work/table.json"

# The block is marked with its command in bench/README.md; each of its lines is a line of the output.
awk '/^```/ { on = 0 } on; $0 == "```text bench/run simulation" { on = 1 }' \
    "$WAYBILL_SOURCE/bench/README.md" >"$work/shown"
bad=0
while IFS= read -r line; do
    grep -qxF -- "$line" "$work/table" || { echo "bench/README.md has, and the simulation has not: $line" >&2; bad=1; }
done <"$work/shown"
[ "$(grep -cE '^(ours|article|recut|halving|ratio|kafka|p99), [A-Z]' "$work/shown")" = 20 ] ||
    { echo "bench/README.md does not show all twenty rows" >&2; bad=1; }
exit $bad
