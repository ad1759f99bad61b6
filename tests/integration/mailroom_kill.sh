#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills mailroom with -9 in every phase of its work. Afterwards its tables must equal, row by row,
# those of an undisturbed run.
#
# A kill at a random time mostly hits no interesting phase. So mailroom stops at a requested phase,
# prints a line and waits for the kill. A kill that misses fails the test.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs mailroom
program=$examples/mailroom

# Real events and bad lines: torn lines, text that is not JSON, events too large for the queue alone
# (9,000 bytes) or with their header (8,190), a line longer than the maximum, blank lines, and an
# end without a newline.
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
} >input.ndjson

run=(--input input.ndjson --limit 8192)

# start_held PHASE[:NTH] ARGS...: starts a run that stops at a phase, and waits for that. Sets
# `stopped`, the process that has stopped.
start_held()
{
    local phase=${1%%:*}
    start main "$program" "${run[@]}" --hold "$@"
    await "nothing is held at $phase" holds
    stopped=$(sed -n "s/^holding $phase //p" main.out)
    [ -d "/proc/${stopped:-none}" ] || fail "the process held at $phase is gone already"
}
holds() { prints main 'holding ' || has_ended main; }

# is_gone PID: true if the killed process has ended.
is_gone()
{
    case $(sed -n 's/^State:[[:space:]]*//p' "/proc/$1/status" 2>/dev/null) in Z* | '') ;; *) return 1 ;; esac
}

# same WHAT: the tables equal those of the undisturbed run.
same()
{
    "$program" --db db --dump >tables
    cmp -s undisturbed tables || fail "after $1 the tables differ: $(diff undisturbed tables | head -20)"
    rm -rf db
}

# killed_at PHASE:NTH...: one kill at each phase. Each run continues the previous one.
killed_at()
{
    local stop
    for stop in "$@"; do
        start_held "$stop" --plain --db db
        killed main
        kills=$((kills + 1))
    done
}

expect_exit 0 "${run[@]}" --plain --db quiet
"$program" --db quiet --dump >undisturbed
[ "$(grep -c '^applied|' undisturbed)" -gt 1000 ] || fail 'hardly anything was applied'
for reason in 'installed, but' 'too large: 9' 'too large: 83' 'too large: a line of 1200000' 'not JSON from' 'not an event'; do
    grep -q "^dead_letters|.*|$reason" undisturbed || fail "no dead letter has the reason: $reason"
done

# Every phase, early and late, without other faults.
for stop in read:{1,2,9,30} enqueue.begin:{1,4,20} enqueue.insert:{1,2,11,25} enqueue.commit:{1,5,13,28} \
    enqueue.done:{1,3,17} enqueue.marker:{1,2,4} consume.begin:{1,2,7} consume.handler:{1,60,333,777} \
    consume.parked:{1,2,9} consume.advanced:{1,4,8} consume.done:{1,3,6} trim.begin:{1,2} trim.done:{1,2}; do
    killed_at "$stop"
    expect_exit 0 "${run[@]}" --plain --db db
    same "a kill at $stop"
done

# Killed several times while it continues.
while read -r -a stops; do
    killed_at "${stops[@]}"
    expect_exit 0 "${run[@]}" --plain --db db
    same "kills at ${stops[*]}"
done <<'STOPS'
enqueue.commit:3 enqueue.commit:1 enqueue.done:1
enqueue.marker:1 enqueue.marker:1 enqueue.marker:2
consume.advanced:1 consume.advanced:1 consume.done:1 trim.begin:1
consume.parked:1 consume.handler:50 read:1 enqueue.insert:2
trim.begin:1 trim.done:1 consume.begin:1
STOPS

# The parent is killed: its worker ends with it, and does not block the next run.
for stop in enqueue.insert:6 consume.handler:200 trim.begin:1; do
    start_held "$stop" --db db
    [ "$stopped" != "${pid[main]}" ] || fail 'there is no worker'
    killed main
    kills=$((kills + 1))
    expect_exit 0 "${run[@]}" --plain --db db
    await "process $stopped has outlived its parent" is_gone "$stopped"
    same "a kill of the parent at $stop"
done

# Another process kills the worker: the parent starts a new one.
start_held consume.advanced:2 --db db
kill -9 "$stopped"
kills=$((kills + 1))
ended main 0
same 'a kill of the worker'

[ $kills -ge 50 ] || fail "only $kills kills"
echo "mailroom_kill: $kills kills, each at its phase; $(wc -l <undisturbed) rows the same after each"
