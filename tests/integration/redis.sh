#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Streams of Redis on servers of its own. Sender: the outcome of each code, lost replies, 10,000 lines
# while the server is killed, a full memory. Queue: the conformance suite, and no message is lost while
# workers and the server are killed with -9. send_batches reads its own stream back.
# With FLAGS the test programs are compiled with further options, such as -fsanitize=address,undefined.
set -euo pipefail
export LC_ALL=C
skip()
{
    echo "SKIP: redis: $*"
    exit 0
}
if ! echo '#include <hiredis/hiredis.h>' | "${CXX:-c++}" -E -x c++ - >/dev/null 2>&1; then
    skip 'there is no hiredis/hiredis.h (libhiredis-dev)'
fi
command -v redis-server >/dev/null || skip 'there is no redis-server (redis-server)'
work=$(mktemp -d)
pids=()
stop()
{
    local pid
    # SIGTERM, which timeout passes on. The servers end with their programs.
    for pid in "${pids[@]}" $(cat "$work/queue.pids" 2>/dev/null); do
        kill "$pid" 2>/dev/null || true
    done
    wait 2>/dev/null || true
    # The servers end when their programs do, and may still write.
    rm -rf "$work" 2>/dev/null || { sleep 0.5; rm -rf "$work"; }
}
trap stop EXIT
cd "$work"
mkdir tmp
export TMPDIR=$work/tmp
fail()
{
    echo "redis: $*" >&2
    [ ! -e out ] || tail -n 50 out err >&2
    exit 1
}

read -ra flags <<<"${FLAGS:-}"
compile()
{
    "${CXX:-c++}" -std=c++20 -g -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
        "${flags[@]}" "$WAYBILL_SOURCE/tests/integration/engines/$1.cpp" -o "$1" -lhiredis -pthread
}
compile redis_queue &
compiler=$!
compile redis
wait "$compiler"

# --- the queue, while the sender is tested -------------------------------------------------------

timeout 120 ./redis_queue conform "$work/conform" >conform.out 2>&1 &
conform=$!
pids+=("$conform")

# One producer, two workers and a third one that is killed, as the server is.
messages=1000
kills=6
killed()
{
    local server url first second third n
    ./redis_queue server "$work/killed" >url &
    server=$!
    echo "$server" >>queue.pids
    for _ in $(seq 500); do
        [ ! -s url ] || break
        sleep 0.02
    done
    url=$(cat url)
    ./redis_queue put "$url" "$messages"
    timeout 60 ./redis_queue work "$url" handled >first &
    first=$!
    timeout 60 ./redis_queue work "$url" handled >second &
    second=$!
    echo "$first" "$second" >>queue.pids
    for ((n = 0; n != kills; ++n)); do
        ./redis_queue work "$url" handled >third &
        third=$!
        sleep "0.$((RANDOM % 3 + 2))"
        kill -9 "$third" 2>/dev/null || true
        wait "$third" 2>/dev/null || true
        kill -USR1 "$server"
        sleep "0.$((RANDOM % 3 + 1))"
    done
    wait "$first" || { cat first; return 1; }
    wait "$second" || { cat second; return 1; }
    ./redis_queue end "$url" >dead || { cat dead; return 1; }
    sed 's/^/queue: /' first second

    # Messages 7, 57, 107 ... are dead letters, and all others were handled.
    seq 0 $((messages - 1)) | awk '$1 % 50 != 7 { print "job " $1 }' | sort >expected
    seq 0 $((messages - 1)) | awk '$1 % 50 == 7 { print "permanent: job " $1 }' | sort >expected_dead
    sort -u handled | cmp - expected || return 1
    sort dead | cmp - expected_dead || return 1
    # A kill repeats the messages in flight. A handler that is slower than its lock repeats its own.
    n=$(($(wc -l <handled) - $(wc -l <expected)))
    [ "$n" -le $((5 * kills + 3 * messages / 100)) ] || return 1
    echo "queue: $kills kills, $messages messages, $n handled again, $(wc -l <dead) dead letters"
}
(killed >killed.out 2>&1) &
killed=$!
pids+=("$killed")

# --- the sender ----------------------------------------------------------------------------------

printf '{"n":1}\n{"n":2}\n' >two
program=$WAYBILL_BIN/examples/send_batches
has_program=
if [ ! -x "$program" ]; then
    echo 'SKIP: send_batches was not built, as its packages are missing'
elif "$program" --help | grep -q 'without hiredis'; then
    echo 'SKIP: send_batches was built without hiredis'
else
    has_program=1
fi
timeout 120 ./redis "$work/server" "${has_program:+$program}" || fail "redis ends with $?"
wait "$conform" || { cat conform.out; fail 'the queue does not conform'; }
wait "$killed" || { cat killed.out; fail 'the queue has lost messages'; }
cat killed.out
pids=()

# --- send_batches --------------------------------------------------------------------------------

[ -n "$has_program" ] || exit 0
limit=60
# shellcheck source=engines/send_batches_program.sh
source "$WAYBILL_SOURCE/tests/integration/engines/send_batches_program.sh"

# All lines but those that are larger than the limit of the server.
recording=$WAYBILL_SOURCE/examples/mailroom/recording.ndjson
{ head -n 1000 "$recording"; printf '{"c":"%01100000d"}\n' 3; tail -n 1000 "$recording"; } >mixed
expect_exit 1 --to redis: --input mixed --limit 1048576
expect_number accepted 2000
expect_number not_accepted 1
expect_output 'not accepted: line 1001: '
expect_output 'exceeds proto-max-bulk-len of 1048576'
grep -q '"checked": true' report.json || fail 'the stream was not read back'
expect_exit 0 --to redis: --input "$recording"
expect_output 'each line is in the queue exactly once, in order'
expect_no_folder

interrupted redis: 'Ready to accept connections' 'tmp/*/log'

expect_exit 1 --to redis: --limit 1000
expect_output '--limit 1000: Redis accepts at least 1048576 bytes'
expect_exit 1 --to redis://127.0.0.1:1/lines
expect_output '127.0.0.1:1: Connection refused'
expect_exit 1 --to redis://127.0.0.1
expect_output 'expected redis://USER:PASSWORD@HOST:PORT/STREAM'
echo 'redis: 2000 lines'
