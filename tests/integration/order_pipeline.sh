#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# order_pipeline in a user's environment. The program counts the results of each step. Its
# difficulties here: killed workers; a hundred runs killed as a whole, before and during the
# redrive; small, odd and empty inputs; damaged tables.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs order_pipeline
program=$examples/order_pipeline

# expect_checked ARGS...: a run that must succeed.
expect_checked()
{
    expect_exit 0 "$@"
    expect_output 'checked: each order is complete in the order of its steps'
}

# All orders of the recording, and the redrive after them. The picture shows where they stopped.
expect_checked --chart stopped.svg
[ "$(grep -c '#c0392b' stopped.svg)" = 16 ] || fail 'the picture does not show where orders stopped'
expect_output 'order-3    1 2 3 4x 5-   broken receipt: no field "revision"'
expect_output '654 of 669 jobs complete; 15 with dead-lettered steps, 30 in all'
expect_output 'order-3 -> order-3~1: 2 dead letters, steps 4 to 5 of 5: failed: broken receipt: no field "revision"'
expect_output '30 dead letters of 15 sessions to send, 0 of 0 held back'
expect_output 'order-3    1 2 3 4 5   redriven as order-3~1'
expect_output '669 of 669 jobs complete, 15 of them after a redrive'
expect_output '0 runs of steps repeated'
expect_no_folder

# One run after the other: stopped orders stop again until the repair, and are then redriven.
expect_checked --db orders --workers 1 --chart one.svg
expect_private orders
expect_output "to redrive them: order_pipeline redrive --fix --db orders"
[ "$(grep -c '^order-.*4x 5-' out)" = 15 ] || fail 'an order that stopped has no line'
expect_exit 0 redrive --db orders --dry-run
expect_output '30 dead letters of 15 sessions to send'
[ "$(grep -c ' -> order-' out)" = 15 ] || fail 'a dry run does not list each session'
# All orders stopped at the receipt, which is step 4.
expect_exit 0 redrive --db orders --dry-run --failed-step 4
expect_output '30 dead letters of 15 sessions to send'
expect_checked redrive --db orders --failed-step 3
expect_output '0 dead letters of 0 sessions to send, 0 of 0 held back, 30 not selected'
expect_exit 2 --db orders --failed-step 4
expect_output '--failed-step are only for redrive: omit them'
expect_exit 2 redrive --db orders --failed-step 0
expect_output '--failed-step 0: a number from 1 to 100000 is expected'
expect_checked redrive --db orders --workers 1
expect_output 'order-4    1 2 3 4x 5-   redriven as order-4~1   broken receipt: no field "revision"'
expect_checked redrive --db orders --fix --chart two.svg
expect_output 'order-3~1 -> order-3~2: 2 dead letters'
expect_output '669 of 669 jobs complete'
expect_checked redrive --db orders --fix
expect_output '0 dead letters of 0 sessions to send'
[ "$(grep -c '#c0392b' one.svg)" = 16 ] || fail 'the picture does not show fifteen failures'
[ "$(grep -c '#c0392b' two.svg)" = 1 ] || fail 'the picture shows failures that are none any more'
[ "$(grep -c '#1f6fb4' two.svg)" = 31 ] || fail 'the picture does not show the redriven steps'
# The same orders again are not new. Other orders with the same names are refused.
expect_checked --db orders
expect_output '669 orders with 3,345 steps in all, 0 new'
expect_output '669 of 669 jobs complete'
grep '"dirs"' "$WAYBILL_SOURCE/examples/mailroom/recording.ndjson" >all.orders
sed 1d all.orders >others
expect_exit 1 --input others --db orders
expect_output 'orders holds the work of another input than others'
expect_exit 1 --db orders --dead-letters azure-table://127.0.0.1:1/devstoreaccount1/letters
expect_output 'the dead letters of orders are in this folder: omit --dead-letters'

# Products: a failed one stops no other.
expect_checked --import --db products
expect_output 'import-1   [x+++++++++++++++++++x++x++++++++++++++++]   167 of 167, 6 of them dead-lettered   3x 4x 86x 97x 99x 100x   broken label'
expect_output 'broken label: no field "revision"'
expect_output '1 of 4 jobs complete; 3 with dead-lettered steps, 15 in all'
for other in '--imports 3' '--most 600'; do
    # shellcheck disable=SC2086
    expect_exit 1 --import $other --db products
    expect_output 'another --input, --imports or --most needs a --db of its own'
done
[ "$(sql products/queue.sqlite 'SELECT count(*) FROM messages')" = 0 ] || fail 'what it refuses is sent'
expect_exit 0 redrive --dry-run --failed-step 4 --db products
expect_output 'import-1 -> import-1~1: 1 dead letter, step 4 (each alone)'
expect_checked redrive --fix --db products
expect_output 'import-1 -> import-1~1: 6 dead letters, steps 3 to 100 (each alone)'
expect_output '4 of 4 jobs complete, 3 of them after a redrive'
expect_checked --import --imports 1 --most 400
expect_output '1 of 1 job complete'

# Faults that do not end are reported. If a letter cannot be written, the run ends with the reason.
# If a message cannot be read, the other orders continue. If a letter is refused permanently, the
# run ends at once.
for db in stuck unread refused; do
    expect_checked --db $db --most 2
done
sql stuck/shop.sqlite 'CREATE TRIGGER t BEFORE INSERT ON step_letters BEGIN SELECT abs(-9223372036854775807 - 1); END'
sql unread/queue.sqlite "INSERT INTO messages (sequence, session, id, properties, body, enqueued)
    VALUES (700000, 'order-2', 'x', 'zz', '', 0)"
sql refused/shop.sqlite "CREATE TRIGGER t BEFORE INSERT ON step_letters BEGIN SELECT RAISE(ABORT, 'no such letter'); END"
expect_exit 1 --db refused --most 3
expect_output 'a step can never be dead-lettered; worker'
expect_output 'order-3/4: '
expect_output 'no such letter'
for db in stuck unread; do
    start $db "$program" --db $db --most 30
done

# Both inputs in parallel, by many workers that are killed at random.
inside=0
for ((seed = 1; kills < 200; ++seed)); do
    rm -rf both
    expect_checked --kill --seed $seed --db both --workers 4
    expect_output '654 of 669 jobs complete; 15 with dead-lettered steps, 30 in all'
    read -r k b < <(sed -n 's/.*; \([0-9,]*\) kills\{0,1\} with -9, \([0-9]*\) of them.*/\1 \2/p' out)
    kills=$((kills + ${k:-0})) inside=$((inside + ${b:-0}))
    expect_checked --kill --seed $seed --db both --import
    expect_checked redrive --fix --kill --seed $seed --db both
    expect_output '673 of 673 jobs complete'
done
[ $((inside * 2)) -gt $kills ] || fail "of $kills kills only $inside were during a step"

# The runs with permanent faults have ended by now, or will.
ended stuck 1
cp stuck.out out
expect_output '; no progress: worker'
expect_output 'no progress for 15 s, and 4 steps are left; worker'
expect_output 'integer overflow'
ended unread 1
cp unread.out out
expect_output 'no progress for 15 s, and 1 step is left; worker'
expect_output 'order-2: the properties of a message cannot be read'
[ "$(sql unread/shop.sqlite 'SELECT count(DISTINCT job) FROM effects')" = 30 ] || fail 'one message keeps others waiting'
sql stuck/shop.sqlite 'DROP TRIGGER t'
expect_checked --db stuck --most 30
expect_output '28 of 30 jobs complete; 2 with dead-lettered steps, 4 in all'

# effects, steps_left and letters: the completed steps in family/, the queued steps, and the dead
# letters.
effects() { sql family/shop.sqlite 'SELECT count(*) FROM effects' 2>/dev/null || echo 0; }
steps_left() { sql family/queue.sqlite 'SELECT count(*) FROM messages' 2>/dev/null || echo 0; }
letters() { sql family/shop.sqlite 'SELECT count(*) FROM step_letters' 2>/dev/null || echo 0; }

# killed_at COUNT N ARGS...: a run that is killed as a whole when N more of these are there. A run that
# is killed midway has done some steps and left others.
killed_at()
{
    local count=$1 until base parked now left
    base=$(effects) parked=$(letters) until=$(($2 + $($1)))
    shift 2
    start main "$program" "$@"
    while runs main; do
        now=$($count)
        [ "$now" -lt $until ] || break
    done
    killed main
    [ $code -eq 0 ] || [ $code -eq 137 ] || fail "exit $code of $*"
    [ $code -ne 0 ] || return 0
    deaths=$((deaths + 1))
    now=$(effects) left=$(letters)
    [ "$now" = "$base" ] && [ "$left" = "$parked" ] || [ "$(steps_left)" = 0 ] || midway=$((midway + 1))
}

# Runs are killed with -9, most during their work, some before it or near their end, until a hundred
# have died and more than half of these midway. No order gets a receipt before the redrive, so many
# messages are redriven. Every second redrive is killed while it sends.
deaths=0 midway=0
for ((n = 0; deaths < 100 || midway * 2 <= deaths; ++n)); do
    rm -rf family
    mkdir family
    printf '{no such field}' >family/receipt.txt
    all=(--db family --workers 2 --most 110)
    [ $((n % 5)) -ne 4 ] || all+=(--import)
    killed_at effects $((n * 37 % 320)) "${all[@]}"
    expect_checked "${all[@]}"
    [ $((n % 5)) -eq 4 ] || expect_output '0 of 110 jobs complete; 110 with dead-lettered steps, 220 in all'
    if [ $((n % 2)) -eq 0 ]; then
        killed_at effects $((n * 23 % 210)) redrive --fix --db family --workers 2
    else
        killed_at steps_left $((n * 23 % 210)) redrive --fix --db family --workers 2
    fi
    expect_checked redrive --fix --db family --workers 2
    expect_no_output 'dead-lettered steps'
done

# A step that ended nine processes is dead-lettered before the broker does so. If the broker was
# first, the next step finds a gap and stops. After the drain, the missing step is redriven with the
# rest.
late() { sql family/queue.sqlite "SELECT count(*) FROM messages WHERE id IN ('order-290/3', 'order-291/3', 'order-300/5')" 2>/dev/null || echo 0; }
late_are_sent() { [ "$(late)" = 3 ] || has_ended main; }
for ((sent = 0; sent != 3; )); do
    rm -rf family
    start main "$program" --db family --most 300 --workers 1
    await 'it does not send' late_are_sent
    killed main
    sent=$(late)
done
sql family/queue.sqlite "UPDATE messages SET failures = 9 WHERE id = 'order-290/3';
    INSERT INTO dead SELECT place, sequence, session, id, properties, body, enqueued, 10, 'delivered 10 times', 0
        FROM messages WHERE id = 'order-291/3';
    DELETE FROM messages WHERE id = 'order-291/3'"
expect_exit 1 --db family --most 300
expect_output 'order-290  1 2 3x 4- 5-   step 3 was delivered 10 times, and no delivery completed it'
expect_output 'order-291  1 2 3. 4x 5-   step 4 arrived, but step 3 is missing'
expect_output 'order-291, step 3 is lost'
expect_output '1 steps were dead-lettered by the broker itself'
# A dry run reads the broker's dead letters for its plan, and leaves them there.
kept() { sql family/queue.sqlite 'SELECT count(*) FROM dead' && sql family/shop.sqlite 'SELECT count(*) FROM step_letters'; }
kept >before
expect_exit 0 redrive --dry-run --db family
expect_output 'order-291 -> order-291~1: 3 dead letters, steps 3 to 5 of 5: broker: delivered 10 times'
kept | cmp - before || fail 'a dry run changes what is kept'
# A message that cannot become a letter stays at the broker, and the output has the reason.
sql family/shop.sqlite "CREATE TRIGGER t BEFORE INSERT ON step_letters WHEN NEW.session = 'order-291'
    BEGIN SELECT RAISE(ABORT, 'no such letter'); END"
expect_exit 1 redrive --fix --db family
expect_output 'order-291/3 was dead-lettered by the broker, and is left: '
expect_output 'no such letter'
sql family/shop.sqlite 'DROP TRIGGER t'
expect_checked redrive --fix --db family
expect_output '300 of 300 jobs complete'

# Inputs of a user.
line() { printf '{"package":"%s","version":"%s","dirs":{"/usr":[1,%s]}}\n' "$1" "$2" "$3"; }
{
    line a 1-1 10
    printf '{"torn\n[1]\n{"package":"b"}\n\n\0\377\n'
    line 'Ünï <code>\"@x{revision}' 2-2 20
    line c 3 30
    line d 4-4 0
} >few
expect_checked --input few --db few.db
expect_output 'lines left out: 2 no JSON, 2 without "package" and "dirs"'
expect_output '4 orders with 20 steps in all, 4 new'
expect_output '2 of 4 jobs complete; 2 with dead-lettered steps, 6 in all'
expect_output '(1 number, 2 total, 3 payment, 4 receipt, 5 mail; x failed; - dead-lettered after it)'
expect_output 'order-4    1 2x 3- 4- 5-   there is nothing to pay for'
expect_checked redrive --fix --db few.db --chart few.svg
expect_no_output 'order-1 '
expect_no_output 'order-2 '
expect_output 'order-4    1 2x 3- 4- 5-   redriven as order-4~1   there is nothing to pay for'
{
    line a 1-1 10
    printf '%070000d\n' 0
    line b 1-1 10
    line c 1-1 10
} >long
expect_checked --input long --most 2
expect_output 'lines left out: 1 longer than 65,536 bytes, 1 after the first 2'
# The text of a job fits into the chart. A very long one is cut.
mkdir wide
printf '{%090d}' 0 >wide/receipt.txt
expect_checked --input long --db wide --chart wide.svg
grep -Eq '0("|&quot;)</text>' wide.svg || fail 'the picture cuts a reason off'
[ "$(sed -n 's/.*viewBox="0 0 \([0-9]*\).*/\1/p' wide.svg)" -gt 1000 ] || fail 'the picture is too narrow'
printf '{%0300d}' 0 >wide/receipt.txt
expect_checked redrive --db wide --chart wide.svg
grep -q '0\.\.\.</text>' wide.svg || fail 'the picture has no end of a long reason'
: >empty
expect_exit 1 --input empty
expect_output 'empty is empty: name a file with at least one line as the input'
printf '{a' >few.db/receipt.txt
expect_checked --input few --db few.db
rm -rf other.db
mkdir other.db
printf '{a' >other.db/receipt.txt
expect_checked --input few --db other.db
expect_output 'broken receipt: a { without its }'

# A worker that another process has ended is replaced. Its messages are delivered again.
effects_are() { [ "$(effects)" -ge "$1" ] || has_ended main; }
for signal in KILL TERM; do
    for ((replaced = 0; replaced == 0; )); do
        rm -rf family
        start main "$program" --db family --workers 1
        await 'no step is done' effects_are 20
        worker=$(grep -l "^PPid:[[:space:]]*${pid[main]}\$" /proc/[0-9]*/status 2>/dev/null | head -n 1 | tr -dc 0-9) || true
        [ -z "$worker" ] || kill -$signal "$worker" 2>/dev/null || true
        ended main 0
        prints main 'checked: each order' || fail "a worker was ended with $signal from outside"
        ! prints main 'worker 0 was ended from outside: another one starts' || replaced=1
    done
done

# Refused options.
expect_exit 0 --help
expect_output --dry-run
expect_refused --bogus extra '--workers 0' '--workers 33' '--most x' --db '--imports 0' --fix --dry-run redrive \
    '--seed 18446744073709551616'
expect_exit 1 --input nothing
expect_output 'there is no file nothing'
expect_exit 1 --db few/db
expect_output 'is no folder and cannot be made one'
expect_exit 1 --chart tmp
expect_output 'the picture cannot be written to tmp'
expect_exit 1 redrive --db typo
expect_output 'there are no orders in typo'
[ ! -e typo ] || fail 'a folder is made for a redrive of nothing'
ln -s few.db/lock link.svg
for own in few.db/shop.sqlite ./few.db/../few.db/queue.sqlite-wal link.svg; do
    expect_exit 1 --input few --db few.db --chart $own
    expect_output 'it is one of the files of --db'
done

# Damaged tables are found.
rm -rf whole
expect_checked --db whole --most 30
while IFS='|' read -r db words change; do
    rm -rf broken
    cp -r whole broken
    sql "broken/$db.sqlite" "$change"
    expect_exit 1 --db broken --most 30
    expect_output "$words"
done <<'CHANGES'
shop|order-2, step 5 is lost|DELETE FROM effects WHERE job = 'order-2' AND step = 5
shop|order-3, step 5 is lost|DELETE FROM step_letters WHERE session = 'order-3' AND step = 5
shop|order-3, step 4 is both done and dead-lettered|INSERT INTO effects (job, step, session, what) VALUES ('order-3', 4, 'order-3', 'x')
shop|order-3, step 5 ran after an earlier step failed|INSERT INTO effects (job, step, session, what) VALUES ('order-3', 5, 'order-3', 'x')
shop|order-2, step 4 ran before the previous step|UPDATE effects SET place = 100000 WHERE job = 'order-2' AND step = 3
shop|order-3, step 4 stopped the job, but has no reason of its own|UPDATE step_letters SET reason = 'session_failed'
shop|is dead-lettered without a reason|UPDATE step_letters SET text = ''
shop|is dead-lettered without its body|UPDATE step_letters SET body = ''
shop|order-2 has a receipt that is not its own|UPDATE effects SET what = 'x' WHERE job = 'order-2' AND step = 2
shop|order-2 has a receipt that is not its own|UPDATE effects SET what = replace(what, 'order-2', 'order-25') WHERE job = 'order-2' AND step > 3
shop|order-2 has a number that is not its own|UPDATE effects SET what = 'W-999' WHERE job = 'order-2' AND step = 1
shop|order-2 has a mail without its receipt|UPDATE effects SET what = 'mailed: x' WHERE job = 'order-2' AND step = 5
shop|order-2, step 2 has no result|UPDATE effects SET what = '' WHERE job = 'order-2' AND step = 2
shop|order-2, step 4 has no result|UPDATE effects SET what = '' WHERE job = 'order-2' AND step = 4
shop|order-2, step 5 has no result|UPDATE effects SET what = '' WHERE job = 'order-2' AND step = 5
shop|order-2, step 5 ran in order-777~3|UPDATE effects SET session = 'order-777~3' WHERE job = 'order-2' AND step = 5
shop|order-2, step 1 ran in order-5|UPDATE effects SET job = 'z' WHERE job = 'order-2'; UPDATE effects SET job = 'order-2' WHERE job = 'order-5'; UPDATE effects SET job = 'order-5' WHERE job = 'z'
shop|order-2 has a step outside of 1 to 5|INSERT INTO effects (job, step, session, what) VALUES ('order-2', 0, 'order-2', 'x')
shop|order-2 has a step outside of 1 to 5|INSERT INTO effects (job, step, session, what) VALUES ('order-2', 6, 'order-2', 'x')
shop|order-3 has a step outside of 1 to 5|UPDATE step_letters SET step = 0 WHERE session = 'order-3' AND step = 4
shop|order-2, step 1 is lost|DELETE FROM jobs WHERE job = 'order-2'; DELETE FROM effects WHERE job = 'order-2'
shop|order-2 is stored with other content|UPDATE jobs SET total = 3 WHERE job = 'order-2'
shop|order-2 is stored with other content|UPDATE jobs SET checksum = 0 WHERE job = 'order-2'
shop|order-3, step 4 is dead-lettered without its body|UPDATE step_letters SET body = replace(body, 'package', 'baggage') WHERE session = 'order-3' AND step = 4
shop|order-3, step 4 is dead-lettered without its body|UPDATE step_letters SET body = substr(body, 1, 10) WHERE session = 'order-3' AND step = 4
shop|order-3, step 4 is dead-lettered without its body|UPDATE step_letters SET size = 1 WHERE session = 'order-3' AND step = 4
shop|order-3, step 4 is dead-lettered without its body|UPDATE step_letters SET body = (SELECT body FROM step_letters WHERE session = 'order-4'), size = (SELECT size FROM step_letters WHERE session = 'order-4'), checksum = (SELECT checksum FROM step_letters WHERE session = 'order-4') WHERE session = 'order-3' AND step = 4
shop|order-3, step 5 would be redriven before the previous step|UPDATE step_letters SET step = 9 - step, reason = CASE step WHEN 5 THEN 'failed' ELSE 'session_failed' END WHERE session = 'order-3'
shop|the reason in the table step_letters is unknown: zzz|UPDATE step_letters SET reason = 'zzz' WHERE session = 'order-3' AND step = 4
shop|order-2, step 5 is both done and dead-lettered|CREATE TABLE t AS SELECT * FROM step_letters WHERE session = 'order-3' AND step = 5; UPDATE t SET session = 'order-2', reason = 'exhausted'; INSERT INTO step_letters SELECT * FROM t
queue|1 steps were dead-lettered by the broker itself|INSERT INTO dead SELECT 1, 1, 'x', 'x', '', '', 0, 10, 'x', 0
queue|order-2: unreadable|UPDATE sessions SET state = 'x' WHERE session = 'order-2'
CHANGES

rm -rf broken
cp -r whole broken
sql broken/shop.sqlite "UPDATE jobs SET total = 3 WHERE job = 'order-2'; DELETE FROM effects WHERE job = 'order-2' AND step > 3"
expect_exit 1 redrive --db broken
expect_output 'order-2 has 3 steps'
! sql whole/shop.sqlite "UPDATE jobs SET total = 9000000000000000000" || fail 'a job may have any number of steps'

# A message in the broker's dead-letter queue becomes a letter, and is redriven with the rest of its
# session. The next step found a gap, and its letter has the state.
rm -rf drained
cp -r whole drained
sql drained/queue.sqlite "ATTACH 'drained/shop.sqlite' AS shop;
    INSERT INTO dead SELECT row_key + 0, row_key + 0, session, message_id, '12:waybill-step1:' || step
        || '13:waybill-total1:5' || CASE last WHEN 1 THEN '12:waybill-last4:true' ELSE '' END,
        body, 0, 10, 'delivered 10 times', 0
        FROM shop.step_letters WHERE session = 'order-3' AND step = 4;
    UPDATE shop.step_letters SET reason = 'gap', text = 'step 4 is missing', state =
        (SELECT state FROM shop.step_letters WHERE session = 'order-3' AND step = 4)
        WHERE session = 'order-3' AND step = 5;
    DELETE FROM shop.step_letters WHERE session = 'order-3' AND step = 4"
expect_checked redrive --fix --db drained
expect_output 'order-3 -> order-3~1: 2 dead letters, steps 4 to 5 of 5: broker: delivered 10 times'
expect_output '30 of 30 jobs complete'

# Closed streams, and a second process on the same folder.
"$program" --db few.db --input few >&- 2>&- <&- || fail 'it fails without open streams'
start main "$program" --db busy
await 'it does not begin' prints main orders
kill -STOP "${pid[main]}"
expect_exit 1 --db busy
expect_output 'another order_pipeline is at work here'
killed main

echo "order_pipeline: $kills workers killed, $inside during a step; $deaths runs killed, $midway of them in the middle of the work; nothing lost, doubled or incomplete"
