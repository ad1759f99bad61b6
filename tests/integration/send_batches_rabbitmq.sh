#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# send_batches into queues of RabbitMQ, on servers of its own: each code that the server can send has
# the outcome of the table, and the program reads its own queue back. It takes a server with Erlang, so
# it is skipped without one.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs rabbitmq send_batches rabbitmq-server
printf '{"n":1}\n{"n":2}\n' >two
program=$programs/rabbitmq
expect_exit 0 "$work/server" "$examples/send_batches"

# shellcheck source=engines/send_batches_program.sh
source "$here/engines/send_batches_program.sh"

# A server of the program: all lines but those that are larger than its limit.
recording=$WAYBILL_SOURCE/examples/mailroom/recording.ndjson
{ head -n 1000 "$recording"; printf '{"c":"%070000d"}\n' 3; tail -n 1000 "$recording"; } >mixed
expect_exit 1 --to rabbitmq: --input mixed --limit 60000
expect_number accepted 2000
expect_number not_accepted 1
expect_output 'not accepted: line 1001: '
expect_output '406 PRECONDITION_FAILED'
! grep -q 'lines are in the queue, but\|not in their place' out err || fail 'the queue does not have the lines'
grep -q '"checked": true' report.json || fail 'the queue was not read back'
expect_no_folder

interrupted rabbitmq: 'Server startup complete' 'tmp/*/log/*.log'

expect_exit 1 --to rabbitmq://127.0.0.1:1/lines
expect_output '--to rabbitmq://127.0.0.1:1/lines: 127.0.0.1:1: '
expect_exit 1 --to rabbitmq://127.0.0.1
expect_output 'expected rabbitmq://USER:PASSWORD@HOST:PORT/QUEUE'
echo "send_batches_rabbitmq: 2000 lines"
