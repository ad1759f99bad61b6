#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# reliable_consumer with real processes that are killed at least 200 times, mostly during a batch.
# The program checks its tables.
set -euo pipefail
export LC_ALL=C

program=$WAYBILL_BIN/examples/reliable_consumer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "reliable_consumer: $*" >&2
    exit 1
}

# expect_checked ARGS...: a run that must succeed.
expect_checked()
{
    "$program" "$@" >"$work/out" 2>"$work/err" ||
        fail "exit $? of $*: $(cat "$work/out" "$work/err")"
    grep -q '^checked: each event took effect exactly once' "$work/out" || fail "$* has checked nothing"
}

# refuses WORDS ARGS...: it ends with 2 and this text.
refuses()
{
    local words=$1 code=0
    shift
    "$program" "$@" >"$work/out" 2>&1 || code=$?
    [ $code = 2 ] || fail "exit $code instead of 2 of $*: $(cat "$work/out")"
    grep -qF -- "$words" "$work/out" || fail "the output of $* does not contain '$words': $(cat "$work/out")"
}

# Without faults: alone, and with more workers than partitions; events one by one, and all at once.
expect_checked
[ "$(awk '$1 == "all"{print $2, $3}' "$work/out")" = '8,812 8,800' ] || fail "other figures: $(cat "$work/out")"
expect_checked --workers 1 --partitions 1 --batch 10000
expect_checked --workers 5 --partitions 2 --batch 7
head -n 40 "$WAYBILL_SOURCE/examples/mailroom/recording.ndjson" >"$work/few"
printf '{"torn\n[1]\n{"package":""}\n\n{"package":"a","event":"installed"}\n' >>"$work/few"
expect_checked --input "$work/few" --batch 1 --partitions 3
awk '$1 == "all"{exit !($2 == 44 && $4 >= 4)}' "$work/out" || fail "not 44 events, 4 of them dead: $(cat "$work/out")"

# An event that ends each process that handles it is found and dead-lettered. With one partition and
# one worker at a time, that takes at most 2 * 3 + log2(64) - 1 deaths. With several partitions it
# may take some more. If a partition is taken for balance before the lease of its dead owner has
# expired, the new owner does not learn of that death. A killed owner is still counted in the
# balance.
poisoned()
{
    expect_checked --poison --batch 64 "$@"
    deaths=$(sed -n 's/.*; \([0-9]*\) deaths\{0,1\} by an event.*/\1/p' "$work/out")
    [ "${deaths:-0}" -ge 3 ] || fail "$* found the event after ${deaths:-0} deaths, before 3"
}
poisoned --workers 1 --partitions 1
[ "$deaths" -le 11 ] || fail "$deaths deaths until the event was found, where 11 are the most"
poisoned --workers 1
poisoned

# Killed with -9 at least 200 times, at least 100 of them during a batch. The share depends on the
# load of the machine.
kills=0 inside=0 seed=0
while [ $kills -lt 200 ] || [ $inside -lt 100 ]; do
    seed=$((seed + 1))
    [ $seed -le 12 ] || fail "only $kills kills in 12 runs, $inside in the middle of a batch"
    expect_checked --kill 9 --seed $seed --poison
    read -r k b < <(sed -n 's/.*; \([0-9,]*\) kills with -9, \([0-9]*\) of them.*/\1 \2/p' "$work/out")
    kills=$((kills + k)) inside=$((inside + b))
done
cat "$work/out"

# All processes are killed, and the next run continues with the tables.
deaths=0
for pause in 0.05 0.12 0.3; do
    "$program" --db "$work/db" --kill 30 >"$work/out" 2>&1 &
    main=$!
    sleep $pause
    kill -9 $main 2>/dev/null && deaths=$((deaths + 1))
    wait $main 2>/dev/null || true
done
expect_checked --db "$work/db"
[ $deaths = 3 ] || fail "the family died $deaths times, and not 3"

# After the rule is repaired, the dead letters take effect. If that run is killed, the next one
# continues.
expect_checked --db "$work/repaired"
for pause in 0.004 0.008 0.012; do
    "$program" reprocess --db "$work/repaired" >"$work/out" 2>&1 &
    main=$!
    sleep $pause
    kill -9 $main 2>/dev/null || true
    wait $main 2>/dev/null || true
done
expect_checked reprocess --db "$work/repaired"
expect_checked reprocess --db "$work/repaired"
grep -q '^dead letters: finished: 0 done, 0 failed$' "$work/out" || fail "dead letters are left: $(cat "$work/out")"
expect_checked --db "$work/repaired"
[ "$(awk '$1 == "all"{print $2, $3, $4}' "$work/out")" = '17,624 17,624 0' ] || fail "other figures: $(cat "$work/out")"
expect_checked --input "$work/few" --db "$work/repaired_few" --partitions 3
expect_checked reprocess --db "$work/repaired_few" --partitions 3
grep -q ': permanent: not a JSON object$' "$work/out" || fail "no reason: $(cat "$work/out")"
refuses 'reprocess needs --db DIR, the folder with the dead letters' reprocess
refuses 'reprocess has no --kill, --poison and --from: omit them' reprocess --db "$work/repaired" --poison

refuses '--workers 0: a number from 1 to 32' --workers 0
refuses '--workers 33: a number from 1 to 32' --workers 33
refuses '--batch -1: a number from 1' --batch -1
refuses 'there is no option --batches' --batches 3
refuses '--kill 0: 1 to 3600 seconds' --kill 0
refuses '--kill is not for --from kafka: omit it' --from kafka --kill 3
refuses '--log needs --store postgres:' --log nats:
refuses '--store postgres: needs --log nats: or kafka:' --store postgres:
refuses '--cluster needs --log nats: --store postgres:' --cluster
refuses '--log nuts:: nats:, kafka:, nats://HOST:PORT or kafka://HOST:PORT is expected' --log nuts:
refuses '--log nats://: nats:, kafka:, nats://HOST:PORT' --log nats:// --store postgres:
refuses '--log kafka: because the mock cluster keeps no events; omit --db' --log kafka: --store postgres: --db "$work/db"
refuses '--store mysql:: postgres: or postgres://... is expected' --log nats: --store mysql:
refuses 'reprocess is for the tables in SQLite: omit --log and --store' reprocess --db "$work/db" --log nats: --store postgres:
refuses '--from redis: kafka or kafka://HOST:PORT' --from redis
"$program" --input /nowhere >"$work/out" 2>&1 && fail 'an input that is not there is read'
grep -qF 'there is no file /nowhere' "$work/out" || fail "the output does not name the missing file: $(cat "$work/out")"

echo "reliable_consumer: $kills kills, $inside of them in the middle of a batch; nothing lost, nothing doubled"
