#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# mailroom in a user's environment: its output, its report, and its errors for bad input, options
# and folders. Kills are in mailroom_kill.sh.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs mailroom
program=$examples/mailroom
recording=$WAYBILL_SOURCE/examples/mailroom/recording.ndjson

# number KEY: the value in report.json, without the part of the naive loop.
number() { sed '/"naive": {/,/}/d' report.json | sed -n "s/^ *\"$1\": \([0-9]*\)[.0-9e-]*,\{0,1\}\$/\1/p"; }
naive_number() { sed -n '/"naive": {/,/}/p' report.json | sed -n "s/^ *\"$1\": \([0-9]*\),\{0,1\}\$/\1/p"; }

# is KEY VALUE
is() { [ "$(number "$1")" = "$2" ] || fail "$1 is '$(number "$1")' instead of $2"; }

adds_up()
{
    is read $(($(number applied) + $(number dead_lettered)))
    is sends $(($(number batches) + $(number rejected)))
    is lost 0
    is duplicated 0
    [ "$(number sends)" -ge "$(number optimum)" ] || fail 'fewer sends than the fewest'
    [ "$(number rejected)" -eq 0 ] || [ "$(number resent_bytes)" -gt 0 ] || fail 'refusals without bytes'
}

# The whole recording: two kills, at most ten lines, and all of it in the sink.
expect_exit 0 --db whole --report report.json
expect_private whole
[ "$(wc -l <out)" -le 10 ] || fail 'more than ten lines'
expect_output 'killed 2 times with -9 (at enqueue.insert, consume.handler)'
expect_output 'checked: each event is in the sink exactly once'
adds_up
is read "$(wc -l <"$recording")"
is worker_kills 2
[ "$(number rejected)" -gt 0 ] || fail 'nothing was refused, so nothing was shown'
[ "$(number dead_lettered)" -ge 5 ] || fail 'hardly any dead letter'
[ "$(number sends)" -le $((2 * $(number optimum))) ] || fail 'twice as many sends as would do'
{ [ "$(naive_number lost)" -gt 0 ] && [ "$(naive_number duplicated)" -gt 0 ]; } || fail 'the naive loop is flawless'
[ "$(naive_number worker_kills)" = 2 ] || fail 'the naive loop was not killed alike'
[ "$(head -1 whole/backlog.csv)" = event_time,enqueued,applied,backlog ] || fail 'no backlog.csv'
awk -F, 'NR > 1 && ($2 - $3 != $4 || NF != 4) { exit 1 }' whole/backlog.csv || fail 'a backlog that is none'

# A second run has nothing to do and changes nothing.
"$program" --db whole --dump >before
expect_exit 0 --db whole --report report.json
expect_output 'nothing to do'
adds_up
is sends 0
"$program" --db whole --dump | cmp -s - before || fail 'the tables have changed though there was nothing to do'

# Without kills and without a folder: the same figures, the same tables, no files left.
expect_exit 0 --plain --report report.json
adds_up
is worker_kills 0
[ -z "$(naive_number lost)" ] || fail 'the naive loop has run'
expect_no_folder
expect_exit 0 --plain --db plain
"$program" --db plain --dump | cmp -s - before || fail 'killed or not, the tables must be the same'

# Options.
expect_exit 0 --help
expect_output --limit
expect_refused --bogus extra '--limit 12x' '--limit 1023' '--limit -1' '--limit 99999999999999999999' --input --db \
    --limit --report '--hold nowhere' '--hold read:x'
expect_exit 0 --limit 1024 --plain --report report.json
adds_up

# Inputs.
expect_exit 1 --input nothing
expect_output 'there is no file nothing'
expect_exit 1 --input tmp
expect_output 'is a folder'
expect_exit 1 --input /dev/zero
expect_output 'no regular file'
: >empty
expect_exit 1 --input empty
expect_output 'empty is empty: name a file with at least one line as the input'
printf '\n \n\t\r\n' >blank
expect_exit 0 --input blank --report report.json
expect_output 'nothing to do: there is no event'
is read 0
is blank_lines 3
printf '{"at":"2026-01-01T00:00:00Z"}\r\n\n{"at":5}\n\n{"event":"installed","package":"none"}' >small
expect_exit 0 --input small --db small.db --report report.json
adds_up
is read 3
is dead_lettered 1
"$program" --db small.db --dump >tables
grep -q '^applied|1|1|2026-01-01T00:00:00Z|NULL|NULL|30|' tables || fail 'the first event is not as it was'
grep -q '^dead_letters|.*|line 5, byte 42|.*|installed, but no event has told which version|.*|NULL|NULL|0|[0-9]*|[0-9]*$' tables ||
    fail 'the last line, which has no newline, is no dead letter with position and reason'
printf '{"n":1e999}\n{"event":"installed","package":"a","version":"1"}\n' >overflow
expect_exit 0 --input overflow --report report.json
is applied 1
is dead_lettered 1
expect_exit 2 --dump
expect_output '--dump needs --db'
expect_exit 1 --input small --report nowhere/report.json
expect_output 'the report cannot be written to nowhere/report.json: No such file'
ln -s small small.link
expect_exit 1 --input small --report small.link
expect_output 'the report cannot be written to small.link: it is the input'
expect_exit 1 --input nothing --report new.json
[ ! -e new.json ] || fail 'it has left an empty report'

# A closed or full output is no reason to crash. A summary or report that cannot be written is an
# error.
if [ -w /dev/full ]; then
    "$program" --plain --input small 2>/dev/full >said || fail 'it fails if the error output cannot be written'
    ! "$program" --plain --input small >/dev/full 2>said || fail 'a summary that was not written counts as written'
    grep -q 'the standard output cannot be written' said || fail 'the error output does not contain the reason'
    expect_exit 1 --plain --input small --report /dev/full
    expect_output 'the report cannot be written to /dev/full: No space left on device'
    expect_output 'checked: '
fi
"$program" --plain --input small >&- 2>&- <&- || fail 'it fails without open streams'

head -c 300000 /dev/urandom >binary
expect_exit 0 --input binary --report report.json
adds_up
is applied 0
{
    sed -n 1,20p "$recording"
    head -c 10000000 /dev/zero | tr '\0' x
    printf '\n{"at":"2026-01-01T00:00:00.25Z","a":"%040000d"}\n\0\0\0\n' 7
    sed -n 21,40p "$recording"
} >long
expect_exit 0 --input long --db long.db --report report.json
adds_up
is read 43
"$program" --db long.db --dump >tables
grep -q '^dead_letters|.*|line 21, .*|too large: a line of 10000000 bytes|x' tables || fail 'where is the long line?'
grep -q '^dead_letters|.*|line 22, .*|too large: 400.. bytes where the limit is 32768|.*|1767225600250000000|' tables ||
    fail 'an event that is too large has no reason, position and time'
expect_exit 1 --input small --db long.db
expect_output 'of another input'
[ "$(number peak_rss_kib)" -gt 1000 ] || fail 'no memory was measured'

# One process at a time.
start holder "$program" --plain --db long2.db --input long --hold read
await 'it does not print that it holds' prints holder 'holding read'
expect_exit 1 --input long --db long2.db
expect_output 'another mailroom is at work here'
killed holder
expect_exit 0 --input long --db long2.db

# A damaged sink or queue is found.
while read -r db expected change; do
    rm -rf broken
    cp -r whole broken
    sql "broken/$db.sqlite" "$change"
    expect_exit 1 --db broken --report report.json
    [ "$expected" = wrong ] || [ "$(number "$expected")" -gt 0 ] || fail "$expected is 0 after: $change"
done <<'CHANGES'
sink lost DELETE FROM applied WHERE line = 4321
sink lost UPDATE applied SET checksum = checksum + 1 WHERE line = 77
sink lost DELETE FROM dead_letters WHERE sequence = 58
sink duplicated INSERT INTO applied SELECT * FROM applied WHERE line = 1234
sink wrong INSERT INTO applied VALUES (99999, NULL, NULL, NULL, 1, 1)
sink wrong UPDATE seconds SET events = events + 1 WHERE rowid = 5
sink wrong UPDATE packages SET installed = installed + 1 WHERE rowid = 5
sink wrong UPDATE checkpoints SET sequence = sequence - 1
queue wrong INSERT INTO queue (header, body) VALUES ('type=event line=1 byte=0 time= subject=/', '{}')
CHANGES
mkdir garbage
head -c 5000 /dev/urandom >garbage/queue.sqlite
expect_exit 1 --db garbage
expect_output 'not a database'

# Memory stays constant: four times the events, the same peak.
events()
{
    seq "$1" | awk '{ printf "{\"at\":\"2026-01-01T00:00:%02dZ\",\"package\":\"p%d\",\"event\":\"ping\",\"n\":\"%07d\",\"pad\":\"%0117d\"}\n", $1 % 60, $1 % 89 + 10, $1, 0 }'
}
events 20000 >few
events 80000 >many
[ "$(head -1 few | wc -c)" -eq 201 ] || fail "an event of $(head -1 few | wc -c) bytes"
expect_exit 0 --plain --input few --report report.json
few_kib=$(number peak_rss_kib)
expect_exit 0 --plain --input many --report report.json
adds_up
is applied 80000
many_kib=$(number peak_rss_kib)
[ "$many_kib" -lt $((few_kib + 6000)) ] || fail "$many_kib KiB for 80,000 events, $few_kib KiB for 20,000"

echo "mailroom: the recording, bad options, bad inputs, tampering; $few_kib KiB for 20,000 events, $many_kib KiB for 80,000"
