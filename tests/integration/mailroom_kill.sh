#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills mailroom with -9 in every phase of its work. Afterwards its tables must equal, row by row,
# those of an undisturbed run.
#
# A kill at a random time mostly hits no interesting phase. So mailroom stops at a requested phase,
# prints a line and waits for the kill. A kill that misses fails the test.
set -euo pipefail
export LC_ALL=C

mailroom=$WAYBILL_BIN/examples/mailroom
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
limit=8192
kills=0
fifo=$work/fifo
mkfifo "$fifo"
exec 9<>"$fifo"

fail()
{
    echo "mailroom_kill: $*" >&2
    exit 1
}

# Real events and bad lines: torn lines, text that is not JSON, events too large for the queue alone
# (9,000 bytes) or with their header (8,190), a line longer than the maximum, blank lines, and an
# end without a newline.
input=$work/input.ndjson
lines=$WAYBILL_SOURCE/examples/mailroom/recording.ndjson
{
    sed -n 1,40p "$lines"
    printf '{"at":"2026-01-01T00:00:02Z","package":"close","event":"unpacked","pad":"%08115d"}\n' 7
    sed -n 41,150p "$lines"
    echo '{"at":"2026-01-01T00:00:00.5Z","package":"torn","eve'
    sed -n 151,300p "$lines"
    printf '{"at":"2026-01-01T00:00:01Z","package":"large","event":"unpacked","pad":"%09000d"}\n' 7
    sed -n 301,600p "$lines"
    printf '\n  \n\0\377\376 no text\n[1,2,3]\n'
    sed -n 601,900p "$lines"
    printf '%01200000d\n' 7
    sed -n 901,1200p "$lines"
    printf '{"package":"last","event":"inst'
} >"$input"

# mailroom_in DIR ARGS...: one complete run, which must succeed.
mailroom_in()
{
    "$mailroom" --input "$input" --limit $limit --db "$@" >"$work/out" 2>"$work/err" ||
        fail "exit $? of --db $*: $(cat "$work/out" "$work/err")"
}

# start DIR ARGS...: starts a run that will stop at a phase. Sets `main`, its process.
start()
{
    "$mailroom" --input "$input" --limit $limit --db "$@" >&9 2>"$work/err" &
    main=$!
}

# held PHASE: waits until the run stops there. Sets `held`, the stopped process.
held()
{
    local word phase
    read -r -t 300 -u 9 word phase held || fail "nothing is held at $1"
    [ "$word $phase" = "holding $1" ] || fail "held at '$word $phase' instead of $1"
    kill -0 "$held" || fail "the process held at $1 is gone already"
}

# gone PID: waits until a killed process has ended.
gone()
{
    local tries
    for tries in $(seq 6000); do
        [ -e "/proc/$1" ] || return 0
        case $(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null) in Z* | '') return 0 ;; esac
        sleep 0.01
    done
    fail "process $1 has outlived its parent"
}

# same DIR WHAT: the tables of DIR equal those of the undisturbed run.
same()
{
    "$mailroom" --db "$1" --dump >"$work/tables"
    cmp -s "$work/undisturbed" "$work/tables" ||
        fail "after $2 the tables differ: $(diff "$work/undisturbed" "$work/tables" | head -20)"
    rm -rf "$1"
}

# killed DIR PHASE:NTH...: one kill at each phase. Each run continues the previous one.
killed()
{
    local dir=$1 stop
    shift
    for stop in "$@"; do
        start "$dir" --plain --hold "$stop"
        held "${stop%%:*}"
        kill -9 "$main"
        wait "$main" 2>/dev/null || true
        kills=$((kills + 1))
    done
}

mailroom_in "$work/quiet" --plain
"$mailroom" --db "$work/quiet" --dump >"$work/undisturbed"
[ "$(grep -c '^applied|' "$work/undisturbed")" -gt 1000 ] || fail 'hardly anything was applied'
for reason in 'installed, but' 'too large: 9' 'too large: 83' 'too large: a line of 1200000' 'not JSON from' 'not an event'; do
    grep -q "^dead_letters|.*|$reason" "$work/undisturbed" || fail "no dead letter has the reason: $reason"
done

# Every phase, early and late, without other faults.
for stop in read:{1,2,9,30} enqueue.begin:{1,4,20} enqueue.insert:{1,2,11,25} enqueue.commit:{1,5,13,28} \
    enqueue.done:{1,3,17} enqueue.marker:{1,2,4} consume.begin:{1,2,7} consume.handler:{1,60,333,777} \
    consume.parked:{1,2,9} consume.advanced:{1,4,8} consume.done:{1,3,6} trim.begin:{1,2} trim.done:{1,2}; do
    killed "$work/db" "$stop"
    mailroom_in "$work/db" --plain
    same "$work/db" "a kill at $stop"
done

# Killed several times while it continues.
while read -r -a stops; do
    killed "$work/db" "${stops[@]}"
    mailroom_in "$work/db" --plain
    same "$work/db" "kills at ${stops[*]}"
done <<'STOPS'
enqueue.commit:3 enqueue.commit:1 enqueue.done:1
enqueue.marker:1 enqueue.marker:1 enqueue.marker:2
consume.advanced:1 consume.advanced:1 consume.done:1 trim.begin:1
consume.parked:1 consume.handler:50 read:1 enqueue.insert:2
trim.begin:1 trim.done:1 consume.begin:1
STOPS

# The parent is killed: its worker ends with it, and does not block the next run.
for stop in enqueue.insert:6 consume.handler:200 trim.begin:1; do
    start "$work/db" --hold "$stop"
    held "${stop%%:*}"
    [ "$held" != "$main" ] || fail 'there is no worker'
    kill -9 "$main"
    wait "$main" 2>/dev/null || true
    kills=$((kills + 1))
    mailroom_in "$work/db" --plain
    gone "$held"
    same "$work/db" "a kill of the parent at $stop"
done

# Another process kills the worker: the parent starts a new one.
start "$work/db" --hold consume.advanced:2
held consume.advanced
kill -9 "$held"
kills=$((kills + 1))
wait "$main" || fail "the run whose worker was killed: exit $?: $(cat "$work/err")"
same "$work/db" 'a kill of the worker'

[ $kills -ge 50 ] || fail "only $kills kills"
echo "mailroom_kill: $kills kills, each at its phase; $(wc -l <"$work/undisturbed") rows the same after each"
