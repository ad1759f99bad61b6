#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A topic of Kafka as an event log, on mock clusters in the process: the conformance suite, and
# readers that skip nothing and repeat nothing while brokers stop, leaders move and requests fail.
# With FLAGS the program is compiled with further options, such as -fsanitize=address,undefined.
set -euo pipefail
if ! echo '#include <librdkafka/rdkafka_mock.h>' |
    "${CXX:-c++}" -include librdkafka/rdkafka.h -E -x c++ - >/dev/null 2>&1; then
    echo 'SKIP: kafka_log: there is no librdkafka/rdkafka_mock.h (librdkafka-dev)'
    exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -ra flags <<<"${FLAGS:-}"
"${CXX:-c++}" -std=c++20 -g -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "${flags[@]}" \
    "$WAYBILL_SOURCE/tests/integration/engines/kafka_log.cpp" -o "$work/kafka_log" -lrdkafka -pthread
timeout 300 "$work/kafka_log" "$@"
