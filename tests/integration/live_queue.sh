#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The queue of --live, in SQLite and in NATS JetStream. If a worker is killed, its message is
# processed again. Each sent message is processed or still in the queue. No process is left after
# any kill. An engine that is not installed is named and skipped.
set -euo pipefail
# has HEADER
has() { echo "#include <$1>" | "${CXX:-c++}" -std=c++20 -E -x c++ - >/dev/null 2>&1; }
if ! has nlohmann/json.hpp || ! has sqlite3.h || ! has fmt/format.h; then
    echo 'SKIP: there is no nlohmann/json, no SQLite or no fmt to build with'
    exit 0
fi
examples=$WAYBILL_SOURCE/examples
work=$(mktemp -d)
declare -A running=()
stop()
{
    local p
    for p in "${running[@]}"; do kill "$p" 2>/dev/null || true; done
    wait
    rm -rf "$work"
}
trap stop EXIT
cd "$work"

nats=()
! has nats/nats.h || nats=(-DWAYBILL_ENGINES_NATS -lnats)
# In one translation unit, because most of it is headers that all parts share.
printf '#include "%s"\n' "$examples/autoscaler/live_engine.cpp" \
    "$examples/autoscaler/live_queue.cpp" "$WAYBILL_SOURCE/tests/integration/live_queue/loop.cpp" |
    "${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$examples" -x c++ - -o loop \
        ${nats[@]+"${nats[@]}"} -lfmt -lsqlite3 -pthread

parts=(sqlite)
held=(SQLite)
if [ ${#nats[@]} = 0 ]; then
    echo 'SKIP: there is no nats.c (libnats-dev)'
elif command -v nats-server >/dev/null || [ -x /usr/sbin/nats-server ]; then
    parts+=(nats address others)
    held+=('NATS JetStream')
else
    echo 'SKIP: there is no nats-server'
    parts+=(absent)
fi

wrong=0
./loop forms || wrong=$((wrong + $?))
for part in "${parts[@]}"; do
    mkdir "$part"
    timeout 600 ./loop "$part" "$work/$part" >"$part.out" 2>&1 &
    running[$part]=$!
done

# The main program is killed, and the next one continues with the queue.
left() { grep -la "$work/killed" /proc/[0-9]*/cmdline 2>/dev/null || true; }
if [[ ${parts[*]} == *nats* ]]; then
    ./loop on nats "$work/killed" >killed.out 2>&1 &
    running[killed]=$!
    for _ in $(seq 600); do
        ! grep -q 'it works' killed.out || break
        sleep 0.1
    done
    grep -q 'it works' killed.out || { cat killed.out >&2; wrong=$((wrong + 1)); }
    [ "$(left | wc -l)" -ge 3 ] || { echo 'it has started no worker' >&2; wrong=$((wrong + 1)); }
    kill -9 "${running[killed]}"
    wait "${running[killed]}" 2>/dev/null || true
    unset 'running[killed]'
    for _ in $(seq 600); do
        [ -n "$(left)" ] || break
        sleep 0.1
    done
    [ -z "$(left)" ] || { echo "they outlive it: $(left)" >&2; wrong=$((wrong + 1)); }
    timeout 600 ./loop nats "$work/killed" >again.out 2>&1 &
    running[again]=$!
fi

for part in "${!running[@]}"; do
    code=0
    wait "${running[$part]}" || code=$?
    sed "s/^/$part: /" "$part.out"
    wrong=$((wrong + code))
    unset 'running[$part]'
done
[ "$wrong" = 0 ] || { echo "$wrong wrong" >&2; exit 1; }
echo "live queues keep what they are given: $(printf '%s, ' "${held[@]}" | sed 's/, $//')"
