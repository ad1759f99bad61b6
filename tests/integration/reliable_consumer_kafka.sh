#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The consumer of Kafka, on a mock cluster in its process. The service that its handlers call hangs
# and is down for a while. One member joins, one crashes, and one is stopped in an outage. Each
# event takes effect at least once, or is a dead letter. The program checks itself. This script
# compares its table with the input lines.
set -euo pipefail
export LC_ALL=C
program=$WAYBILL_BIN/examples/reliable_consumer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail()
{
    echo "reliable_consumer_kafka: $*" >&2
    cat out >&2
    exit 1
}

code=0
timeout 900 "$program" --from kafka --partitions 4 >out 2>&1 || code=$?
if grep -q 'without librdkafka' out; then
    echo "SKIP: reliable_consumer_kafka: $(cat out)"
    exit 0
fi
[ $code -eq 0 ] || fail "it ends with $code"
grep -q '^checked: each event took effect at least once' out || fail 'it has not checked itself'
read -r all events applied _ dead _ moved < <(tail -n +2 out | grep '^ *all ' | tr -d ,)
lines=$(wc -l <"$WAYBILL_SOURCE/examples/mailroom/recording.ndjson")
[ "$all $events" = "all $lines" ] || fail "$events events of $lines lines"
[ $((applied + dead)) -eq "$lines" ] || fail "$applied applied and $dead dead are not $lines"
[ "$moved" -ge 1 ] || fail 'no partition has changed hands'
versionless=$(grep '"event":"installed"' "$WAYBILL_SOURCE/examples/mailroom/recording.ndjson" | grep -vc '"version":"[^"]' || true)
[ "$dead" -eq "$versionless" ] || fail "$dead dead letters, and $versionless lines without a version"
calls=$(sed -n 's/.* \([0-9,]*\) calls in an outage of .*/\1/p' out | tr -d ,)
[ "${calls:-0}" -ge 8 ] || fail "an outage that ${calls:-no} calls have met"
cat out
