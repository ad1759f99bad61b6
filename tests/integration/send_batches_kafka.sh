#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# send_batches into topics of Kafka, on mock clusters in the process: batches are requests of exactly
# the computed size, error codes have the outcomes of the table, and the program reads the topic back.
# With FLAGS the first program is compiled with further options, such as -fsanitize=address,undefined.
set -euo pipefail
export LC_ALL=C
program=$WAYBILL_BIN/examples/send_batches
if ! echo '#include <librdkafka/rdkafka_mock.h>' |
    "${CXX:-c++}" -include librdkafka/rdkafka.h -E -x c++ - >/dev/null 2>&1; then
    echo 'SKIP: send_batches_kafka: there is no librdkafka/rdkafka_mock.h (librdkafka-dev)'
    exit 0
fi
work=$(mktemp -d)
cluster=
finish()
{
    [ -z "$cluster" ] || kill "$cluster" 2>/dev/null || true
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
fail()
{
    echo "send_batches_kafka: $*" >&2
    [ ! -e out ] || tail -n 50 out err >&2
    exit 1
}

read -ra flags <<<"${FLAGS:-}"
source=$WAYBILL_SOURCE/tests/integration/engines
compiled()
{
    "${CXX:-c++}" -std=c++20 -g -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
        "${flags[@]}" "$source/$1.cpp" -o "$1" -lrdkafka -ldl -pthread
}
compiled kafka_sender
timeout 120 ./kafka_sender || fail "kafka_sender ends with $?"
if [ ! -x "$program" ]; then
    echo 'SKIP: send_batches_kafka: send_batches was not built, as its packages are missing'
    exit 0
fi

# answers CODE ARGS...: it must end with this code. Its output is in out and err.
answers()
{
    local code=0 expected=$1
    shift
    timeout 120 "$program" --report report.json "$@" >out 2>err || code=$?
    [ $code -eq "$expected" ] || fail "exit $code instead of $expected: $*"
}
says() { grep -qF -- "$1" out err || fail "it does not say: $1"; }
number() { sed -n "s/^  \"$1\": \([0-9]*\)[.0-9e-]*,\{0,1\}\$/\1/p" report.json; }
is() { [ "$(number "$1")" = "$2" ] || fail "$1 is '$(number "$1")' instead of $2"; }
lines=$(wc -l <"$WAYBILL_SOURCE/examples/mailroom/recording.ndjson")
checked='checked: each line is in the queue exactly once, in order'

# The cluster of the program. It knows its limit, learns it if it may not, and finds it again.
for arguments in '' '--limit 65536'; do
    # shellcheck disable=SC2086
    answers 0 --to kafka: $arguments
    says "$checked"
    is accepted "$lines"
    is refusals 0
    is sends "$(number fewest)"
done
answers 0 --to kafka: --limit 65536 --blind
says "$checked"
says 'refused: MSG_SIZE_TOO_LARGE'
[ "$(number refusals)" -gt 2 ] || fail 'nothing is refused'
[ "$(number sends)" -le $(($(number fewest) * 3 / 2 + 3)) ] || fail "$(number sends) sends"
# Two records of exactly 2,000 bytes: 61 bytes of the batch, and 9 of each record.
printf '{"a":"%01992d"}\n{"b":"%01992d"}\n' 1 2 >two
answers 0 --to kafka: --input two --limit 4079 --blind
is sends 1
answers 0 --to kafka: --input two --limit 4078 --blind
is sends 3
is refusals 1
is accepted 2
# A line that fits nowhere.
{ cat two; printf '{"c":"%04000d"}\n' 3; } >three
answers 1 --to kafka: --input three --limit 3000
is accepted 2
is not_accepted 1
says 'not there: line 3: too_large, '

# A cluster of another process, twice: the second run reads back only its own lines.
compiled kafka_cluster
./kafka_cluster >address &
cluster=$!
for _ in $(seq 1000); do
    [ ! -s address ] || break
    sleep 0.01
done
at=$(head -n 1 address)
for _ in 1 2; do
    answers 0 --to "kafka://$at/lines"
    says "$checked"
    is accepted "$lines"
    is sends 2
done
answers 1 --to kafka://127.0.0.1:1/lines
says 'Kafka: no broker responds, or there is no topic lines: start the brokers, or create the topic'
answers 1 --to kafka://127.0.0.1
says 'expected kafka://HOST:PORT/TOPIC'
answers 1 --to kafka:lines
says 'there is no such place'
answers 0 --help
says 'kafka://HOST:PORT/TOPIC'
echo "send_batches_kafka: $lines lines, $at"
