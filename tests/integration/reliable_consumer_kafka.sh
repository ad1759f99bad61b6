#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The consumer of Kafka, on a mock cluster in its process. The service that its handlers call hangs
# and is down for a while. One member joins, one crashes, and one is stopped in an outage. Each
# event takes effect at least once, or is a dead letter. The program checks itself. This script
# compares its table with the input lines.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs reliable_consumer kafka_log
program=$examples/reliable_consumer

expect_exit 0 --from kafka --partitions 4
expect_output 'checked: each event took effect at least once'
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
