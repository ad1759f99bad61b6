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

# answers CODE ARGS...: it must end with this code. Its output is in out and err.
answers()
{
    local code=0 expected=$1
    shift
    timeout 300 "$program" --report report.json "$@" >out 2>err || code=$?
    [ $code -eq "$expected" ] || fail "exit $code instead of $expected: $*"
}
says() { grep -qF -- "$1" out err || fail "it does not say: $1"; }
number() { sed -n "s/^  \"$1\": \([0-9]*\)[.0-9e-]*,\{0,1\}\$/\1/p" report.json; }
is() { [ "$(number "$1")" = "$2" ] || fail "$1 is '$(number "$1")' instead of $2"; }

# A server of the program: all lines but those that are larger than its limit.
recording=$WAYBILL_SOURCE/examples/mailroom/recording.ndjson
{ head -n 1000 "$recording"; printf '{"c":"%070000d"}\n' 3; tail -n 1000 "$recording"; } >mixed
answers 1 --to rabbitmq: --input mixed --limit 60000
is accepted 2000
is not_accepted 1
says 'not there: line 1001: '
says '406 PRECONDITION_FAILED'
! grep -q 'instead of\|not in their place' out err || fail 'the queue does not have the lines'
grep -q '"checked": true' report.json || fail 'the queue was not read back'
[ -z "$(ls tmp)" ] || fail 'a temporary folder is left'

# Ctrl-C ends the server, too, and removes its folder.
mkfifo input
"$program" --to rabbitmq: --input - <input >out 2>err &
sender=$!
exec {hold}>input
for _ in $(seq 600); do
    ! grep -qs 'Server startup complete' tmp/*/log/*.log || break
    sleep 0.1
done
sleep 0.5
server=$(pgrep -P "$sender" beam || true)
[ -n "$server" ] || fail 'the server does not start'
kill -INT "$sender"
code=0
wait "$sender" || code=$?
exec {hold}>&-
[ $code = 130 ] || fail "exit $code instead of 130"
for _ in $(seq 500); do
    kill -0 "$server" 2>/dev/null || break
    sleep 0.01
done
! kill -0 "$server" 2>/dev/null || fail 'the server goes on after its program'
[ -z "$(ls tmp)" ] || fail 'a temporary folder is left'

answers 1 --to rabbitmq://127.0.0.1:1/lines
says '--to rabbitmq://127.0.0.1:1/lines: 127.0.0.1:1: '
answers 1 --to rabbitmq://127.0.0.1
says 'expected rabbitmq://USER:PASSWORD@HOST:PORT/QUEUE'
echo "send_batches_rabbitmq: 2000 lines"
