#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# run_queue on NATS JetStream: it conforms. No message is lost while the server and a worker are
# killed with -9 and started again.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs nats_work_queue nats-server
program=$programs/nats_work_queue
kills=8
messages=1000

# serve NAME PORT: a server with its data in the folder NAME.
serve()
{
    start "$1" nats-server -a 127.0.0.1 -p "$2" -js -sd "$work/$1"
    await "$1 does not listen" listens "$2"
}

# The conformance suite ends its server.
port=$("$program" port)
serve conform "$port"
start suite "$program" conform "$port" "${pid[conform]}"

# One producer and two workers, while the server and the second worker are killed: each time another
# part of the messages was handled.
port=$("$program" port)
serve server "$port"
start put "$program" put "$port" put "$messages"
start first "$program" work "$port" handled all_put
handled() { [ "$(wc -l <handled 2>/dev/null || echo 0)" -ge "$1" ] || has_ended first; }
for ((n = 1; n <= kills; ++n)); do
    start second "$program" work "$port" handled all_put
    await 'no message is handled' handled $((n * messages / (kills + 2)))
    killed server
    serve server "$port"
    await 'no message is handled' handled $((n * messages / (kills + 2) + 20))
    killed second
    [ "$code" = 137 ] || fail 'a worker has ended by itself'
done
start second "$program" work "$port" handled all_put
ended put 0

# Messages 7, 57, 107 ... are dead letters, and all others were handled.
awk '$2 % 50 != 7' put | sort -u >expected
awk '$2 % 50 == 7 { print "permanent: " $0 }' put | sort -u >expected_dead
all_handled()
{
    "$program" dead "$port" >dead || return 1
    cmp -s expected <(sort -u handled) && cmp -s expected_dead <(sort -u dead)
}
await 'messages or dead letters are lost or wrong' all_handled
touch all_put
ended first 0
ended second 0
cat first.out second.out
cmp -s expected <(sort -u handled) || fail 'messages are wrong'
# A killed server may lose acknowledgements, so there is no bound of repetitions.
echo "$kills kills, $(wc -l <put) messages, $(($(wc -l <handled) - $(wc -l <expected))) handled again," \
    "$(($(wc -l <dead) - $(wc -l <expected_dead))) dead letters repeated"
ended suite 0
cat suite.out
