#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# order_pipeline with its sessions in PostgreSQL: killed workers, a killed server, the redrive, runs
# that are killed as a whole, a server that is already running, and damaged tables. The program
# counts the results of each step.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs order_pipeline
program=$examples/order_pipeline
"$program" --sessions postgres: --most 1 >out 2>err || ! grep -q 'built without libpq-dev' err || skip "$(cat err)"
# shellcheck source=engines/own_postgres.sh
source "$here/engines/own_postgres.sh"
chmod 711 "$work" tmp  # PostgreSQL may run as another user

expect_checked()
{
    expect_exit 0 "$@"
    expect_output 'checked: each order is complete in the order of its steps'
    expect_output '; 0 runs of steps repeated'
}
own=(--sessions postgres:)

# A complete run, with the redrive after it.
expect_checked "${own[@]}" --most 100
expect_output '94 of 100 jobs complete; 6 with dead-lettered steps, 12 in all'
expect_output '100 of 100 jobs complete, 6 of them after a redrive'
expect_no_folder

# Workers are killed, in the first part and in the redrive, until five were killed during a step.
for ((seed = 1; kills < 5; ++seed)); do
    rm -rf all
    expect_checked "${own[@]}" --kill --seed $seed --workers 4 --most 300 --db all
    expect_output '294 of 300 jobs complete; 6 with dead-lettered steps, 12 in all'
    expect_output 'to redrive them: order_pipeline redrive --fix --db all --sessions postgres:'
    hits=$(sed -n 's/.*; [0-9]* kills* with -9, \([0-9]*\) of them during a step.*/\1/p' out)
    kills=$((kills + ${hits:-0}))
done
expect_exit 0 redrive "${own[@]}" --dry-run --db all
expect_output '12 dead letters of 6 sessions to send'
expect_checked redrive "${own[@]}" --fix --kill --db all
expect_output '300 of 300 jobs complete'

# The folder has the address of its sessions.
expect_exit 1 --db all
expect_output 'the sessions of all need --sessions postgres:'
mkdir -m 711 sqlite
expect_exit 0 --db sqlite --most 2
expect_exit 1 "${own[@]}" --db sqlite
expect_output 'the sessions of sqlite are in SQLite: omit --sessions'
expect_exit 1 "${own[@]}" --db all --chart all/postgres/chart.svg
expect_output 'the data of the server are there'
for bad in 'postgres' 'sqlite:' 'mysql://host'; do
    expect_exit 2 --sessions "$bad"
    expect_output "--sessions $bad: postgres: or postgres://... is expected"
done
expect_exit 2 "${own[@]}" --dead-letters azure-table://127.0.0.1:1/devstoreaccount1/letters
expect_output '--dead-letters is not for --sessions'

# Whole runs and redrives are killed at different moments, and continue. In one run the server is
# killed instead, and starts again. The pauses decide only where the kills hit.
is_working() { prints main ' sent in ' || prints main ' sent again in ' || has_ended main; }
for pause in 0 0.3 0.8; do
    start main "$program" "${own[@]}" --db killed
    [ $pause = 0 ] || await 'it does not work' is_working
    sleep $pause
    killed main
done
start main "$program" "${own[@]}" --db killed --kill
await 'it does not work' is_working
kill -9 "$(head -n 1 killed/postgres/node-0/postmaster.pid)" || fail 'no server to kill'
ended main 0
cp main.out out
expect_output 'checked: each order is complete in the order of its steps'
expect_output '654 of 669 jobs complete'
for pause in 0 0.01; do
    start main "$program" redrive --fix "${own[@]}" --db killed
    await 'it does not work' is_working
    sleep $pause
    killed main
done
expect_checked redrive --fix "${own[@]}" --db killed
expect_output '669 of 669 jobs complete, 15 of them after a redrive'

# A server that is already running. Its address has a password, which is in no worker's arguments.
port=$(sed -n 's/.* port=\([0-9]*\) .*/\1/p' "$folder/where")
address=postgres://waybill:$(cat "$folder/password")@127.0.0.1:$port/postgres
expect_checked --sessions "$address" --import --most 200 --db there
expect_output 'broken label: no field "revision"'
expect_checked redrive --fix --sessions "$address" --db there
expect_output '4 of 4 jobs complete'
expect_exit 1 --sessions "$address" --import --most 199
expect_output 'needs a database of its own'
expect_exit 1 --sessions postgres://127.0.0.1:1/x --db nowhere
expect_output 'the database of --sessions: '

# Damaged tables are found.
# shellcheck disable=SC2012
client=$(command -v psql || ls -d /usr/lib/postgresql/*/bin/psql | tail -n 1)
psql() { PGOPTIONS='-c client_min_messages=warning' "$client" -qX -v ON_ERROR_STOP=1 "$(cat "$folder/where")" -c "$1" >out 2>&1 || fail "cannot: $1"; }
tables='order_jobs order_effects step_letters session_messages session_states session_locks session_ids session_dead'
drop="DROP TABLE IF EXISTS ${tables// /, }; DROP SEQUENCE IF EXISTS session_tokens"
psql "$drop"
expect_checked --sessions "$address" --most 30 --db whole
for t in $tables; do psql "CREATE TABLE whole_$t AS SELECT * FROM $t"; done
found=0
while IFS='|' read -r words change; do
    for t in $tables; do psql "DELETE FROM $t; INSERT INTO $t SELECT * FROM whole_$t"; done
    psql "$change"
    expect_exit 1 --sessions "$address" --most 30 --db whole
    expect_output "$words"
    found=$((found + 1))
done <<'CHANGES'
order-2, step 5 is lost|DELETE FROM order_effects WHERE job = 'order-2' AND step = 5
order-2, step 3 took effect twice|UPDATE order_effects SET runs = 2 WHERE job = 'order-2' AND step = 3
order-3, step 5 is lost|DELETE FROM step_letters WHERE session = 'order-3' AND step = 5
order-3, step 4 is both done and dead-lettered|INSERT INTO order_effects (job, step, session, what) VALUES ('order-3', 4, 'order-3', 'x')
order-2, step 4 ran before the previous step|UPDATE order_effects SET place = 100000 WHERE job = 'order-2' AND step = 3
order-3, step 4 is dead-lettered without its body|UPDATE step_letters SET body = '' WHERE session = 'order-3' AND step = 4
order-2 has a receipt that is not its own|UPDATE order_effects SET what = 'x' WHERE job = 'order-2' AND step = 2
order-2 is stored with other content|UPDATE order_jobs SET checksum = 0 WHERE job = 'order-2'
the reason in the table step_letters is unknown: zzz|UPDATE step_letters SET reason = 'zzz' WHERE session = 'order-3' AND step = 4
1 steps were dead-lettered by the broker itself|INSERT INTO session_dead VALUES (1, 'x', 'x', '', '', 0, 10, 'x')
order-2: unreadable|UPDATE session_states SET state = 'x' WHERE session = 'order-2'
CHANGES
[ $found -eq 11 ] || fail "only $found changes were tried"

echo "order_pipeline_postgres: $kills workers killed during a step; nothing lost, doubled or incomplete"
