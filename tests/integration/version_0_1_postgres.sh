#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Tables in PostgreSQL that version 0.1 wrote (commit 6247139): this version continues with them.
#
# tests/golden/v0_1/postgres holds the dump of a consumer that was killed with -9: checkpoints of three
# partitions, one that was reset, a crash record with 3 deaths and 2 suspects, ten dead letters, four
# leases and four owners that are dead. `read` is the rows as version 0.1 read them.
set -euo pipefail
export LC_ALL=C
# shellcheck source=engines/postgres_for_tests.sh
source "$WAYBILL_SOURCE/tests/integration/engines/postgres_for_tests.sh" version_0_1_postgres
here=$WAYBILL_SOURCE/tests/integration
golden=$WAYBILL_SOURCE/tests/golden/v0_1/postgres
cd "$work"
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "${flags[@]}" \
    "$here/version_0_1/postgres.cpp" -o postgres -lpq -pthread

fail()
{
    echo "version_0_1_postgres: $*" >&2
    for file in out difference; do [ ! -e $file ] || head -n 20 $file >&2; done
    exit 1
}
postgres() { timeout 60 ./postgres "$(cat "$folder/where")" "$@"; }

# reads FILE: every row of the dump is read as version 0.1 read it.
reads()
{
    postgres load "$1" >out || fail "$1 cannot be loaded"
    postgres print >rows 2>&1 && diff "$golden/read" rows >difference
}

# continues: a worker for as long as it ends by the event of partition 1. Sets `deaths`.
continues()
{
    deaths=0
    while true; do
        code=0
        postgres work c 40 >out 2>&1 || code=$?
        [ $code -eq 137 ] || break
        deaths=$((deaths + 1))
        [ $deaths -lt 12 ] || fail "the event of partition 1 has ended $deaths processes"
    done
    [ $code -eq 0 ] || fail "exit $code of a worker"
}

reads "$golden/tables.sql" || fail 'rows are read otherwise than version 0.1 read them'
# The death after the record was written divides its two suspects. The second of them ends three
# processes by itself. Version 0.1 needs as many. A worker that loses a lease, as on a slow machine,
# needs more: then the tables are restored for another attempt.
for _ in 1 2 3; do
    continues
    [ $deaths -ne 3 ] || break
    postgres check 40 >out || fail 'effects or dead letters are not those of the events'
    postgres load "$golden/tables.sql" >out
done
[ $deaths -eq 3 ] || fail "$deaths deaths instead of 3 after the stored crash record"
postgres check 40 >out || fail 'effects or dead letters are not those of the events'
postgres print | grep '^dead letter' >letters
grep '^dead letter' "$golden/read" | grep -vxFf letters >difference && fail 'a dead letter of version 0.1 has changed'

# The checks above can fail: a column with another name, other values, a missing row.
planted=0
# plant SED_SCRIPT: it must be noticed when the rows are read.
plant()
{
    sed "$1" "$golden/tables.sql" >planted.sql
    ! cmp -s planted.sql "$golden/tables.sql" || fail "nothing is planted by $1"
    ! reads planted.sql || fail "not noticed: $1"
    planted=$((planted + 1))
}
plant 's/^    parked bigint/    dead_lettered_at bigint/'
plant "s/7, '\\\\x6174203600ff', 1, /7, '\\\\x6174203600ff', 2, /"
plant 's/1795539533571280234, 2, 49/1795539533571280234, 3, 49/'
plant "s/'1', 14, 16, 2, 3,/'1', 14, 16, 2, 2,/"
plant '/INTO public.lease_owners .* 21);/d'
sed "/INTO public.effects VALUES ('0', 24)/d; /INTO public.attempts/d" "$golden/tables.sql" >planted.sql
postgres load planted.sql >out
continues
[ $deaths -ne 3 ] || fail 'the number of deaths does not depend on the stored crash record'
! postgres check 40 >out || fail 'a lost effect is not noticed'
rm -f out
echo "version_0_1_postgres: read and continued; each of $planted planted changes was noticed"
