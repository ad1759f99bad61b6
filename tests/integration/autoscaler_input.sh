#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The autoscaler with bad rows and policies. The result is an error with line and field, or a row
# that is counted and in no figure. It is never a wrong number.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs autoscaler
program=$examples/autoscaler

# --- rows ----------------------------------------------------------------------------------------

# row SECONDS METRIC VALUE [INSTANCES]
row() { printf '2026-03-01T12:%02d:%02d.%03dZ,orders,%s,%s%s\n' $(($1 / 60)) $(($1 % 60)) 0 "$2" "$3" "${4:+,$4}"; }
# calm FROM UNTIL: samples of both metrics every five seconds.
calm()
{
    local t
    for ((t = $1; t < $2; t += 5)); do row "$t" backlog 15 2; row "$t" age 12 2; done
}
heading=time,resource,metric,value,instances
policy() { printf '%s\n' "$1" >policy.json; }
policy '{"up": {"mean": "backlog", "above": 100}, "down": {"highest": "backlog", "below": 10}, "min_points": 3,
         "stabilise": {"down": "0s"}, "instances": {"lowest": 1, "highest": 4}}'
mine=(--policy policy.json --every 10s --window 60s)

{ echo $heading; calm 0 200; } >good.csv
expect_exit 0 good.csv "${mine[@]}" --json good.records
expect_no_output rows,
{
    echo $heading
    calm 0 100
    for x in nan NaN -inf inf 1e999 -1e999; do row 100 backlog "$x" 2; done
    for x in '' abc 12x 0x10 '1 2' 1,000 - + 1e . '"1' ; do row 100 backlog "$x" 2; done
    echo 'yesterday,orders,backlog,1,2'
    echo '2026-02-30T12:00:00Z,orders,backlog,1,2'
    echo '9999-12-31T23:59:59Z,orders,backlog,1,2'
    echo '2262-04-11T23:47:16.854775807Z,orders,backlog,1000000,2'
    echo '1677-09-21T00:12:43.145224192Z,orders,backlog,1000000,2'
    echo '2026-03-01T12:01:40Z,,backlog,1,2'
    echo '2026-03-01T12:01:40Z,orders,,1,2'
    printf '2026-03-01T12:01:40Z,ord\001ers,backlog,1,2\n'
    printf '2026-03-01T12:01:40Z,ord\377ers,backlog,1,2\n'
    for x in -1 1.5 x 99999999999999999999; do row 100 backlog 15 "$x"; done
    echo '2026-03-01T12:01:40Z,orders'
    echo '2026-03-01T12:01:40Z,orders,backlog,1,2,3'
    echo garbage
    printf '%70000s\n' x
    echo
    row 20 backlog 100000 2
    calm 100 200
} >bad.csv
expect_exit 0 bad.csv "${mine[@]}" --json bad.records
expect_output '6 rows, first in line 42: value is not finite'
expect_output '9 rows, first in line 48: value is no number'
expect_output '1 row, first in line 58: a quote is not closed'
expect_output 'first in line 59: time is no time such as'
expect_output '1 row, first in line 62: time is more than 1h from all others'
expect_output '2 rows, first in line 63: is too old for the window'
expect_output '1 row, first in line 64: resource is empty'
expect_output '1 row, first in line 65: metric is empty'
expect_output 'first in line 66: resource has a control character'
expect_output 'first in line 67: resource is not UTF-8'
expect_output '4 rows, first in line 68: instances is no whole number'
expect_output '1 row, first in line 72: metric is missing'
expect_output '1 row, first in line 74: resource is missing'
expect_output 'there are more fields than columns'
expect_output 'first in line 75: the line is longer than 65,536 bytes'
expect_same bad.records good.records

# Equal rows count once. Of two contradicting rows the later one counts. Late rows count at their
# time. The order within a decision does not matter.
{ echo $heading; calm 0 200 | sed p; } >twice.csv
expect_exit 0 twice.csv "${mine[@]}" --json twice.records
expect_output '78 rows, first in line 3: has the time of an earlier row, and replaces it'
expect_same twice.records good.records
{ echo $heading; row 0 backlog 9999 2; calm 0 200; } >again.csv
expect_exit 0 again.csv "${mine[@]}" --json again.records
expect_same again.records good.records
{ echo $heading; calm 0 200 | awk '{ line[NR] = $0 } END { for (n = 1; n < NR; n += 2) { print line[n + 1]; print line[n] } }'; } >mixed.csv
expect_exit 0 mixed.csv "${mine[@]}" --json mixed.records
expect_same mixed.records good.records
{ echo $heading; calm 0 100; row 92 backlog 1000 2; calm 100 200; } >late.csv
expect_exit 0 late.csv "${mine[@]}"
expect_output '1 row, first in line 42: is not in order of time, and counts at its own time'
# A clock that is wrong at first, and one with a real gap of a day.
{ echo $heading; echo '2030-01-01T00:00:00Z,orders,backlog,5,2'; calm 0 200; } >wrong.csv
expect_exit 0 wrong.csv "${mine[@]}" --json wrong.records
expect_output '1 row, first in line 2: time is more than 1h from all others'
expect_same wrong.records good.records
{ echo $heading; calm 0 100; calm 0 100 | sed 's/2026-03-01/2026-03-02/'; } >gap.csv
expect_exit 0 gap.csv "${mine[@]}"
expect_output 'decisions left out, because there was no row for more than 1h'
{ echo $heading; calm 0 100; calm 0 100 | sed 's/2026-03-01T12/2262-04-11T22/'; } >end.csv
expect_exit 0 end.csv "${mine[@]}"
expect_output 'checked: '
{ echo $heading; for f in 775807 775806 775805; do echo "2262-04-11T23:47:16.854${f}Z,orders,backlog,500,1"; done; } >last.csv
expect_exit 0 last.csv "${mine[@]}"
{ echo $heading; for f in 145 146 147 148; do echo "1677-09-21T00:12:43.${f}999999Z,orders,backlog,500,1"; done; calm 0 60; } >old.csv
expect_exit 0 old.csv "${mine[@]}"
expect_output 'checked: '

# As JSON.
{
    calm 0 100 | awk -F, '{ printf "{\"time\":\"%s\",\"resource\":\"%s\",\"metric\":\"%s\",\"value\":%s}\n", $1, $2, $3, $4 }'
    echo '{"time":"2026-03-01T12:01:39Z","resource":"orders","metric":"backlog","value":NaN}'
    echo '{"time":"2026-03-01T12:01:39Z","resource":"orders","metric":"backlog","value":1e999}'
    echo '{"time":"2026-03-01T12:01:39Z","resource":"orders","metric":"backlog","value":"5"}'
    echo '{"time":"2026-03-01T12:01:39Z","resource":"orders","metric":"backlog"}'
    echo '{"time":"2026-03-01T12:01:39Z","resource":"orders","metric":"backlog","value":5,"value":500}'
    echo '{"time":1772366499,"resource":"orders","metric":"backlog","value":5}'
    echo '{"time":"2026-03-01T12:01:39Z","resource":"orders","metric":"backlog","value":5,"instances":-2}'
    echo '{"time":"2026-03-01T12:01:39Z","resource":"ord'
    echo '[]'
    echo '{"time":"2026-03-01T12:01:39Z","resource":"orders","metric":"backlog","value":5,"instances":null,"more":[]}'
} >bad.ndjson
expect_exit 0 bad.ndjson "${mine[@]}"
expect_output '2 rows, first in line 41: value or the text after it is no JSON'
expect_output '1 row, first in line 43: value is no number'
expect_output '1 row, first in line 44: value is missing'
expect_output '1 row, first in line 45: value is there twice'
expect_output '1 row, first in line 46: time is no text'
expect_output '1 row, first in line 47: instances is no whole number'
expect_output 'first in line 48: resource or the text after it is no JSON'
expect_output '1 row, first in line 49: the line is no JSON object'

# Files.
expect_exit 1 nothing.csv
expect_output 'there is no file nothing.csv'
expect_exit 1 tmp
expect_output 'tmp is a folder'
for heading_of in 'time,resource,metric' 'time,resource,value,instances' 'a,b' 'time,time,resource,metric,value' 'x"y","'; do
    { echo "$heading_of"; calm 0 100; } >heading.csv
    expect_exit 1 heading.csv
    expect_output 'heading.csv, line 1: '
done
expect_output 'a quote is not closed'
: >empty
expect_exit 1 empty
expect_output 'empty is empty: name a file with at least one line as the input'
echo $heading >empty
expect_exit 1 empty
{ echo $heading; echo 'x,orders,backlog,1,1'; } >empty
expect_exit 1 empty
expect_output 'line 2: time is no time'
head -c 100000 /dev/urandom >noise
expect_exit 1 noise
{ head -c 70000 /dev/zero | tr '\0' ' '; echo x; cat good.csv; } >noise
expect_exit 1 noise
expect_output 'noise, line 1: there is no heading'

# --- policies ------------------------------------------------------------------------------------

# wrong WORDS POLICY
wrong()
{
    policy "$2"
    expect_exit 1 good.csv "${mine[@]}"
    expect_output "policy.json: "
    expect_output "$1"
    [ ! -s out ] || fail 'it has decided something'
}
bounds='"instances": {"lowest": 1, "highest": 4}'
wrong '/up/mean: expected an existing metric (age, backlog), found "backlogs"' \
    "{\"up\": {\"mean\": \"backlogs\", \"above\": 1}, $bounds}"
wrong '/down/below' "{\"up\": {\"mean\": \"backlog\", \"above\": 100}, \"down\": {\"mean\": \"backlog\", \"below\": 100.5}, $bounds}"
wrong '/instances/highest' '{"up": {"mean": "backlog", "above": 1}, "instances": {"highest": 0}}'
wrong '/activation' '{"up": {"mean": "backlog", "above": 1}, "instances": {"lowest": 0, "highest": 4}}'
wrong '/step/up/percent' "{\"up\": {\"mean\": \"backlog\", \"above\": 1}, \"step\": {\"up\": {\"percent\": -5}}, $bounds}"
wrong '/cooldown/up' "{\"up\": {\"mean\": \"backlog\", \"above\": 1}, \"cooldown\": {\"up\": \"soon\"}, $bounds}"
wrong '/upp' "{\"upp\": {}, $bounds}"
wrong 'line 2, column' '{"up": '
wrong '/up' '{}'
wrong '' ''
policy "{\"up\": {\"mean\": \"backlog\", \"above\": 10}, \"step\": {\"up\": {\"percent\": 10}}, $bounds}"
expect_exit 0 good.csv "${mine[@]}"
expect_output 'up 1 -> 2'  # a tenth of one is rounded to one
expect_output 'up 3 -> 4'
policy '{"up": {"mean": "backlog", "above": {"per_instance": 5}}, "activation": {"last": "backlog", "above": 0},
         "zero_after": "0s", "instances": {"lowest": 0, "highest": 4}}'
expect_exit 0 good.csv "${mine[@]}"
expect_output 'up 0 -> 1'
expect_output 'checked: '
expect_exit 1 --policy nothing.json
expect_output 'there is no file nothing.json: name one as the policy'
expect_exit 1 --policy tmp
expect_output 'tmp is a folder'
