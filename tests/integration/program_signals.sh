#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Programs that are ended by a signal: the exit code is 128 + the signal, no temporary folder is
# left, and no process outlives its parent. A folder of --db stays, and the next run continues with
# it.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
for n in $(seq 40); do
    printf '{"at":"2026-01-01T00:00:00Z","package":"p%d","event":"installed","version":"1-1","dirs":{"/usr":[1,10]}}\n' "$n"
done >lines
mkfifo pipe
exec 9<>pipe  # an input without an end

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
autoscaler          2 autoscaler --live --for 3600s
reliable_consumer   3 reliable_consumer --kill 3600
reliable_consumer.db 3 reliable_consumer --kill 3600
outbox              2 outbox --plain --outage 60
outbox.db           2 outbox --plain --outage 60
order_pipeline      3 order_pipeline --kill
order_pipeline.db   3 order_pipeline --kill
RUNS

# It has its processes and its folder, and has done some work; or it has ended.
is_at_work()
{
    has_ended "$name" || { [ "$(children "${pid[$name]}" | wc -w)" -ge "$fewest" ] && [ -n "$(find "$at" -name '*.sqlite')" ]; }
}
# ended_by SIGNAL NUMBER NAME FEWEST PROGRAM ARGS...
ended_by()
{
    local signal=$1 number=$2 name=$3 fewest=$4 at=$work/$3.$1 all each args
    args=("${@:5}")
    mkdir -p "$at/tmp"
    [[ $name != *.db ]] || args+=(--db "$at/db")
    TMPDIR=$at/tmp start "$name" "$examples/${args[0]}" "${args[@]:1}" <pipe
    await "$name is not at work" is_at_work
    # Some are ended at once, some later.
    sleep "0.$((RANDOM % 4))"
    runs "$name" || fail "$name has ended before SIG$signal"
    all=$(children "${pid[$name]}")
    killed "$name" "$signal"
    [ "$code" -eq $((128 + number)) ] || fail "exit $code of $name after SIG$signal"
    [ -z "$(ls "$at/tmp")" ] || fail "$name leaves $(ls "$at/tmp") after SIG$signal"
    for each in $all; do
        ! lives "$each" || fail "process $each of $name outlives SIG$signal"
    done
}

signals=(INT:2 TERM:15)
count=0
declare -A running=()
few_run() { [ "$(jobs -rp | wc -l)" -lt 4 ]; }
while read -r name fewest program args; do
    [ -x "$examples/$program" ] || { echo "SKIP: $program is not built"; continue; }
    (
        for each in "${signals[@]}"; do
            # shellcheck disable=SC2086
            ended_by "${each%:*}" "${each#*:}" "$name" "$fewest" "$program" $args
        done
    ) &
    running[$name]=$!
    count=$((count + 1))
    # Many in parallel: they wait most of their time.
    await 'the runs do not end' few_run
done <runs
for name in "${!running[@]}"; do
    wait "${running[$name]}" || fail "$name"
done

# SIGHUP ends a program, too, unless nohup ignores it.
if [ -x "$examples/outbox" ]; then
    ended_by HUP 1 outbox 2 outbox --plain --outage 60
fi

# A reader that closes the pipe: SIGPIPE leaves no folder either.
if [ -x "$examples/order_pipeline" ]; then
    mkdir piped
    TMPDIR=$work/piped "$examples/order_pipeline" --input lines 2>&1 | head -c 1 >/dev/null || true
    [ -z "$(ls piped)" ] || fail 'SIGPIPE leaves a temporary folder'
fi

# The next run continues with the kept folder.
for name in mailroom reliable_consumer order_pipeline; do
    program=$examples/$name
    [ -x "$program" ] || continue
    args=(--db "$work/$name.db.TERM/db")
    [ $name != mailroom ] || args+=(--plain)
    expect_exit 0 "${args[@]}"
    expect_output 'checked: '
done

echo "program_signals: $count runs, each ended by ${#signals[@]} signals; no folder and no process is left"
