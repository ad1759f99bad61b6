#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Databases and files that version 0.1 wrote (commit 6247139): this version continues with them.
#
# Each folder in tests/golden/v0_1 holds the SQLite tables of one program as SQL text. Except for
# `orders` and `imports`, which had ended, the program was killed with -9 while it wrote them:
#   mailroom                 200 lines of the recording and two bad ones; 100 applied, 35 uncommitted
#   reliable_consumer        80 lines, --partitions 4 --batch 3 --poison; a crash record with 3 deaths
#   order_pipeline/orders    --most 6; 2 orders stopped, 4 dead letters
#   order_pipeline/imports   --import --imports 1 --most 30; dead letters of independent steps
#   order_pipeline/middle    the first 8 orders; 2 sessions with a state, 16 steps dead-lettered
#   outbox                   1,600 lines, --outage 2; during the outage, a deferred mail among the stored entries
#   autoscaler               the state after 700 lines of trace.csv
#   send_batches             a calibration
set -euo pipefail
export LC_ALL=C

examples=$WAYBILL_BIN/examples
golden=$WAYBILL_SOURCE/tests/golden/v0_1
recording=$WAYBILL_SOURCE/examples/mailroom/recording.ndjson
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail()
{
    echo "version_0_1: $*" >&2
    [ ! -e out ] || cat out >&2
    exit 1
}

# expect_output WORDS PROGRAM ARGS...: it must end with 0 and print these words.
expect_output()
{
    local words=$1 program=$2
    shift 2
    timeout 300 "$examples/$program" "$@" >out 2>&1 || fail "exit $? of $program $*"
    grep -qF -- "$words" out || fail "$program $* does not print: $words"
}

"${CXX:-c++}" -std=c++20 "$WAYBILL_SOURCE/tests/integration/version_0_1/sqlite.cpp" -o sqlite -lsqlite3

# restore FOLDER: the databases of that fixture.
restore()
{
    local from=$golden/$1 to=${1##*/} file
    mkdir -p "$to"
    for file in "$from"/*; do
        case $file in
            *.sql) ./sqlite restore "$file" "$to/$(basename "$file" .sql).sqlite" ;;
            *) cp "$file" "$to/" ;;
        esac
    done
}

# Everything in the sink exactly once, as an undisturbed run of this version has it.
restore mailroom
{
    sed -n 1,20p "$recording"
    echo '{"at":"2026-01-01T00:00:00.5Z","package":"torn","eve'
    sed -n 21,30p "$recording"
    printf '{"at":"2026-01-01T00:00:02Z","package":"large","event":"unpacked","pad":"%09000d"}\n' 7
    sed -n 31,200p "$recording"
} >mailroom.ndjson
expect_output 'checked: ' mailroom --input mailroom.ndjson --limit 4096 --plain --db mailroom
"$examples/mailroom" --db mailroom --dump >continued
expect_output 'checked: ' mailroom --input mailroom.ndjson --limit 4096 --plain --db undisturbed
"$examples/mailroom" --db undisturbed --dump >undisturbed.tables
cmp -s continued undisturbed.tables || fail "mailroom: $(diff continued undisturbed.tables | head -5)"

restore reliable_consumer
head -n 80 "$recording" >log.ndjson
expect_output 'checked: each event took effect exactly once' reliable_consumer \
    --input log.ndjson --db reliable_consumer --partitions 4 --batch 3 --poison

restore order_pipeline/orders
expect_output '6 of 6 jobs complete, 2 of them after a redrive' order_pipeline redrive --fix --db orders
restore order_pipeline/imports
expect_output '1 of 1 job complete' order_pipeline redrive --fix --db imports
restore order_pipeline/middle
grep '"dirs"' "$recording" | head -n 8 >orders.ndjson || true
expect_output '6 of 8 jobs complete; 2 with dead-lettered steps, 4 in all' order_pipeline --input orders.ndjson --db middle
expect_output '8 of 8 jobs complete' order_pipeline redrive --fix --db middle

restore outbox
head -n 1600 "$recording" >outbox.ndjson
expect_output 'checked: each order has exactly one mail or one dead letter' outbox \
    --input outbox.ndjson --db outbox --plain --outage 1
grep -qF 'the relay has restored' out || fail 'outbox did not read the stored deferred mails'

# The decisions after the stored state are those of a run without an interruption.
trace=$WAYBILL_SOURCE/examples/autoscaler/trace.csv
policy=$WAYBILL_SOURCE/examples/autoscaler/policy.json
cp "$golden/autoscaler/state" state
expect_output 'the state had' autoscaler "$trace" --policy "$policy" --state state
expect_output '' autoscaler "$trace" --policy "$policy" --state whole.state
cmp -s state whole.state || fail 'autoscaler decides otherwise after the stored state'

# What was learnt holds from the first batch on: nothing is refused.
cp "$golden/send_batches/calibration.json" calibration.json
expect_output '' send_batches --items 100 --calibration calibration.json --report report.json
grep -q 'refused: at most' out && fail 'send_batches learns the limit again'
exit 0
