#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The example prometheus writes the text format of Prometheus: promtool accepts it or, if that is not
# installed (Debian package prometheus), a small parser. Both refuse a planted error.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs prometheus
program=$examples/prometheus
expect_exit 0
cp out metrics

# Each metric has a HELP and a TYPE line before its value; counters end in _total, gauges do not.
parses()
{
    awk '
        /^# HELP [a-z_]+ .+$/ { help = $3; next }
        /^# TYPE [a-z_]+ (counter|gauge)$/ { if ($3 != help || seen[$3]++) exit 1; type = $4; next }
        /^[a-z_]+ [0-9]+$/ {
            if ($1 != help || (type == "counter") != ($1 ~ /_total$/)) exit 1
            help = ""; n++; next
        }
        { exit 1 }
        END { if (n == 0) exit 1 }' "$1"
}
accepted()
{
    parses "$1" || return 1
    if command -v promtool >/dev/null; then promtool check metrics <"$1" >out 2>&1; fi
}
command -v promtool >/dev/null || echo "without promtool: it is not installed" >&2

accepted metrics || fail "refused: $(cat metrics)"
grep -qx 'messaging_client_sent_messages_total 999' metrics
grep -qx 'waybill_sender_not_accepted_messages_total 1' metrics
grep -qx 'messaging_client_consumed_messages_total 1000' metrics
grep -qx 'waybill_queue_dead_lettered_messages_total 1' metrics
grep -qx 'waybill_circuit_breaker_state 0' metrics

sed '0,/^# TYPE .*/s///' metrics >without_type
sed 's/^\(waybill_sender_requests\)_total /\1.total /' metrics >bad_name
cat metrics metrics >twice
for bad in without_type bad_name twice; do
    ! accepted $bad || fail "a planted error was not found: $bad"
done
