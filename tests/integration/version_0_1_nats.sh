#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A work queue in NATS JetStream that version 0.1 wrote (commit 6247139): this version continues with it.
#
# tests/golden/v0_1/nats/state has the configurations of the stream and of its consumer, and five of
# eight messages; one of these was in flight.
set -euo pipefail
export LC_ALL=C
golden=$WAYBILL_SOURCE/tests/golden/v0_1/nats
here=$WAYBILL_SOURCE/tests/integration/version_0_1
work=$(mktemp -d)
# shellcheck source=/dev/null
source "$here/nats.sh"
finish()
{
    nats_stop
    rm -rf "$work"
}
trap finish EXIT
cd "$work"

fail()
{
    echo "version_0_1_nats: $*" >&2
    [ ! -e out ] || head -n 20 out >&2
    exit 1
}
skip()
{
    echo "SKIP: version_0_1_nats: there is no $*"
    exit 0
}
echo '#include <nlohmann/json.hpp>' | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1 || skip nlohmann/json
echo '#include <nats/nats.h>' | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1 || skip nats.c
command -v nats-server >/dev/null || [ -x /usr/sbin/nats-server ] || skip nats-server
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "$here/nats.cpp" -o nats \
    -lnats -pthread

# continues NAME FILE: on a server of its own.
continues()
{
    mkdir "$1"
    nats_start "$work/$1" || fail 'the server does not start'
    code=0
    timeout 60 ./nats "$port" continue "$2" >out 2>&1 || code=$?
    nats_stop
}
[ "$(grep -c '^{"message"' "$golden/state")" -eq 5 ] || fail 'the fixture has other messages'
continues whole "$golden/state"
[ $code -eq 0 ] || fail "exit $code of the run that continues"

# The check can fail: a stream of another kind, another subject, another consumer.
planted=0
# plant SED_SCRIPT
plant()
{
    sed "$1" "$golden/state" >planted
    ! cmp -s planted "$golden/state" || fail "nothing is planted by $1"
    planted=$((planted + 1))
    continues planted$planted planted
    [ $code -eq 1 ] || fail "exit $code, although a change was planted: $1"
}
mv out whole.out
plant 's/"retention":"workqueue"/"retention":"limits"/'
plant 's/ORDERS\.work/ORDERS.tasks/'
plant 's/"ack_wait":[0-9]*/"ack_wait":7000000000/'
echo "version_0_1_nats: continued; each of $planted planted changes was noticed"
