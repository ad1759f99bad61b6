#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# lost_events in a user's environment: its figures for the recording, compared with awk; its
# verdicts on streams with lost or additional events; its handling of invalid rows.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs lost_events
program=$examples/lost_events
folder=$WAYBILL_SOURCE/examples/lost_events
recording=$folder/recording.ndjson
truth=$folder/recording.truth.csv

expect_last_line() { [ "$(tail -n 1 out)" = "$1" ] || fail "the last line is not: $1"; }

# rows FROM UNTIL EVERY N [OPERATION]: an event every EVERY ms in these seconds of March 2026. One
# in N is written.
rows()
{
    awk -v from="$1" -v until="$2" -v every="$3" -v n="$4" -v operation="${5:-read}" 'BEGIN {
        for (ms = from * 1000; ms < until * 1000; ms += every) {
            if (i++ % n) continue
            s = int(ms / 1000)
            printf "{\"time\":\"2026-03-%02dT%02d:%02d:%02d.%03dZ\",", int(s / 86400) + 1, \
                int(s / 3600) % 24, int(s / 60) % 60, s % 60, ms % 1000
            printf "\"operation\":\"%s\",", operation
            printf "\"duration_ms\":%d.25,\"item_count\":%d}\n", i % 89, n
        }
    }'
}

# The recording: each minute against awk, the true counts, and the verdict.
expect_exit 0
expect_last_line 'From 04:04 on one event in 5 was recorded; the raw count fell by 80 %, while the events stayed within 1 %: nothing was lost.'
expect_output 'checked: 10,156 events were counted without sampling; the sum of the weights is 10,134, 22 fewer'
[ ! -s err ] || fail 'it complains about its own recording'
! grep -q $'\x1b' out || fail 'colours in a file'
awk -F'"' '{
    minute = substr($4, 12, 5)
    raw[minute]++
    n = $(NF)
    gsub(/[:}]/, "", n)
    events[minute] += n
    all += n
} END {
    for (m in raw) print m, raw[m], events[m]
    print "2026-11-22", NR, all
}' "$recording" | sort >expected
sed 's/,//g' out | awk '$1 ~ /^[0-9][0-9]:[0-9][0-9]$/ || $1 == "2026-11-22" { print $1, $2, $3 }' | sort >found
[ "$(wc -l <found)" -eq 13 ] || fail 'not 12 minutes and a day'
cmp -s expected found || fail 'awk counts something else'
cp out first
expect_exit 0
cmp -s out first || fail 'twice the same, and not the same'
expect_exit 0 - <"$recording"
expect_output 'nothing was lost'

# With wrong true counts or wrong weights, the verdict must not be that nothing was lost.
sed 's/04:05:00Z,867/04:05:00Z,1367/' "$truth" >other.csv
expect_exit 1 "$recording" --truth other.csv
expect_output 'in the minute from 2026-11-22 04:05 on 1,367 events were counted, and the sum of the weights is 930'
expect_last_line 'The weights are wrong: their sums differ from the counts of --truth.'
sed 's/03:59:00Z,809/03:59:00Z,810/' "$truth" >other.csv
expect_exit 1 "$recording" --truth other.csv
expect_output 'in the minute from 2026-11-22 03:59 on 810 events were counted, and the sum of the weights is 809; chance allows 0'
sed '$d' "$truth" >other.csv
expect_exit 1 "$recording" --truth other.csv
expect_output '134 rows are of minutes without a count'
sed 's/"item_count":5/"item_count":1/' "$recording" >unweighted
expect_exit 1 unweighted --truth "$truth"
expect_exit 0 unweighted
expect_last_line 'From 04:04 on the events fell by 80 %, and every event was recorded all the time: that is no sampling, there really were fewer.'
for bad in 'x,5' '2026-11-22T03:58:00Z' '2026-11-22T03:58:00Z,NaN' '2026-11-22T03:58:00Z,-1'; do
    printf 'minute,events\n%s\n' "$bad" >other.csv
    expect_exit 1 "$recording" --truth other.csv
    expect_output 'other.csv, line 2: '
done

# Streams: changes of the events, and changes of their telemetry only.
expect_summary()
{
    expect_exit 0 stream
    expect_last_line "$1"
}
{ rows 0 600 100 1; rows 600 1200 100 5; } >stream
expect_summary 'From 00:10 on one event in 5 was recorded; the raw count fell by 80 %, while the events stayed within 1 %: nothing was lost.'
{ rows 0 600 100 1; rows 600 1200 200 5; } >stream
expect_summary 'From 00:10 on one event in 5 was recorded; the raw count fell by 90 %, the events by 50 %: sampling is only one cause, there really were fewer.'
{ rows 0 600 200 1; rows 600 1200 100 5; } >stream
expect_summary 'From 00:10 on one event in 5 was recorded; the raw count fell by 60 %, while the events rose by 100 %: nothing was lost, there were more.'
{ rows 0 600 100 5; rows 600 1200 100 1; } >stream
expect_summary 'From 00:10 on every event was recorded; the raw count rose by 400 %, while the events stayed within 1 %: nothing was gained.'
{ rows 0 600 100 1; rows 600 900 100 5; rows 900 1200 100 1; } >stream
expect_summary 'From 00:10 to 00:15 one event in 5 was recorded; the raw count fell by 80 %, while the events stayed within 1 %: nothing was lost.'
{ rows 0 1200 100 2; } >stream
expect_summary 'Nothing changed: one event in 2 was recorded all the time, and the number of events shows no lasting rise or fall.'
{ rows 0 600 100 2; rows 600 1200 400 2; } >stream
expect_summary 'From 00:10 on the events fell by 75 %, and one event in 2 was recorded all the time: that is no sampling, there really were fewer.'
{ rows 0 600 100 1; rows 600 900 100 5; rows 900 1200 400 5; } >stream
expect_summary 'From 00:10 on one event in 5 was recorded; the raw count fell by 87 %, the events by 37 %: sampling is only one cause, from 00:15 on there really were 75 % fewer.'
{ rows 0 600 100 1; rows 600 1200 200 4 a; rows 600 1200 200 6 b; } >stream
expect_summary 'From 00:10 on about one event in 4.8 was recorded; the raw count fell by 79 %, while the events stayed within 1 %: nothing was lost.'
head -n 4 stream >few
expect_exit 0 few
expect_last_line 'There are 4 rows only, too few to compare before and after.'
printf '\n \t\r\n' >blank
expect_exit 0 blank
expect_last_line 'There is no event.'
: >empty
expect_exit 1 empty
expect_output 'empty is empty: name a file with at least one line as the input'

# Several days: bins of a day, also by default; other widths; gaps.
{ rows 0 259200 60000 1; rows 259200 432000 60000 10; rows 604800 691200 60000 10; } >days
expect_exit 0 days --bin 1d
sed 's/,//g' out | awk '$1 ~ /^2026-03/ { print $1, $2, $3, $4 }' >found
printf '%s\n' '2026-03-01 1440 1440 100.0' '2026-03-02 1440 1440 100.0' '2026-03-03 1440 1440 100.0' \
    '2026-03-04 144 1440 10.0' '2026-03-05 144 1440 10.0' '2026-03-06 0 2 bins' '2026-03-08 144 1440 10.0' |
    cmp -s - found || fail 'other sums by day'
expect_output 'From 2026-03-04 on one event in 10 was recorded; the raw count fell by 9'
cp out by_day
expect_exit 0 days
cmp -s out by_day || fail 'days are not what it chooses for days'
expect_exit 0 days --bin 7d
[ "$(sed 's/,//g' out | awk '$1 == "2026-03-02" { print $2; exit }')" = 3312 ] || fail 'weeks do not begin on Mondays'
rows 0 6600 100 1 >many
expect_exit 1 many --bin 1ms --chart none.svg
expect_output 'rows are in more than 65,536 bins of 1ms: choose a wider --bin'
{ [ ! -s out ] && [ ! -e none.svg ]; } || fail 'figures of a part'

# The order does not matter. Duplicates are counted once, or twice with the option.
{ rows 0 600 100 1; rows 600 1200 100 5; } >stream
expect_exit 0 stream
sed 1d out >in_order
awk 'NR % 2' stream >half
awk 'NR % 2 == 0' stream >other_half
cat other_half half >mixed
expect_exit 0 mixed
expect_output ' came after a later one; each is counted at its own time'
sed 1d out | grep -v 'came after a later' | cmp -s - in_order || fail 'the order matters'
cat stream stream >twice
expect_exit 0 twice
expect_output '7,200 rows occurred twice, equal in all fields, and are counted once'
sed 1d out | grep -Ev 'occurred twice|came after' | cmp -s - in_order || fail 'what came twice is counted twice'
expect_exit 0 twice --keep-duplicates
expect_output 'twice: 14,400 rows stand for 24,000 events'

# Custom events have no duration. They may have a count. Filters select some of the rows.
rows 0 60 100 1 >timed
expect_exit 0 timed
grep '^read' out >in_order
{
    cat timed
    printf '{"timestamp":"2026-03-01T00:00:%02dZ","name":"sold","itemCount":4,"customMeasurements":{"count":%d}}\n' \
        10 5 20 1 30 2
    printf '{"time":"2026-03-01T00:00:40Z","operation":"sold","item_count":3}\n'
} >custom
expect_exit 0 custom
expect_output '604 rows stand for 615 events'
expect_output '4 rows without a duration: counted, but not in means and percentiles'
grep '^read' out | cmp -s - in_order || fail 'rows without a duration change the figures of others'
grep -q '^sold .* 4 .* 15 .* - ' out || fail 'a duration of rows that have none'
expect_exit 0 custom --name sold --count count
expect_output '4 rows stand for 35 events'
expect_output '600 rows of other operations, and in no figure'
expect_exit 1 custom --name nobody
expect_output 'has no row that can be counted'
sed 's/"count":5/"count":0/' custom >bad
expect_exit 0 bad --count count
expect_output 'not counted: line 601: count is 0'
sed 's/"count":5/"count":4000000000/' custom >bad
expect_exit 0 bad --count count
expect_output 'not counted: line 601: count times the item count is more than 4,294,967,295'

# The last days, each compared with the same weekday of the week before: 30 days, sampled from day
# 20 on.
{ rows 0 1641600 3600000 1; rows 1641600 2592000 3600000 4; } >month
expect_exit 0 month --last 22d --weekdays
[ "$(grep -c '^2026-03-.. .*%$' out)" -eq 22 ] || fail 'not 22 weekdays'
expect_output '2026-03-09            24            24    +0.0 %'
expect_output '2026-03-30            24            24    +0.0 %'
! grep -q '^2026-03-08' out || fail 'more than 22 days'
expect_output 'month: 330 rows stand for 528 events'
expect_exit 0 month --weekdays
expect_output '2026-03-01            24        no row         -'

# Invalid rows: counted, reported with line and field, and in no figure.
rows 0 30 100 1 >good
expect_exit 0 good
sed 1d out >in_order
while IFS='|' read -r why line; do
    { sed -n 1,2p good; printf '%s\n' "$line"; sed -n '3,$p' good; } >bad
    expect_exit 0 bad
    expect_output "not counted: line 3: $why"
    expect_output 'As far as the input could be read (1 of 301 lines could not):'
    sed 1d out | grep -Ev '^(not counted|As far as)' | cmp -s - in_order ||
        fail "figures have changed by: $line"
    printf '%s\n' "$line" >bad
    expect_exit 1 bad
    expect_output "not counted: line 1: $why"
    expect_output 'has no row that can be counted'
    [ ! -s out ] || fail 'figures of nothing'
done <<'BAD'
duration_ms or the text after it is no JSON|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":NaN,"item_count":1}
duration_ms or the text after it is no JSON|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":1e999,"item_count":1}
duration_ms or the text after it is no JSON|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":Infinity,"item_count":1}
duration_ms is no number|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":"12","item_count":1}
duration_ms is no number|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":null,"item_count":1}
duration_ms is negative|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":-1,"item_count":1}
item_count is missing|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":1}
item_count is 0|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":1,"item_count":0}
item_count is negative|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":1,"item_count":-5}
item_count is more than 4,294,967,295|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":1,"item_count":4294967296}
item_count is more than 4,294,967,295|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":1,"item_count":99999999999999999999}
item_count is not a whole number|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":1,"item_count":1.5}
itemCount is no number|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":1,"itemCount":"5"}
time is missing|{"operation":"a","duration_ms":1,"item_count":1}
time is no text|{"time":1772323201,"operation":"a","duration_ms":1,"item_count":1}
time is no time|{"time":"2026-02-30T00:00:01Z","operation":"a","duration_ms":1,"item_count":1}
time is no time|{"time":"2262-04-11T23:47:16.854775808Z","operation":"a","duration_ms":1,"item_count":1}
operation is missing|{"time":"2026-03-01T00:00:01Z","duration_ms":1,"item_count":1}
operation is no text|{"time":"2026-03-01T00:00:01Z","operation":5,"duration_ms":1,"item_count":1}
item_count or the text after it is no JSON|{"time":"2026-03-01T00:00:01Z","operation":"a","duration_ms":1,"item_count":
the line is no JSON object|[1,2]
the line is no JSON|garbage
BAD
{ printf '{"a":"'; head -c 200000 /dev/zero | tr '\0' x; printf '"}\n'; cat good; } >bad
expect_exit 0 bad
expect_output 'not counted: line 1: the line is longer than 65536 bytes'
head -c 300000 /dev/urandom >bad
expect_exit 1 bad
expect_output 'has no row that can be counted'

# The limits of the types: exact, or reported as unknown.
{
    printf '{"time":"2262-04-11T23:47:16.854775807Z","operation":"a\\u001b[31m","duration_ms":1e308,"item_count":4294967295}\n'
    printf '{"timestamp":"1677-09-21T00:12:43.145224192Z","name":"a","duration":1e308,"itemCount":4294967295}\r\n\r\n'
} >ends
expect_exit 0 ends --chart ends.svg
expect_output '2 rows stand for 8,589,934,590 events'
expect_output '213,502 bins without a row'
! grep -q $'\x1b' out ends.svg || fail 'an operation controls the terminal'

# Charts are valid XML, and equal for equal input.
expect_exit 0 --chart chart.svg
expect_exit 0 --chart again.svg
cmp -s chart.svg again.svg || fail 'two charts of one recording'
expect_exit 0 days --chart days.svg
for chart in chart.svg days.svg ends.svg; do
    expect_picture $chart
    ! grep -Eq 'nan|inf' $chart || fail "$chart draws what is no number"
done
grep -q 'nothing was lost' chart.svg || fail 'the chart does not contain the summary'
cp good same
expect_exit 1 same --chart same
expect_output 'the chart cannot be written to same: it is the input'
cmp -s good same || fail 'the input is gone'
expect_exit 1 --chart nowhere/chart.svg
expect_output 'the chart cannot be written to nowhere/chart.svg: No such file'

# Options and files.
expect_exit 0 --help
expect_output --keep-duplicates
expect_refused --bogus 'one two' --bin --name --last '--last 0s' '--last x' '--bin 0s' '--bin -1min' '--bin forever' \
    '--bin 5' '--bin x' '--bin 99999999999d' --chart --truth
expect_exit 1 nothing
expect_output 'there is no file nothing'
expect_exit 1 .
expect_output '. is a folder'
if [ -w /dev/full ]; then
    ! "$program" good >/dev/full 2>err || fail 'what was not written counts as written'
fi
"$program" good >&- 2>&- <&- || fail 'it fails without open streams'
! command -v python3 >/dev/null || python3 "$folder/record" --help 2>said || fail 'the recorder does not start'

echo 'lost_events: the recording, ten streams, days, bad rows, charts: each was reported as it is'
