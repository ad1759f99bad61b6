#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Programs that are ended by a signal: the exit code is 128 + the signal, no temporary folder is
# left, and no process outlives its parent. A folder of --db stays, and the next run continues with
# it.
set -euo pipefail
export LC_ALL=C

bin=$WAYBILL_BIN/examples
work=$(mktemp -d)
left=()
stop()
{
    local each
    for each in "${left[@]}"; do kill -9 "$each" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap stop EXIT
cd "$work"
for n in $(seq 40); do
    printf '{"at":"2026-01-01T00:00:00Z","package":"p%d","event":"installed","version":"1-1","dirs":{"/usr":[1,10]}}\n' "$n"
done >lines
mkfifo pipe
exec 9<>pipe  # an input without an end

fail()
{
    echo "program_signals: $*" >&2
    exit 1
}

# children PID: the process ids of its descendants.
children()
{
    cat "/proc/$1/task/$1/children" 2>/dev/null ||
        grep -l "^PPid:[[:space:]]*$1\$" /proc/[0-9]*/status 2>/dev/null | tr -dc '0-9\n' || true
}
# lives PID: false if the process has ended, even if its parent has not yet waited for it.
lives() { [ -e "/proc/$1" ] && ! grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }

# One run a line: a name, the minimum of processes at the time of the signal, and the command. If
# the name ends in .db, the run has its own folder, which stays.
cat >runs <<'RUNS'
mailroom            1 mailroom --hold consume.handler
mailroom.plain      0 mailroom --plain --hold consume.handler
mailroom.db         1 mailroom --hold consume.handler
send_batches        0 send_batches --input -
autoscaler          2 autoscaler --live --for 60s
reliable_consumer   3 reliable_consumer --kill 60
reliable_consumer.db 3 reliable_consumer --kill 60
outbox              2 outbox --plain --outage 20
outbox.db           2 outbox --plain --outage 20
order_pipeline      3 order_pipeline --kill
order_pipeline.db   3 order_pipeline --kill
RUNS

# ended_by SIGNAL NUMBER NAME FEWEST PROGRAM ARGS...
ended_by()
{
    local signal=$1 number=$2 name=$3 fewest=$4 main code=0 tries all each
    shift 4
    local at=$work/$name.$signal
    mkdir -p "$at/tmp"
    local args=("$@")
    [[ $name != *.db ]] || args+=(--db "$at/db")
    TMPDIR=$at/tmp "$bin/${args[0]}" "${args[@]:1}" >"$at/out" 2>&1 <pipe &
    main=$!
    left+=("$main")
    # Waits until it has its folder and its processes, and has done some work.
    for tries in $(seq 600); do
        all=$(children $main)
        if [ "$(wc -w <<<"$all")" -ge "$fewest" ] && [ -n "$(find "$at" -name '*.sqlite')" ]; then break; fi
        lives $main || break
        sleep 0.05
    done
    # Some are ended at once, some later.
    sleep "0.$((RANDOM % 4))"
    lives $main || fail "$name has ended before SIG$signal: $(tail -n 5 "$at/out")"
    all=$(children $main)
    kill -"$signal" $main
    for tries in $(seq 300); do
        lives $main || break
        sleep 0.05
    done
    lives $main && fail "$name does not end within 15 s of SIG$signal"
    wait $main || code=$?
    [ $code -eq $((128 + number)) ] || fail "exit $code of $name after SIG$signal: $(tail -n 5 "$at/out")"
    [ -z "$(ls "$at/tmp")" ] || fail "$name leaves $(ls "$at/tmp") after SIG$signal"
    for each in $all; do
        ! lives "$each" || fail "process $each of $name outlives SIG$signal"
    done
}

signals=(INT:2 TERM:15)
count=0
declare -A running=()
while read -r name fewest program args; do
    [ -x "$bin/$program" ] || { echo "SKIP: $program is not built"; continue; }
    (
        for each in "${signals[@]}"; do
            # shellcheck disable=SC2086
            ended_by "${each%:*}" "${each#*:}" "$name" "$fewest" "$program" $args
        done
    ) &
    running[$name]=$!
    left+=($!)
    count=$((count + 1))
    # Many in parallel: they wait most of their time.
    while [ "$(jobs -rp | wc -l)" -ge 4 ]; do sleep 0.05; done
done <runs
for name in "${!running[@]}"; do
    wait "${running[$name]}" || fail "$name"
done

# SIGHUP ends a program, too, unless nohup ignores it.
if [ -x "$bin/outbox" ]; then
    ended_by HUP 1 outbox 2 outbox --plain --outage 20
fi

# A reader that closes the pipe: SIGPIPE leaves no folder either.
if [ -x "$bin/order_pipeline" ]; then
    mkdir piped
    TMPDIR=$work/piped "$bin/order_pipeline" --input lines 2>&1 | head -c 1 >/dev/null || true
    [ -z "$(ls piped)" ] || fail 'SIGPIPE leaves a temporary folder'
fi

# The next run continues with the kept folder.
for program in mailroom reliable_consumer order_pipeline; do
    [ -x "$bin/$program" ] || continue
    args=(--db "$work/$program.db.TERM/db")
    [ $program != mailroom ] || args+=(--plain)
    "$bin/$program" "${args[@]}" >out 2>&1 || fail "$program after SIGTERM: $(cat out)"
    grep -q '^checked: ' out || fail "$program has checked nothing after SIGTERM"
done

echo "program_signals: $count runs, each ended by ${#signals[@]} signals; no folder and no process is left"
