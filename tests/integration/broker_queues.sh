#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run_queue on beanstalkd and NATS JetStream: both conform. No message is lost while the server and
# a worker are killed with -9 and started again. A broker that is not installed is named and
# skipped.
set -euo pipefail
# has HEADER
has() { echo "#include <$1>" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1; }
if ! has nlohmann/json.hpp; then
    echo 'SKIP: there is no nlohmann/json to build with'
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
libraries=()
! has nats/nats.h || libraries+=(-lnats)
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
    "$WAYBILL_SOURCE/tests/integration/broker_queues/queues.cpp" -o queues \
    ${libraries[@]+"${libraries[@]}"} -pthread
PATH=$PATH:/usr/sbin
kills=8
messages=1000

# start BROKER PORT NAME: the server stores its data in the folder NAME, its pid is in NAME.pid.
start()
{
    mkdir -p "$3"
    case $1 in
        beanstalkd) beanstalkd -l 127.0.0.1 -p "$2" -b "$3" >>"$3.log" 2>&1 & ;;
        nats) nats-server -a 127.0.0.1 -p "$2" -js -sd "$3" >>"$3.log" 2>&1 & ;;
    esac
    echo $! >"$3.pid"
    for _ in $(seq 500); do
        ! (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null || return 0
        sleep 0.02
    done
    echo "$1 does not start: $(cat "$3.log")"
    return 1
}

# conform BROKER
conform()
{
    local port
    port=$(./queues port)
    start "$1" "$port" "$1.conform"
    disown  # the program ends the server, and the shell need not report that
    timeout 60 ./queues conform "$1" "$port" "$(cat "$1.conform.pid")"
}

# killed BROKER: one producer and two workers, while the server and the second worker are killed.
killed()
{
    local broker=$1 port name=$1.killed producer first second pid n twice code=0
    port=$(./queues port)
    start "$broker" "$port" "$name"
    timeout 60 ./queues put "$broker" "$port" "$name.put" "$messages" &
    producer=$!
    timeout 60 ./queues work "$broker" "$port" "$name.handled" "$name.done" >"$name.first" &
    first=$!
    for ((n = 0; n != kills; ++n)); do
        ./queues work "$broker" "$port" "$name.handled" "$name.done" >"$name.second" &
        second=$!
        sleep "0.$((RANDOM % 6 + 3))"
        pid=$(cat "$name.pid")
        kill -9 "$pid"
        wait "$pid" 2>/dev/null || true
        start "$broker" "$port" "$name"
        sleep "0.$((RANDOM % 4 + 1))"
        kill -9 "$second" || { echo "$broker: a worker ended by itself: $(cat "$name.second")"; return 1; }
        wait "$second" 2>/dev/null || true
    done
    timeout 60 ./queues work "$broker" "$port" "$name.handled" "$name.done" >"$name.second" &
    second=$!
    wait "$producer" || code=1
    touch "$name.done"
    wait "$first" || code=1
    wait "$second" || code=1
    ./queues dead "$broker" "$port" >"$name.dead" || code=1
    sed "s/^/$broker: /" "$name.first" "$name.second"

    # Messages 7, 57, 107 ... are dead letters, and all others were handled.
    awk '$2 % 50 != 7' "$name.put" | sort -u >"$name.expected"
    awk '$2 % 50 == 7 { print "permanent: " $0 }' "$name.put" | sort -u >"$name.expected_dead"
    sort -u "$name.handled" | comm -3 "$name.expected" - >"$name.wrong"
    sort -u "$name.dead" | comm -3 "$name.expected_dead" - >>"$name.wrong"
    [ ! -s "$name.wrong" ] || code=1
    head -n 5 "$name.wrong"
    # With beanstalkd, a kill repeats the messages that the two workers have and the one that the
    # producer is sending. JetStream may also lose acknowledgements.
    twice=$(($(wc -l <"$name.handled") - $(wc -l <"$name.expected")))
    [ "$broker" = nats ] || [ "$twice" -le $((5 * kills)) ] || code=1
    echo "$broker: $kills kills, $(wc -l <"$name.put") messages, $(wc -l <"$name.wrong") lost or wrong;" \
        "$twice handled again," \
        "$(($(wc -l <"$name.dead") - $(wc -l <"$name.expected_dead"))) dead letters repeated"
    return "$code"
}

tests=()
run() { "$@" >"$1.$2.out" 2>&1 & tests+=("$1.$2:$!"); }
for broker in beanstalkd nats; do
    server=${broker/nats/nats-server}
    if [ "$broker" = nats ] && ! has nats/nats.h; then
        echo 'SKIP: there is no nats.c (libnats-dev)'
    elif command -v "$server" >/dev/null; then
        run conform $broker
        run killed $broker
    else
        echo "SKIP: there is no $server"
    fi
done
wrong=0
for t in ${tests[@]+"${tests[@]}"}; do
    wait "${t#*:}" || { wrong=1; echo "${t%:*} fails" >&2; }
    cat "${t%:*}.out"
done
exit $wrong
