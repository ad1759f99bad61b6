#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The articles on scaling and sampling: each has at most 40 lines of its own, and the documented
# output.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs metrics_to_autoscaler sampling

for name in metrics_to_autoscaler sampling; do
    lines=$(grep -cvE '^ *//|^#include|^ *$' "$WAYBILL_SOURCE/examples/articles/$name.cpp")
    [ "$lines" -le 40 ] || fail "$name has $lines lines of its own"
done

# The load rises and falls: up in steps, down again, and no more commands than changes.
program=$examples/metrics_to_autoscaler
expect_exit 0
grep -Eq ' up [3-6] -> [4-7]: up yes: last\(backlog\)' out || fail 'it does not scale up'
grep -Eq ' down 2 -> 1: ' out || fail 'it does not scale down'
[ "$(tail -n 1 out)" = 'autoscale: 80 rounds, 5 up, 5 down, 52 held: 1 instances' ] || fail 'another end'
[ "$(grep -c ' -> ' out)" -ge 5 ] || fail 'the report has no decisions'

# 30 days of 48 rows. From the 20th day on one in four is written. Some have counts, some durations.
awk 'BEGIN {
    for (d = 1; d <= 30; d++) for (i = 0; i < 48; i++) {
        n = d < 20 ? 1 : 4
        if (i % n) continue
        printf "{\"timestamp\":\"2026-03-%02dT%02d:%02d:00Z\",\"itemCount\":%d,", d, i / 2, i % 2 * 30, n
        if (i % 8 == 0) printf "\"name\":\"sold\",\"customMeasurements\":{\"count\":3}}\n"
        else printf "\"name\":\"read\",\"duration\":%d}\n", i
    }
}' >rows
program=$examples/sampling
expect_exit 0 <rows
[ "$(grep -c '^2026-' out)" -eq 22 ] || fail 'not 22 days'
# 48 rows, six of which count three: 60 events. 12 rows that count four each, six of them three.
grep -q '^2026-03-09 *48 *60 *100.0%  +0.0 %$' out || fail 'another 9th of March'
grep -q '^2026-03-20 *12 *96 *25.0%  +60.0 %$' out || fail 'another 20th of March'
grep -q '^2026-03-30 *12 *96 *25.0%  +0.0 %$' out || fail 'another 30th of March'
tail -n 1 out | grep -q '0 lines are no rows' || fail 'rows that were not read'
expect_exit 0 sold <rows
grep -q '^2026-03-30 *6 *72 *25.0%  +0.0 %$' out || fail 'other events of one name'
tail -n 1 out | grep -q '^95 % took at most 0 ms' || fail 'durations of rows that have none'
{
    cat rows
    printf '%s\n' garbage '[]' '{"name":"read"}' '{"timestamp":1,"itemCount":1}' \
        '{"timestamp":"2026-03-30T00:00:00Z","itemCount":0}' '{"timestamp":"2026-03-30","itemCount":1}' \
        '{"timestamp":"2026-03-30T00:00:00Z","itemCount":1,"customMeasurements":{"count":"x"}}'
} >bad
expect_exit 0 <bad
tail -n 1 out | grep -q '7 lines are no rows' || fail 'rows that are none are counted'
grep -q '^2026-03-30 *12 *96 ' out || fail 'rows that are none are in a figure'
expect_exit 0 </dev/null
tail -n 1 out | grep -q '0 lines are no rows' || fail 'no rows'

echo 'articles_scaling: two articles, each in at most 40 lines'
