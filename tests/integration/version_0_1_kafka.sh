#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Messages and positions in Kafka that version 0.1 wrote (commit 6247139): this version continues with
# them, on the mock cluster of librdkafka.
#
# tests/golden/v0_1/kafka/state has the records of 300 events and of their dead letters with key,
# headers and body, the committed positions of two groups with their metadata, and the events that had
# taken effect when the consumer crashed. `read` has the events that version 0.1 read as done.
set -euo pipefail
export LC_ALL=C
golden=$WAYBILL_SOURCE/tests/golden/v0_1/kafka
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail()
{
    echo "version_0_1_kafka: $*" >&2
    for file in out difference; do [ ! -e $file ] || head -n 20 $file >&2; done
    exit 1
}
for header in librdkafka/rdkafka.h nlohmann/json.hpp fmt/format.h sqlite3.h; do
    if ! echo "#include <$header>" |
        "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1; then
        echo "SKIP: version_0_1_kafka: there is no $header"
        exit 0
    fi
done
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" \
    "$WAYBILL_SOURCE/tests/integration/version_0_1/kafka.cpp" -o kafka -lrdkafka -lsqlite3 -lfmt -pthread

# Each run has a cluster of its own. The planted ones must fail for the given reason.
planted=()
reasons=()
# plant REASON SED_SCRIPT
plant()
{
    local name=planted${#reasons[@]}
    sed "$2" "$golden/state" >$name
    ! cmp -s $name "$golden/state" || fail "nothing is planted by $2"
    timeout 120 ./kafka continue $name >$name.out 2>&1 &
    planted+=($!)
    reasons+=("$1")
}
plant 'a dead letter without a place' 's/kafka_dlt-original-offset/dlt-offset/'
plant 'would be written otherwise' 's/waybill\.permanent/waybill.hopeless/'
plant 'wrong: metadata' '/"group":"ledger"/s/"metadata":"E/"metadata":"F/'
plant 'is lost' '0,/{"applied"/{/{"applied"/d}'

./kafka read "$golden/state" >found || fail "the state cannot be read: $(cat found)"
diff "$golden/read" found >difference || fail 'positions are read otherwise than version 0.1 read them'
timeout 120 ./kafka continue "$golden/state" >out 2>&1 || fail "exit $? of the run that continues"
for n in "${!planted[@]}"; do
    code=0
    wait "${planted[n]}" || code=$?
    cp "planted$n.out" out
    [ $code -eq 1 ] || fail "exit $code of planted change $n"
    grep -q "${reasons[n]}" out || fail "planted change $n is not noticed: ${reasons[n]}"
done
echo "version_0_1_kafka: read and continued; each of ${#planted[@]} planted changes was noticed"
