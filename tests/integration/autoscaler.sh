#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# autoscaler in a user's environment: its decisions on the recording, which kills do not change; its
# errors for bad states and options; a queue with real workers that it starts and stops. Rows and
# policies are in autoscaler_input.sh.
set -euo pipefail
export LC_ALL=C

autoscaler=$WAYBILL_BIN/examples/autoscaler
folder=$WAYBILL_SOURCE/examples/autoscaler
golden=$WAYBILL_SOURCE/tests/golden/autoscaler
trace=$folder/trace.csv
work=$(mktemp -d)
running=
stop()
{
    [ -z "$running" ] || kill -9 "$running" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap stop EXIT
cd "$work"
mkdir tmp
export TMPDIR=$work/tmp

fail()
{
    echo "autoscaler: $*" >&2
    [ ! -e out ] || cat out err >&2
    exit 1
}

# expect_code CODE ARGS...: runs the program, which must end with this exit code. Its output is in
# out and err.
expect_code()
{
    local code=0 expected=$1
    shift
    "$autoscaler" "$@" >out 2>err || code=$?
    [ $code -eq "$expected" ] || fail "exit $code instead of $expected: $*"
}
expect_text() { grep -qF -- "$1" out err || fail "the output does not contain: $1"; }
expect_no_text() { ! grep -qF -- "$1" out err || fail "the output contains: $1"; }
same() { cmp -s "$1" "$2" || fail "$1 and $2 are not the same"; }
well_formed()
{
    grep -q '^<svg ' "$1" || fail "$1 is no picture"
    if command -v xmllint >/dev/null; then
        xmllint --noout "$1" || fail "$1 is no XML"
    elif command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$1" || fail "$1 is no XML"
    fi
}

# --- the recording -------------------------------------------------------------------------------

expect_code 0 --json records --chart chart.svg --state state
[ ! -s err ] || fail 'it complains about its own recording'
! grep -q $'\x1b' out || fail 'colours in a file'
expect_text 'checked: the decisions are the same after a kill before each of them'
for word in ' up 1 -> ' ' down ' 'held at 1 (unknown)' 'cooldown until' 'stabilising until'; do expect_text "$word"; done
cp out first
same first "$golden/decisions.txt"
expect_code 0
same out first
well_formed chart.svg
for word in backlog 'held: cooldown' 'up if mean' 'down if highest'; do
    grep -qF -- "${word//</&lt;}" chart.svg || fail "the chart lacks $word"
done

# The records contain all decisions: as many as the table shows, and as many up and down.
table() { awk -v n="$1" '$1 == "orders" { gsub(",", "", $n); print $n }' first; }
[ "$(wc -l <records)" = "$(table 2)" ] || fail 'records are missing'
[ "$(grep -c '"verdict":"up"' records)" = "$(table 3)" ] || fail 'other ups in the records'
[ "$(grep -c '"verdict":"down"' records)" = "$(table 4)" ] || fail 'other downs in the records'
# Mean and maximum as computed by awk, over all rows with a decision.
behind=$(sed -n 's/^\([0-9]*\) rows* of trace.csv after the last decision$/\1/p' first)
head -n -"${behind:-0}" "$trace" | awk -F, '$3 == "backlog" { n++; sum += $4; if ($4 > high) high = $4 } END { printf "%.1f, %d\n", sum / n, high }' \
    >figures
sed 's/\([0-9]\),\([0-9]\{3\}\)/\1\2/g' first | grep -qF "$(cat figures)" || fail "the backlog is not $(cat figures)"
expect_code 0 --all
[ "$(grep -c '^orders: ' out)" = "$(table 2)" ] || fail 'not all decisions are printed'

# The same as JSON, with another order of columns, quotes and other line ends.
awk -F, 'NR > 1 { printf "{\"value\":%s,\"metric\":\"%s\",\"time\":\"%s\",\"resource\":\"%s\",\"instances\":%s}\n", \
    $4, $3, $1, $2, $5 }' "$trace" >trace.ndjson
expect_code 0 trace.ndjson
sed 's/trace.ndjson/trace.csv/' out >as_csv
same as_csv first
awk -F, '{ printf "%s,\"%s\",%s,more,%s,%s\r\n", $4, $2, $1, $3, $5 }' "$trace" >trace.csv
expect_code 0 - <trace.csv
sed 's/the standard input/trace.csv/' out >as_stdin
same as_stdin first
rm trace.csv

# --- kills ---------------------------------------------------------------------------------------

# If the machine is so busy that no decision is made, the run gets more time.
kills=0
longer=0
reached=0
while true; do
    "$autoscaler" --json killed.records --state killed --tick-pause 30 >out 2>err &
    running=$!
    sleep "$((longer / 5)).$((longer % 5 * 2))"
    sleep "0.$((RANDOM % 2))$((RANDOM % 10))$((RANDOM % 10))"
    kill -9 $running 2>/dev/null && kills=$((kills + 1))
    code=0
    wait $running 2>/dev/null || code=$?
    running=
    [ $code -eq 0 ] && break
    [ $code -eq 137 ] || fail "it ended by itself with $code"
    [ $longer -lt 100 ] || fail 'it does not get on'
    now=$(sed -n 's/.*"ticks":\([0-9]*\).*/\1/p' killed 2>/dev/null || echo 0)
    if [ "${now:-0}" -gt $reached ]; then longer=$((longer - (longer > 0))); else longer=$((longer + 1)); fi
    reached=${now:-0}
done
[ $kills -ge 10 ] || fail "only $kills kills"
same killed state
same killed.records records
expect_text 'checked: the decisions are the same after a kill'
expect_code 0 --json killed.records --state killed
same killed.records records
expect_text 'the state had'
# A trace that grows between two runs.
lines=$(wc -l <"$trace")
mkdir grows
for n in 7 8 40 41 $((lines / 3)) $((lines / 2 + 1)) "$lines"; do
    head -n "$n" "$trace" >grows/trace.csv
    expect_code 0 grows/trace.csv --policy "$folder/policy.json" --state grows.state --json grows.records
done
same grows.state state
same grows.records records

# --- bad states -----------------------------------------------------------------------------------

# refused WORDS ARGS...: with --state bad it ends with this text and does not change bad.
refused()
{
    local words=$1
    shift
    cp bad before
    expect_code 1 --state bad "$@"
    expect_text "$words"
    grep -q 'state' err || fail 'the error output does not name the state'
    same bad before
    [ ! -s out ] || fail 'it has decided something'
}
size=$(wc -c <state)
for n in 0 1 18 19 20 37 38 39 100 $((size / 2)) $((size - 2)) $((size - 1)); do
    head -c "$n" state >bad
    refused 'the state bad cannot be used'
done
for at in 0 5 19 22 30 37 39 60 200 $((size / 3)) $((size / 2)) $((size - 30)) $((size - 1)); do
    cp state bad
    byte=$(od -An -tu1 -j "$at" -N 1 state)
    # shellcheck disable=SC2059
    printf "\\x$(printf '%02x' $((byte ^ (1 << RANDOM % 7))))" | dd of=bad bs=1 seek="$at" conv=notrunc 2>/dev/null
    refused 'the state bad cannot be used'
done
sed '1s/autoscaler 1 /autoscaler 2 /' state >bad
refused 'it is of version 2, and this program reads version 1'
cat state state >bad
refused 'it is damaged'
head -c 5000 /dev/urandom >bad
refused 'it is no state'
cp state bad
refused 'other options' --window 1min
refused 'other options' --every 10s
refused 'other options' --instances 3
sed 's/"above": *{"per_instance": *[0-9]*/&9/' "$folder/policy.json" >other.json
refused 'another policy' --policy other.json
sed '5s/[0-9]*,\([0-9]*\)$/77,\1/' "$trace" >grows/trace.csv
refused 'holds the work of another input than grows/trace.csv' grows/trace.csv --policy "$folder/policy.json"
head -n 40 "$trace" >grows/trace.csv
refused 'holds the work of another input than grows/trace.csv' grows/trace.csv --policy "$folder/policy.json"
refused 'it is that of trace.csv' trace.ndjson
head -c 10 records >short.records
expect_code 1 --state state --json short.records
expect_text 'are shorter than in the state'
[ "$(wc -c <short.records)" = 10 ] || fail 'it has changed the records'
mkdir locked
expect_code 1 --state nowhere/state
expect_text 'the state cannot be written to nowhere/state'
expect_code 1 --state "$trace"
expect_text 'it is the trace'
expect_code 1 --state locked
expect_text 'the state cannot be written to locked'

# --- options -------------------------------------------------------------------------------------

expect_code 0 --help
expect_text '--instances trace'
for bad in --bogus 'a b' '--every 0s' '--every soon' '--window -1s' '--window 0s' '--every forever' '--instances x' \
    --state --json '--from x://y' '--live --from sqlite:x' '--live x' '--live nats://a/b/c/d' '--live --state s' '--live --instances 2' \
    '--for 10s' '--from sqlite:x --instances trace' '--instances trace --delay 5s' '--seed x' '--folder x'; do
    # shellcheck disable=SC2086
    expect_code 2 $bad
    expect_text 'autoscaler --help'
    [ ! -s out ] || fail "it is not an error that $bad prints"
done
expect_code 0 --instances 9
expect_text 'down 9 -> '  # more than the maximum
expect_code 0 --instances 0
expect_text 'up 0 -> 1'
expect_code 0 --delay 40s
expect_text 'waits for a result until'
expect_code 0 --instances trace
expect_text 'checked: '
expect_code 1 --chart "$trace"
expect_text 'the chart cannot be written to'
expect_code 1 --json "$folder/policy.json"
expect_text 'it is the policy'
if [ -w /dev/full ]; then
    ! "$autoscaler" >/dev/full 2>said || fail 'a summary that was not written counts as written'
    grep -q 'the standard output cannot be written' said || fail 'the error output does not contain the reason'
    expect_code 1 --json /dev/full
    expect_text 'the records cannot be written to /dev/full: No space left on device'
fi
"$autoscaler" >&- 2>&- <&- || fail 'it fails without open streams'

policy() { printf '%s\n' "$1" >policy.json; }

# --- a live queue ---------------------------------------------------------------------------------

expect_code 0 --live --for 15s --chart live.svg --json live.records --folder queue
expect_text ' up 1 -> '
expect_text ' down '
expect_text 'messages sent, '
expect_text ', 0 left'
expect_text 'checked: '
well_formed live.svg
[ "$(wc -l <live.records)" -ge 30 ] || fail 'hardly any decision'

if "$autoscaler" --from nats://127.0.0.1:1/s/c --for 1ms 2>&1 | grep -q 'built without nats.c'; then
    echo 'SKIP: autoscaler --live nats: it was built without libnats-dev'
elif command -v nats-server >/dev/null; then
    expect_code 0 --live nats --for 4s
    expect_text ', 0 left'
    expect_text 'checked: '
fi

policy '{"up": {"last": "backlog", "above": 5}, "down": {"highest": "backlog", "below": 1}, "min_points": 3,
         "stabilise": {"down": "0s"}, "instances": {"lowest": 1, "highest": 2}}'
watch=(--from sqlite:queue/live.sqlite --policy policy.json --every 100ms --window 20s --state watched --json watched.records)
expect_code 0 "${watch[@]}" --for 1500ms
expect_text 'steady at 1'
expect_code 0 "${watch[@]}" --for 400ms
expect_no_text unknown  # it still has the earlier values, and no new ones
expect_no_text 'live.sqlite: '
lines=$(wc -l <watched.records)
"$autoscaler" "${watch[@]}" --tick-pause 1 >out 2>err &
running=$!
for tries in $(seq 6000); do  # until it makes decisions
    [ "$(wc -l <watched.records)" -lt $((lines + 5)) ] || break
    sleep 0.01
done
kill -INT $running
wait $running || fail 'Ctrl-C is no failure'
running=
expect_text 'checked: '
lines=$(wc -l <watched.records)
[ "$lines" -ge 10 ] || fail 'hardly any decision was watched'
expect_code 0 --from sqlite:nothing --policy policy.json --every 100ms --for 500ms --json asked.records
expect_text 'unknown: there is no file nothing'
expect_text 'held at 1 (unknown)'
asked=$(wc -l <asked.records)
[ "$asked" -ge 2 ] || fail 'hardly any question'
expect_text "$asked requests for the depth of the queue failed; their metrics were unknown"
expect_no_text 'down 1 -> '

[ -z "$(ls tmp)" ] || fail 'a temporary folder is left'
