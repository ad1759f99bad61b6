#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Dead letters of steps in an Azure table that version 0.1 wrote (commit 6247139): this version
# continues with them, in the table service of Azurite.
#
# tests/golden/v0_1/azurite holds the rows of three tables, and as `read` the rows as version 0.1 read
# them. `middle` and `killed` have the databases of order_pipeline, too, which was killed with -9:
#   forms     one row of each form: keys with reserved characters, numbers above 2^63, bytes
#   middle    8 orders with broken receipts; 3 dead letters, 2 sessions with a state, 33 messages
#   killed    a redrive that had removed 9 of 16 dead letters; no message of it was processed
set -euo pipefail
export LC_ALL=C

program=$WAYBILL_BIN/examples/order_pipeline
here=$WAYBILL_SOURCE/tests/integration/version_0_1
golden=$WAYBILL_SOURCE/tests/golden/v0_1/azurite
work=$(mktemp -d)
packages=$WAYBILL_BIN/azurite
# shellcheck source=/dev/null
source "$WAYBILL_SOURCE/tests/integration/order_pipeline_azurite/azurite.sh"
finish()
{
    azurite_stop
    rm -rf "$work"
}
trap finish EXIT
cd "$work"

fail()
{
    echo "version_0_1_azurite: $*" >&2
    for file in out difference; do [ ! -e $file ] || tail -n 20 $file >&2; done
    exit 1
}
skip()
{
    echo "SKIP: version_0_1_azurite: $*"
    exit 0
}
echo '#include <nlohmann/json.hpp>' | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1 ||
    skip 'no nlohmann/json'
echo '#include <curl/curl.h>' | "${CXX:-c++}" -E -x c++ - >/dev/null 2>&1 || skip 'no libcurl4-openssl-dev'
[ -x "$program" ] || skip 'order_pipeline was not built, as its packages are missing'
why=$(azurite_install "$packages") || skip "$why"
azurite_start "$packages" "$work" 600 || fail 'Azurite does not start'
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "$here/azurite.cpp" \
    -o azurite -lcrypto -lcurl -pthread
"${CXX:-c++}" -std=c++20 "$here/sqlite.cpp" -o sqlite -lsqlite3

rows() { timeout 60 node "$here/rows.mjs" "$port" "$@"; }
place() { echo "127.0.0.1:$port/devstoreaccount1/$1"; }

# expect_output WORDS ARGS...: order_pipeline must end with 0 and print these words.
expect_output()
{
    local words=$1
    shift
    timeout 60 "$program" "$@" >out 2>&1 || fail "exit $? of order_pipeline $*"
    grep -qF -- "$words" out || fail "order_pipeline $* does not print: $words"
}

# reads TABLE FILE FOLDER: the rows of the file are read as version 0.1 read those of the folder.
reads()
{
    rows "$1" load "$2" >out 2>&1 || fail "$2 cannot be loaded"
    timeout 60 ./azurite "$(place "$1")" >found 2>out && diff "$golden/$3/read" found >difference
}
for table in forms middle killed; do
    reads $table "$golden/$table/rows" $table || fail "rows of $table are read otherwise than version 0.1 read them"
done

# A run without an interruption, for comparison: the same orders, with receipts that are broken at first.
grep '"dirs"' "$WAYBILL_SOURCE/examples/mailroom/recording.ndjson" | awk 'length < 400' >orders
head -n 8 orders >orders.ndjson
mkdir whole
cp "$golden/middle/receipt.txt" whole/
stopped='0 of 8 jobs complete; 8 with dead-lettered steps, 16 in all'
complete='8 of 8 jobs complete, 8 of them after a redrive'
at() { echo --db "$1" --dead-letters "azure-table://$(place "$1")"; }
# shellcheck disable=SC2046
expect_output "$stopped" --input orders.ndjson $(at whole)
# Rows of this version have the same properties with the same types.
properties() { grep -oE '"[A-Za-z_@.]+":("Edm[.A-Za-z0-9]+"|true|false)?' "$1" | sed 's/true$\|false$/flag/' | sort -u; }
rows whole dump >written
properties "$golden/killed/rows" >difference
properties written | diff difference - || fail 'a row has other properties than one of version 0.1'
# shellcheck disable=SC2046
expect_output "$complete" redrive --fix $(at whole)

effects() { ./sqlite rows "$1/shop.sqlite" 'SELECT job, step, what FROM effects ORDER BY job, step'; }
effects whole >whole.effects
[ "$(grep -c '^order-[1-8]|[1-5]|' whole.effects)" -eq 40 ] || fail 'the run for comparison has other effects'
for table in middle killed; do
    mkdir $table
    cp "$golden/$table"/*.txt $table/
    for database in queue shop; do
        sed "s/127\.0\.0\.1:PORT/127.0.0.1:$port/" "$golden/$table/$database.sql" >restored.sql
        ./sqlite restore restored.sql $table/$database.sqlite
    done
    # shellcheck disable=SC2046
    [ $table != middle ] || expect_output "$stopped" --input orders.ndjson $(at middle)
    # shellcheck disable=SC2046
    expect_output "$complete" redrive --fix $(at $table)
    effects $table | diff whole.effects - >difference || fail "$table: other effects than without an interruption"
    rows $table dump >left
    [ ! -s left ] || fail "$table: dead letters are left"
done

# The checks above can fail: properties with other names, other values.
planted=0
# plant FOLDER SED_SCRIPT: it must be noticed when the rows are read.
plant()
{
    sed "$2" "$golden/$1/rows" >planted.rows
    ! cmp -s planted.rows "$golden/$1/rows" || fail "nothing is planted by $2"
    planted=$((planted + 1))
    ! reads planted$planted planted.rows "$1" || fail "not noticed: $2"
}
plant killed 's/"sent_to\([@"]\)/"resent_to\1/g'
plant killed 's/"reason":"session_failed"/"reason":"stopped"/'
plant killed 's/"parked\([@"]\)/"dead_lettered_at\1/g'
plant killed 's/"waybill\/1 json/"waybill\/2 json/; s/waybill\/1 json/waybill\/2 json/'
plant forms 's/"kept":"pointer"/"kept":"body"/'
plant forms 's/!212F/!2F/'
rm -f out
echo "version_0_1_azurite: read and continued; each of $planted planted changes was noticed"
