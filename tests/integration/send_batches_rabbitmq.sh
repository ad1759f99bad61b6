#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# send_batches into queues of RabbitMQ, on servers of its own: each code that the server can send has
# the outcome of the table, and the program reads its own queue back. It takes a server with Erlang, so
# it is skipped without one.
# With FLAGS the first program is compiled with further options, such as -fsanitize=address,undefined.
set -euo pipefail
export LC_ALL=C
program=$WAYBILL_BIN/examples/send_batches
skip()
{
    echo "SKIP: send_batches_rabbitmq: $*"
    exit 0
}
if ! echo '#include <amqp_tcp_socket.h>' |
    "${CXX:-c++}" -include amqp.h -E -x c++ - >/dev/null 2>&1; then
    skip 'there is no amqp_tcp_socket.h (librabbitmq-dev)'
fi
if ! command -v epmd >/dev/null ||
    ! { [ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] || command -v rabbitmq-server >/dev/null; }; then
    skip 'there is no rabbitmq-server or no epmd (rabbitmq-server)'
fi
[ -x "$program" ] || skip 'send_batches was not built, as its packages are missing'
! "$program" --help | grep -q 'without rabbitmq-c' || skip 'send_batches was built without rabbitmq-c'
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir tmp
export TMPDIR=$work/tmp
fail()
{
    echo "send_batches_rabbitmq: $*" >&2
    [ ! -e out ] || tail -n 50 out err >&2
    exit 1
}

printf '{"n":1}\n{"n":2}\n' >two
read -ra flags <<<"${FLAGS:-}"
"${CXX:-c++}" -std=c++20 -g -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
    "${flags[@]}" "$WAYBILL_SOURCE/tests/integration/engines/rabbitmq.cpp" -o rabbitmq -lrabbitmq
timeout 300 ./rabbitmq "$work/server" "$program" || fail "rabbitmq ends with $?"

limit=300
# shellcheck source=engines/send_batches_program.sh
source "$WAYBILL_SOURCE/tests/integration/engines/send_batches_program.sh"

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
