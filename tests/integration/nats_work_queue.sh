#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run_queue on NATS JetStream: it conforms. No message is lost while the server and a worker are
# killed with -9 and started again.
set -euo pipefail
PATH=$PATH:/usr/sbin
# has HEADER
has() { echo "#include <$1>" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1; }
for header in nats/nats.h nlohmann/json.hpp; do
    if ! has "$header"; then
        echo "SKIP: nats_work_queue: there is no $header"
        exit 0
    fi
done
if ! command -v nats-server >/dev/null; then
    echo 'SKIP: nats_work_queue: there is no nats-server'
    exit 0
fi
work=$(mktemp -d)
stop()
{
    local pid
    for pid in $(cat "$work"/*.pid 2>/dev/null) $(jobs -p); do
        [ "$(readlink "/proc/$pid/cwd")" != "$work" ] || kill -9 "$pid" 2>/dev/null || true
    done
    wait
    rm -rf "$work"
}
trap stop EXIT
cd "$work"
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
    "$WAYBILL_SOURCE/tests/integration/engines/nats_work_queue.cpp" -o nats_work_queue -lnats -pthread
kills=8
messages=1000

# start PORT NAME: the server stores its data in the folder NAME, its pid is in NAME.pid.
start()
{
    mkdir -p "$2"
    nats-server -a 127.0.0.1 -p "$1" -js -sd "$2" >>"$2.log" 2>&1 &
    echo $! >"$2.pid"
    for _ in $(seq 500); do
        ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null || return 0
        sleep 0.02
    done
    echo "nats-server does not start: $(cat "$2.log")"
    return 1
}

conform()
{
    local port
    port=$(./nats_work_queue port)
    start "$port" conform
    disown  # the program ends the server, and the shell need not report that
    timeout 60 ./nats_work_queue conform "$port" "$(cat conform.pid)"
}

# One producer and two workers, while the server and the second worker are killed.
killed()
{
    local port producer first second pid n code=0
    port=$(./nats_work_queue port)
    start "$port" server
    timeout 60 ./nats_work_queue put "$port" put "$messages" &
    producer=$!
    timeout 60 ./nats_work_queue work "$port" handled all_put >first &
    first=$!
    for ((n = 0; n != kills; ++n)); do
        ./nats_work_queue work "$port" handled all_put >second &
        second=$!
        sleep "0.$((RANDOM % 6 + 3))"
        pid=$(cat server.pid)
        kill -9 "$pid"
        wait "$pid" 2>/dev/null || true
        start "$port" server
        sleep "0.$((RANDOM % 4 + 1))"
        kill -9 "$second" || { echo "a worker ended by itself: $(cat second)"; return 1; }
        wait "$second" 2>/dev/null || true
    done
    timeout 60 ./nats_work_queue work "$port" handled all_put >second &
    second=$!
    wait "$producer" || code=1
    touch all_put
    wait "$first" || code=1
    wait "$second" || code=1
    ./nats_work_queue dead "$port" >dead || code=1
    cat first second

    # Messages 7, 57, 107 ... are dead letters, and all others were handled.
    awk '$2 % 50 != 7' put | sort -u >expected
    awk '$2 % 50 == 7 { print "permanent: " $0 }' put | sort -u >expected_dead
    sort -u handled | comm -3 expected - >wrong
    sort -u dead | comm -3 expected_dead - >>wrong
    [ ! -s wrong ] || code=1
    head -n 5 wrong
    # A killed server may lose acknowledgements, so there is no bound of repetitions.
    echo "$kills kills, $(wc -l <put) messages, $(wc -l <wrong) lost or wrong;" \
        "$(($(wc -l <handled) - $(wc -l <expected))) handled again," \
        "$(($(wc -l <dead) - $(wc -l <expected_dead))) dead letters repeated"
    return "$code"
}

code=0
killed >killed.out 2>&1 &
is_killed=$!
conform >conform.out 2>&1 &
conforms=$!
wait "$is_killed" || { code=1; echo 'killed fails' >&2; }
wait "$conforms" || { code=1; echo 'conform fails' >&2; }
cat killed.out conform.out
exit $code
