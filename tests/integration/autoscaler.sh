#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# autoscaler in a user's environment: its decisions on the recording, which kills do not change; its
# errors for bad states and options; a queue with real workers that it starts and stops. Rows and
# policies are in autoscaler_input.sh.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs autoscaler
program=$examples/autoscaler
folder=$WAYBILL_SOURCE/examples/autoscaler
golden=$WAYBILL_SOURCE/tests/golden/autoscaler
trace=$folder/trace.csv

# --- the recording -------------------------------------------------------------------------------

expect_exit 0 --json records --chart chart.svg --state state
expect_private state
[ ! -s err ] || fail 'it complains about its own recording'
! grep -q $'\x1b' out || fail 'colours in a file'
expect_output 'checked: the decisions are the same after a kill before each of them'
for word in ' up 1 -> ' ' down ' 'held at 1 (unknown)' 'cooldown until' 'stabilising until'; do expect_output "$word"; done
cp out first
expect_same first "$golden/decisions.txt"
expect_exit 0
expect_same out first
expect_picture chart.svg
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
expect_exit 0 --all
[ "$(grep -c '^orders: ' out)" = "$(table 2)" ] || fail 'not all decisions are printed'

# The same as JSON, with another order of columns, quotes and other line ends.
awk -F, 'NR > 1 { printf "{\"value\":%s,\"metric\":\"%s\",\"time\":\"%s\",\"resource\":\"%s\",\"instances\":%s}\n", \
    $4, $3, $1, $2, $5 }' "$trace" >trace.ndjson
expect_exit 0 trace.ndjson
sed 's/trace.ndjson/trace.csv/' out >as_csv
expect_same as_csv first
awk -F, '{ printf "%s,\"%s\",%s,more,%s,%s\r\n", $4, $2, $1, $3, $5 }' "$trace" >trace.csv
expect_exit 0 - <trace.csv
sed 's/the standard input/trace.csv/' out >as_stdin
expect_same as_stdin first
rm trace.csv

# --- kills ---------------------------------------------------------------------------------------

# Each run is killed after some decisions, until one ends. Then from the beginning, until there were
# ten kills.
total=$(wc -l <records)
made() { wc -l 2>/dev/null <killed.records || echo 0; }
has_made() { [ "$(made)" -ge "$1" ] || has_ended run; }
until [ $kills -ge 10 ]; do
    rm -f killed killed.records
    while true; do
        start run "$program" --json killed.records --state killed --tick-pause 30
        await 'it makes no decision' has_made $(($(made) + RANDOM % (total / 15) + 1))
        killed run
        [ $code -ne 0 ] || break
        [ $code -eq 137 ] || fail "it ended by itself with $code"
        kills=$((kills + 1))
    done
    cp run.out out
    expect_same killed state
    expect_same killed.records records
    expect_output 'checked: the decisions are the same after a kill'
done
expect_exit 0 --json killed.records --state killed
expect_same killed.records records
expect_output 'the state had'
# A trace that grows between two runs.
lines=$(wc -l <"$trace")
mkdir grows
for n in 7 8 40 41 $((lines / 3)) $((lines / 2 + 1)) "$lines"; do
    head -n "$n" "$trace" >grows/trace.csv
    expect_exit 0 grows/trace.csv --policy "$folder/policy.json" --state grows.state --json grows.records
done
expect_same grows.state state
expect_same grows.records records

# --- bad states -----------------------------------------------------------------------------------

# refused WORDS ARGS...: with --state bad it ends with this text and does not change bad.
refused()
{
    local words=$1
    shift
    cp bad before
    expect_exit 1 --state bad "$@"
    expect_output "$words"
    grep -q 'state' err || fail 'the error output does not name the state'
    expect_same bad before
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
expect_exit 1 --state state --json short.records
expect_output 'are shorter than in the state'
[ "$(wc -c <short.records)" = 10 ] || fail 'it has changed the records'
mkdir locked
expect_exit 1 --state nowhere/state
expect_output 'the state cannot be written to nowhere/state'
expect_exit 1 --state "$trace"
expect_output 'it is the trace'
expect_exit 1 --state locked
expect_output 'the state cannot be written to locked'

# --- options -------------------------------------------------------------------------------------

expect_exit 0 --help
expect_output '--instances trace'
expect_refused --bogus 'a b' '--every 0s' '--every soon' '--window -1s' '--window 0s' '--every forever' '--instances x' \
    --state --json '--from x://y' '--live --from sqlite:x' '--live x' '--live nats://a/b/c/d' '--live --state s' '--live --instances 2' \
    '--for 10s' '--from sqlite:x --instances trace' '--instances trace --delay 5s' '--seed x' '--folder x'
expect_exit 0 --instances 9
expect_output 'down 9 -> '  # more than the maximum
expect_exit 0 --instances 0
expect_output 'up 0 -> 1'
expect_exit 0 --delay 40s
expect_output 'waits for a result until'
expect_exit 0 --instances trace
expect_output 'checked: '
expect_exit 1 --chart "$trace"
expect_output 'the chart cannot be written to'
expect_exit 1 --json "$folder/policy.json"
expect_output 'it is the policy'
if [ -w /dev/full ]; then
    ! "$program" >/dev/full 2>said || fail 'a summary that was not written counts as written'
    grep -q 'the standard output cannot be written' said || fail 'the error output does not contain the reason'
    expect_exit 1 --json /dev/full
    expect_output 'the records cannot be written to /dev/full: No space left on device'
fi
"$program" >&- 2>&- <&- || fail 'it fails without open streams'

policy() { printf '%s\n' "$1" >policy.json; }

# --- a live queue ---------------------------------------------------------------------------------

# On a slow machine there are fewer decisions, so a run without one kind of them is repeated for a
# longer time.
is_complete()
{
    grep -q ' up 1 -> ' out && grep -q ' down ' out && [ "$(wc -l <live.records)" -ge 30 ]
}
for ((seconds = 15; ; seconds *= 2)); do
    rm -rf live.svg live.records queue
    expect_exit 0 --live --for ${seconds}s --chart live.svg --json live.records --folder queue
    expect_output 'messages sent, '
    expect_output ', 0 left'
    expect_output 'checked: '
    expect_picture live.svg
    ! is_complete || break
    [ $seconds -lt 240 ] || fail 'no up, no down, or hardly any decision'
done

"$program" --from nats://127.0.0.1:1/s/c --for 1ms >out 2>&1 || true
if grep -q 'built without nats.c' out; then
    echo 'SKIP: autoscaler --live nats: it was built without libnats-dev'
elif command -v nats-server >/dev/null; then
    expect_exit 0 --live nats --for 4s
    expect_output ', 0 left'
    expect_output 'checked: '
fi

policy '{"up": {"last": "backlog", "above": 5}, "down": {"highest": "backlog", "below": 1}, "min_points": 3,
         "stabilise": {"down": "0s"}, "instances": {"lowest": 1, "highest": 2}}'
watch=(--from sqlite:queue/live.sqlite --policy policy.json --every 100ms --window 10min --state watched --json watched.records)
is_steady()
{
    expect_exit 0 "${watch[@]}" --for 1500ms
    grep -qF 'steady at 1' out
}
await 'it is not steady' is_steady
expect_exit 0 "${watch[@]}" --for 400ms
expect_no_output unknown  # it still has the earlier values, and no new ones
expect_no_output 'live.sqlite: '
lines=$(wc -l <watched.records)
start watching "$program" "${watch[@]}" --tick-pause 1
has_watched() { [ "$(wc -l <watched.records)" -ge $((lines + 5)) ]; }
await 'it makes no decisions' has_watched
kill -INT "${pid[watching]}"
ended watching 0
prints watching 'checked: ' || fail 'it does not check its decisions'
lines=$(wc -l <watched.records)
[ "$lines" -ge 10 ] || fail 'hardly any decision was watched'
has_asked()
{
    rm -f asked.records
    expect_exit 0 --from sqlite:nothing --policy policy.json --every 100ms --for 500ms --json asked.records
    [ "$(wc -l <asked.records)" -ge 2 ]
}
await 'hardly any question' has_asked
expect_output 'unknown: there is no file nothing'
expect_output 'held at 1 (unknown)'
asked=$(wc -l <asked.records)
expect_output "$asked requests for the depth of the queue failed; their metrics were unknown"
expect_no_output 'down 1 -> '

expect_no_folder
