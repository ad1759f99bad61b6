#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kafka on the mock cluster of librdkafka with 100,000 events. Each line of the output is one fault.
#
#     outages                  brokers are down, leaders move, requests are refused
#     too large                batches are refused as too large; one event fits into no batch
#     slow consumer            a handler is slower than max.poll.interval.ms
#     the whole                reliable_consumer with PostgreSQL: outages, workers and primaries
#                              are killed
set -euo pipefail
# shellcheck source=common.sh
source "$WAYBILL_SOURCE/tests/engines/common.sh" kafka
needs_header librdkafka/rdkafka.h librdkafka-dev
export VERSION
VERSION=mock-$(sed -n 's/.*RD_KAFKA_VERSION  *0x0*\([0-9a-f]\)\(..\)\(..\).*/\1.\2.\3/p' \
    /usr/include/librdkafka/rdkafka.h 2>/dev/null | sed 's/\.0/./g')
compiled "$WAYBILL_SOURCE/tests/engines/kafka.cpp" -lrdkafka
lines 500 "$bin/kafka"
program=$WAYBILL_BIN/examples/reliable_consumer
has_postgres() { command -v initdb >/dev/null || compgen -G '/usr/lib/postgresql/*/bin/initdb' >/dev/null; }
if has_postgres && [ -x "$program" ]; then
    recording >"$work/input"
    # The mock cluster keeps 5 MiB of each partition.
    measured 'with PostgreSQL: outages, kill -9' 400 '[1-9] outages? of a broker.* requests refused' \
        "$program" --log kafka: --store postgres: --cluster --kill 20 --partitions 24 --input "$work/input"
else
    echo 'SKIP: kafka with PostgreSQL: there is no initdb, or reliable_consumer was not built'
fi
finished
