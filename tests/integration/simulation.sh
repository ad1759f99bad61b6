#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The simulation of learning senders meets its targets, loses and doubles nothing, and prints the
# tables of bench/README.md.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
program=$programs/simulation
expect_exit 0 --check
grep -q '^N+A .*refused.*pass' out || fail 'no targets were held'
expect_exit 0 --json table.json
grep -q '"S12"' table.json

# The block is marked with its command in bench/README.md; each of its lines is a line of the output.
awk '/^```/ { on = 0 } on; $0 == "```text bench/run simulation" { on = 1 }' "$WAYBILL_SOURCE/bench/README.md" >shown
! grep -vxFf out shown || fail 'bench/README.md has these lines, and the simulation does not print them'
[ "$(grep -cE '^((ours|article|recut|halving|ratio), [A-Z]|[[:alnum:]+-]+ +[0-9.]+ )' shown)" = 34 ] ||
    fail 'bench/README.md does not show all 34 rows'
