#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Streams of Redis on servers of its own. Sender: the outcome of each code, lost replies, 10,000 lines
# while the server is killed, a full memory. Queue: the conformance suite, and no message is lost while
# workers and the server are killed with -9. send_batches reads its own stream back.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs redis redis_queue redis-server

# --- the queue, while the sender is tested -------------------------------------------------------

start conform "$programs/redis_queue" conform "$work/conform"

# One producer, two workers and a third one that is killed, as the server is.
messages=1000
queue_kills=6
# handled PATTERN: the lines of the workers.
handled() { grep -c "$1" handled || true; }
# The third worker has handled another message, and all of them a further part of all messages.
part_is_handled()
{
    [ "$(handled '^third job')" -gt "$before" ] && [ "$(handled '^[a-z]* job')" -ge $((n * messages / (queue_kills + 1))) ]
}
workers_killed()
{
    local url n before repeated
    : >handled
    start server "$programs/redis_queue" server "$work/killed"
    await 'the server does not start' test -s server.out
    url=$(cat server.out)
    program=$programs/redis_queue
    expect_exit 0 put "$url" "$messages"
    start first "$program" work "$url" handled first
    start second "$program" work "$url" handled second
    for ((n = 1; n <= queue_kills; ++n)); do
        before=$(handled '^third job')
        start third "$program" work "$url" handled third
        await "part $n of the messages is not handled" part_is_handled
        killed third
        kill -USR1 "${pid[server]}"
    done
    ended first 0
    ended second 0
    expect_exit 0 end "$url"
    sed 's/^/queue: /' first.out second.out

    # Messages 7, 57, 107 ... are dead letters, and all others were handled.
    seq 0 $((messages - 1)) | awk '$1 % 50 != 7 { print "job " $1 }' | sort >expected
    seq 0 $((messages - 1)) | awk '$1 % 50 == 7 { print "permanent: job " $1 }' | sort >expected_dead
    sed -n 's/^[a-z]* job/job/p' handled | sort -u | cmp - expected || fail 'messages were not handled'
    sort out | cmp - expected_dead || fail 'other dead letters'
    # A kill repeats the messages in flight. A handler that is slower than its lock repeats its own. A
    # completed message is not repeated.
    repeated=$(awk '$2 == "completed" { completed[$4] = 1; next } $3 in completed' handled)
    [ -z "$repeated" ] || fail "handled after they were completed: $repeated"
    n=$(($(handled '^[a-z]* job') - $(wc -l <expected)))
    echo "queue: $queue_kills kills, $messages messages, $n handled again, $(wc -l <out) dead letters"
}

# --- the sender ----------------------------------------------------------------------------------

printf '{"n":1}\n{"n":2}\n' >two
sender=$examples/send_batches
has_program=
if [ ! -x "$sender" ]; then
    echo 'SKIP: send_batches was not built, as its packages are missing'
elif "$sender" --help | grep -q 'without hiredis'; then
    echo 'SKIP: send_batches was built without hiredis'
else
    has_program=1
fi
start sender "$programs/redis" "$work/server" "${has_program:+$sender}"
workers_killed
ended sender 0
ended conform 0

# --- send_batches --------------------------------------------------------------------------------

[ -n "$has_program" ] || exit 0
# shellcheck source=engines/send_batches_program.sh
source "$here/engines/send_batches_program.sh"

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
