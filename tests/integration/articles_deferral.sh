#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills the article deferral with -9 before and after each of its calls of SQLite, first while the
# mail server is down and then while it works. Afterwards another run delivers the rest. Each mail
# has arrived, and the one without an address is a dead letter with the reason.
set -euo pipefail
export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=${ARTICLE:-$WAYBILL_SOURCE/examples/articles/deferral.cpp}
engines=${ENGINES:-$WAYBILL_SOURCE/examples/articles}
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$engines" "$source" \
    "$WAYBILL_SOURCE/tests/integration/articles/kill_at.cpp" -o "$work/deferral" \
    -Wl,--wrap=sqlite3_step,--wrap=sqlite3_exec -lsqlite3
"${CXX:-c++}" -std=c++20 "$WAYBILL_SOURCE/tests/integration/articles/sql.cpp" -o "$work/sql" -lsqlite3
cd "$work"
fail() { echo "articles_deferral: $*" >&2; exit 1; }

# An outage of two seconds: the mails are deferred, and then delivered.
(sleep 2; mkdir server) &
said=$(timeout 60 ./deferral m.sqlite server 90 'ada@example.org hello' 'no address' 'bob@example.org hi' | tail -1)
wait
[[ $said =~ ^[0-9]+\ received,\ 2\ completed,\ [0-9]+\ deferred,\ 1\ dead-lettered\;\ empty$ ]] ||
    fail "the output of an undisturbed run is: $said"
[ "$(cat server/1 server/3)" = 'ada@example.org hellobob@example.org hi' ] || fail "the mails are wrong"

# Waiting mails: the program creates the tables.
mkdir none
./deferral start.sqlite none 90 >none.out
"$work/sql" start.sqlite "INSERT INTO work (sent, body) VALUES (0, 'ada@example.org 1'), (0, 'no address'), (0, 'bob@example.org 2'), (0, 'eve@example.org 3')"

# run WHEN N: killed there, or after 0.3 s. Then all locks and deferrals end. Counts the kills.
kills=0
run()
{
    local code=0
    { env "$1=$2" timeout -s KILL 0.3 ./deferral q.sqlite server 90 >out; } 2>/dev/null || code=$?
    [ $code = 0 ] || [ $code = 137 ] || fail "$1=$2: ended with $code: $(cat out)"
    [ $code = 0 ] || kills=$((kills + 1))
    "$work/sql" q.sqlite 'UPDATE work SET until = 0'
    return $((code != 0))
}
for when in KILL_AT KILL_AFTER; do
    for ((n = 1; n != 40; ++n)); do
        rm -rf server q.sqlite*
        cp start.sqlite q.sqlite
        run $when $n || true                # the mail server is down
        mkdir server
        run $when $n && ended=yes || ended=no
        timeout 60 ./deferral q.sqlite server 90 >out || fail "$when=$n: the next run ended with $?"
        what=$(cat server/1; echo; cat server/3; echo; cat server/4; echo; ls server | wc -l
            "$work/sql" q.sqlite 'SELECT * FROM dead_work; SELECT count(*) FROM work')
        [ "$what" = "$(printf '%s\n' 'ada@example.org 1' 'bob@example.org 2' 'eve@example.org 3' 3 \
            '2|no address|permanent: no address' 0)" ] || fail "$when=$n: $what"
        [ $ended = no ] || break
    done
done
[ $kills -ge 60 ] || fail "only $kills kills"
echo "$kills kills, no mail lost"
