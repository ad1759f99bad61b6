#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Kills the article deferral with -9 before and after each of its calls of SQLite, first while the
# mail server is down and then while it works. Afterwards another run delivers the rest. Each mail
# has arrived, and the one without an address is a dead letter with the reason.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
program=$programs/deferral_killed

# received FILE: true if no message can be received now: each is deferred, locked, or gone.
received()
{
    [ "$(sql "$1" "SELECT count(*) FROM work WHERE until <= (julianday('now') - 2440587.5) * 86400000" 2>/dev/null)" = 0 ]
}

# An outage: the mails are deferred, and then delivered.
start mails "$program" m.sqlite server 90 'ada@example.org hello' 'no address' 'bob@example.org hi'
await 'the mails are not received' received m.sqlite
mkdir server
ended mails 0
[[ $(tail -n 1 mails.out) =~ ^[0-9]+\ received,\ 2\ completed,\ [1-9][0-9]*\ deferred,\ 1\ dead-lettered\;\ empty$ ]] ||
    fail 'another end of an undisturbed run'
[ "$(cat server/1 server/3)" = 'ada@example.org hellobob@example.org hi' ] || fail 'the mails are wrong'

# Waiting mails: the program creates the tables.
mkdir none
expect_exit 0 start.sqlite none 90
sql start.sqlite "INSERT INTO work (sent, body) VALUES (0, 'ada@example.org 1'), (0, 'no address'), (0, 'bob@example.org 2'), (0, 'eve@example.org 3')"

received_or_killed() { has_ended mails || received q.sqlite; }
for when in KILL_AT KILL_AFTER; do
    for ((n = 1; ; ++n)); do
        rm -rf server q.sqlite*
        cp start.sqlite q.sqlite
        # The mail server is down. The program is killed at this call, or when it has received all mails.
        start mails env $when=$n "$program" q.sqlite server 90
        await "$when=$n: the mails are not received" received_or_killed
        killed mails
        kills=$((kills + 1))
        sql q.sqlite 'UPDATE work SET until = 0'  # all locks and deferrals end
        mkdir server
        dies $when=$n "$program" q.sqlite server 90 && ended=no || ended=yes
        sql q.sqlite 'UPDATE work SET until = 0'
        expect_exit 0 q.sqlite server 90
        found=$(cat server/1; echo; cat server/3; echo; cat server/4; echo; ls server | wc -l
            sql q.sqlite 'SELECT * FROM dead_work; SELECT count(*) FROM work')
        [ "$found" = "$(printf '%s\n' 'ada@example.org 1' 'bob@example.org 2' 'eve@example.org 3' 3 \
            '2|no address|permanent: no address' 0)" ] || fail "$when=$n: $found"
        [ $ended = no ] || break
    done
done
[ $kills -ge 60 ] || fail "only $kills kills"
echo "$kills kills, no mail lost"
