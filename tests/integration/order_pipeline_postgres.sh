#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# order_pipeline with its sessions in PostgreSQL: killed workers, a killed server, the redrive, runs
# that are killed as a whole, a server that is already running, and damaged tables. The program
# counts the results of each step.
set -euo pipefail
export LC_ALL=C
program=$WAYBILL_BIN/examples/order_pipeline
# shellcheck source=engines/postgres_for_tests.sh
source "$WAYBILL_SOURCE/tests/integration/engines/postgres_for_tests.sh" order_pipeline_postgres
if [ ! -x "$program" ]; then
    echo 'SKIP: order_pipeline_postgres: order_pipeline is not built'
    exit 0
fi
rm -rf "$work"
work=$(mktemp -d /tmp/waybill-pipeline.XXXXXX)
chmod 711 "$work"  # PostgreSQL may run as another user
cd "$work"
mkdir -m 711 tmp
export TMPDIR=$work/tmp

fail()
{
    echo "order_pipeline_postgres: $*" >&2
    [ ! -e out ] || cat out err >&2
    exit 1
}

# expect_code CODE ARGS...: runs the program, which must end with this exit code. Its output is in
# out and err.
expect_code()
{
    local code=0 expected=$1
    shift
    timeout 120 "$program" "$@" >out 2>err || code=$?
    if grep -q 'built without libpq-dev' err; then
        echo "SKIP: order_pipeline_postgres: $(cat err)"
        exit 0
    fi
    [ $code -eq "$expected" ] || fail "exit $code instead of $expected: $*"
}
expect_text() { grep -qF -- "$1" out err || fail "the output does not contain: $1"; }
expect_checked()
{
    expect_code 0 "$@"
    expect_text 'checked: each order is complete in the order of its steps'
    expect_text '; 0 runs of steps repeated'
}
own=(--sessions postgres:)

# A complete run, with the redrive after it.
expect_checked "${own[@]}" --most 100
expect_text '94 of 100 jobs complete; 6 with dead-lettered steps, 12 in all'
expect_text '100 of 100 jobs complete, 6 of them after a redrive'
[ -z "$(ls tmp)" ] || fail 'a temporary folder is left'

# Workers are killed, in the first part and in the redrive.
expect_checked "${own[@]}" --kill --workers 4 --most 300 --db all
expect_text '294 of 300 jobs complete; 6 with dead-lettered steps, 12 in all'
expect_text 'to redrive them: order_pipeline redrive --fix --db all --sessions postgres:'
kills=$(sed -n 's/.*; \([0-9]*\) kills with -9, \([0-9]*\) of them during a step.*/\2/p' out)
[ "${kills:-0}" -ge 5 ] || fail "only ${kills:-0} workers were killed during a step"
expect_code 0 redrive "${own[@]}" --dry-run --db all
expect_text '12 dead letters of 6 sessions to send'
expect_checked redrive "${own[@]}" --fix --kill --db all
expect_text '300 of 300 jobs complete'

# The folder has the address of its sessions.
expect_code 1 --db all
expect_text 'the sessions of all need --sessions postgres:'
mkdir -m 711 sqlite
"$program" --db sqlite --most 2 >out 2>err || fail 'SQLite'
expect_code 1 "${own[@]}" --db sqlite
expect_text 'the sessions of sqlite are in SQLite: omit --sessions'
expect_code 1 "${own[@]}" --db all --chart all/postgres/chart.svg
expect_text 'the data of the server are there'
for bad in 'postgres' 'sqlite:' 'mysql://host'; do
    expect_code 2 --sessions "$bad"
    expect_text "--sessions $bad: postgres: or postgres://... is expected"
done
expect_code 2 "${own[@]}" --dead-letters azure-table://127.0.0.1:1/devstoreaccount1/letters
expect_text '--dead-letters is not for --sessions'

# Whole runs and redrives are killed at random moments, and continue. In one run the server is
# killed instead, and starts again.
for pause in 0.3 1.7 2.5; do
    "$program" "${own[@]}" --db killed >out 2>err &
    main=$!
    sleep $pause
    kill -9 $main 2>/dev/null || break
    wait $main 2>/dev/null || true
done
"$program" "${own[@]}" --db killed --kill >out 2>err &
main=$!
for _ in $(seq 200); do
    ! grep -q ' sent in ' out || break
    sleep 0.02
done
sleep 0.3
kill -9 "$(head -n 1 killed/postgres/node-0/postmaster.pid)" || fail 'no server to kill'
wait $main || fail "exit $? of a run whose server was killed"
expect_text 'checked: each order is complete in the order of its steps'
expect_text '654 of 669 jobs complete'
for pause in 0.6 1; do
    "$program" redrive --fix "${own[@]}" --db killed >out 2>err &
    main=$!
    sleep $pause
    kill -9 $main 2>/dev/null || break
    wait $main 2>/dev/null || true
done
expect_checked redrive --fix "${own[@]}" --db killed
expect_text '669 of 669 jobs complete, 15 of them after a redrive'

# A server that is already running. Its address has a password, which is in no worker's arguments.
port=$(sed -n 's/.* port=\([0-9]*\) .*/\1/p' "$folder/where")
address=postgres://waybill:$(cat "$folder/password")@127.0.0.1:$port/postgres
expect_checked --sessions "$address" --import --most 200 --db there
expect_text 'broken label: no field "revision"'
expect_checked redrive --fix --sessions "$address" --db there
expect_text '4 of 4 jobs complete'
expect_code 1 --sessions "$address" --import --most 199
expect_text 'needs a database of its own'
expect_code 1 --sessions postgres://127.0.0.1:1/x --db nowhere
expect_text 'the database of --sessions: '

# Damaged tables are found.
psql=$(command -v psql || ls -d /usr/lib/postgresql/*/bin/psql | tail -n 1)
sql() { PGOPTIONS='-c client_min_messages=warning' "$psql" -qX -v ON_ERROR_STOP=1 "$(cat "$folder/where")" -c "$1" >sql.out 2>&1 || fail "cannot: $1: $(cat sql.out)"; }
tables='order_jobs order_effects step_letters session_messages session_states session_locks session_ids session_dead'
drop="DROP TABLE IF EXISTS ${tables// /, }; DROP SEQUENCE IF EXISTS session_tokens"
sql "$drop"
expect_checked --sessions "$address" --most 30 --db whole
for t in $tables; do sql "CREATE TABLE whole_$t AS SELECT * FROM $t"; done
found=0
while IFS='|' read -r words change; do
    for t in $tables; do sql "DELETE FROM $t; INSERT INTO $t SELECT * FROM whole_$t"; done
    sql "$change"
    expect_code 1 --sessions "$address" --most 30 --db whole
    expect_text "$words"
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
