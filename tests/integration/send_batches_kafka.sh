#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# send_batches into topics of Kafka, on mock clusters in the process: batches are requests of exactly
# the computed size, error codes have the outcomes of the table, and the program reads the topic back.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs kafka_sender send_batches
program=$programs/kafka_sender
expect_exit 0

# shellcheck source=engines/send_batches_program.sh
source "$here/engines/send_batches_program.sh"
lines=$(wc -l <"$WAYBILL_SOURCE/examples/mailroom/recording.ndjson")
checked='checked: each line is in the queue exactly once, in order'

# The cluster of the program. It knows its limit, learns it if it may not, and finds it again.
for arguments in '' '--limit 65536'; do
    # shellcheck disable=SC2086
    expect_exit 0 --to kafka: $arguments
    expect_output "$checked"
    expect_number accepted "$lines"
    expect_number refusals 0
    expect_number sends "$(report_number fewest)"
done
expect_exit 0 --to kafka: --limit 65536 --blind
expect_output "$checked"
expect_output 'refused: MSG_SIZE_TOO_LARGE'
[ "$(report_number refusals)" -gt 2 ] || fail 'nothing is refused'
[ "$(report_number sends)" -le $(($(report_number fewest) * 3 / 2 + 3)) ] || fail "$(report_number sends) sends"
# Two records of exactly 2,000 bytes: 61 bytes of the batch, and 9 of each record.
printf '{"a":"%01992d"}\n{"b":"%01992d"}\n' 1 2 >two
expect_exit 0 --to kafka: --input two --limit 4079 --blind
expect_number sends 1
expect_exit 0 --to kafka: --input two --limit 4078 --blind
expect_number sends 3
expect_number refusals 1
expect_number accepted 2
# A line that fits nowhere.
{ cat two; printf '{"c":"%04000d"}\n' 3; } >three
expect_exit 1 --to kafka: --input three --limit 3000
expect_number accepted 2
expect_number not_accepted 1
expect_output 'not accepted: line 3: too_large, '

# A cluster of another process, twice: the second run reads back only its own lines.
start cluster "$programs/kafka_cluster"
at=$(first_line cluster)
for _ in 1 2; do
    expect_exit 0 --to "kafka://$at/lines"
    expect_output "$checked"
    expect_number accepted "$lines"
    expect_number sends 2
done
expect_exit 1 --to kafka://127.0.0.1:1/lines
expect_output 'Kafka: no broker responds, or there is no topic lines: start the brokers, or create the topic'
expect_exit 1 --to kafka://127.0.0.1
expect_output 'expected kafka://HOST:PORT/TOPIC'
expect_exit 1 --to kafka:lines
expect_output 'there is no such place'
expect_exit 0 --help
expect_output 'kafka://HOST:PORT/TOPIC'
echo "send_batches_kafka: $lines lines, $at"
