#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Leases and checkpoints in blobs: the results for a service's responses, and on the blob service of
# Azurite the rules of both stores, processes that are killed while they share partitions, and
# checkpoints that Azure's own client for JavaScript reads and writes; also with TLS.
set -euo pipefail
export LC_ALL=C

engines=$WAYBILL_SOURCE/tests/integration/engines
here=$WAYBILL_SOURCE/tests/integration/order_pipeline_azurite
packages=$WAYBILL_BIN/azurite
work=$(mktemp -d)
# shellcheck source=order_pipeline_azurite/azurite.sh
source "$here/azurite.sh"
finish()
{
    azurite_stop
    wait 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
mkdir tls

fail()
{
    echo "azure_blobs: $*" >&2
    for file in out err server.log; do [ ! -e $file ] || tail -n 30 $file >&2; done
    exit 1
}
skip()
{
    echo "SKIP: azure_blobs: $*"
    exit 0
}
for header in pugixml.hpp:libpugixml-dev openssl/evp.h:libssl-dev curl/curl.h:libcurl4-openssl-dev \
    sqlite3.h:libsqlite3-dev; do
    echo "#include <${header%:*}>" | "${CXX:-c++}" -E -x c++ - >/dev/null 2>&1 || skip "no ${header#*:}"
done
"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples" "$engines/azure_blobs.cpp" \
    -o azure_blobs -pthread -lcrypto -lcurl -lsqlite3 -lpugixml
timeout 120 ./azure_blobs answers || fail 'responses of a scripted service'

why=$(azurite_install "$packages") || skip "nothing is written to Azurite: $why"
ln -s "$packages/node_modules" node_modules
cp "$here/checkpoints.mjs" .
azurite_start "$packages" "$work" 300 blob || fail 'Azurite does not start'
at="DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=$(sed -n '/development_key/,/;/p' \
    "$WAYBILL_SOURCE/examples/engines/shared_key.hpp" | grep -o '"[^"]*"' | tr -d '"\n')"
export STORAGE="$at;BlobEndpoint=http://127.0.0.1:$port/devstoreaccount1"
timeout 120 ./azure_blobs rules >out || fail 'rules'

# Two kinds of reader continue from each other's checkpoint.
timeout 60 ./azure_blobs commit 41 4100 || fail 'the first commit'
[ "$(timeout 60 node checkpoints.mjs "$port" list)" = '3 41 4100' ] || fail 'the client of Azure reads something else'
timeout 60 node checkpoints.mjs "$port" update 42 4200 || fail 'the client of Azure cannot write'
[ "$(timeout 60 ./azure_blobs load)" = '42 4200 0' ] || fail 'a checkpoint of the client of Azure'
timeout 60 ./azure_blobs commit 43 3:1:4300 || fail 'a commit after it'
[ "$(timeout 60 node checkpoints.mjs "$port" list)" = '3 43 3:1:4300' ] || fail 'after both'

# A reader is killed at random moments. Each number is in the file, and those of one batch at most
# come again.
kills=0
for pause in 0.2 0.3 0.15 0.25 0.2; do
    ./azure_blobs read numbers >out &
    pid=$!
    sleep $pause
    kill -9 $pid 2>/dev/null && kills=$((kills + 1))
    wait $pid 2>/dev/null || true
done
timeout 60 ./azure_blobs read numbers >out || fail 'a reader'
[ $kills -gt 0 ] || fail "no reader was killed"
sort -n numbers | uniq | cmp -s - <(seq 400) || fail 'a number is lost'
[ "$(wc -l <numbers)" -le $((400 + 20 * kills)) ] || fail "$(wc -l <numbers) numbers with $kills kills"

# Three hosts share six partitions. Hosts are killed, and the service stops for longer than leases
# last. Each order has one invoice; at the end no lease is held.
command -v python3 >/dev/null || skip 'no python3'
timeout 150 python3 - "$azurite" >out 2>err <<'HOSTS' || fail 'hosts'
import os, random, signal, sqlite3, subprocess, sys, time

path, dice, kills = "hosts.db", random.Random(3), 0
db = sqlite3.connect(path, timeout=60, isolation_level=None)
db.execute("PRAGMA journal_mode=WAL")
db.execute("CREATE TABLE invoice (part TEXT, number INTEGER, owner TEXT)")


def start(name):
    return subprocess.Popen(["./azure_blobs", "host", path, name], stdout=open(name + ".out", "a"))


hosts = {name: start(name) for name in "abc"}
try:
    while not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'log'").fetchone():
        time.sleep(0.05)
    for n in range(1, 251):
        for p in range(6):
            db.execute("INSERT INTO log VALUES (?, ?, '1')", (str(p), n))
        time.sleep(0.02)
        if n % 60 == 0:
            name = dice.choice("abc")
            hosts[name].kill()
            hosts[name].wait()
            kills += 1
            hosts[name] = start(name)
        if n == 150:
            # The service runs below `timeout`, which has the number.
            node = int(open(f"/proc/{sys.argv[1]}/task/{sys.argv[1]}/children").read().split()[0])
            os.kill(node, signal.SIGSTOP)
            time.sleep(3)
            os.kill(node, signal.SIGCONT)
    until = time.monotonic() + 60
    while db.execute("SELECT count(*) FROM invoice").fetchone()[0] < 1500 and time.monotonic() < until:
        time.sleep(0.1)
    rows = db.execute("SELECT part, number, count(*) FROM invoice GROUP BY part, number").fetchall()
    if len(rows) != 1500 or any(count != 1 for _, _, count in rows):
        sys.exit(f"{len(rows)} of 1500 orders, most often {max(r[2] for r in rows)} times")
    for part in range(6):
        order = [r[0] for r in db.execute("SELECT number FROM invoice WHERE part = ? ORDER BY rowid", (str(part),))]
        if order != sorted(order):
            sys.exit(f"partition {part} is not in order")
    owners = db.execute("SELECT count(DISTINCT owner) FROM invoice").fetchone()[0]
    if owners != 3:
        sys.exit(f"{owners} owners")
    for name, host in hosts.items():
        host.terminate()
        if host.wait(30) != 0:
            sys.exit(f"{name} ends with {host.returncode}: {open(name + '.out').read()}")
finally:
    for host in hosts.values():
        host.kill()
print(f"{kills} kills")
HOSTS
azurite_stop

# With TLS the certificate is checked.
command -v openssl >/dev/null || skip 'the part with TLS: there is no openssl'
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -days 2 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 >/dev/null 2>&1 || fail 'no certificate'
azurite_start "$packages" "$work/tls" 300 blob --cert "$work/ca.pem" --key "$work/key.pem" || fail 'no service with TLS'
export STORAGE="$at;BlobEndpoint=https://127.0.0.1:$port/devstoreaccount1"
code=0
timeout 60 ./azure_blobs load >out || code=$?
[ $code -eq 1 ] && grep -q 'certificate' out || fail 'an unknown certificate is accepted'
[ "$(CURL_CA_BUNDLE=$work/ca.pem timeout 60 ./azure_blobs load)" = none ] || fail 'TLS'
CURL_CA_BUNDLE=$work/ca.pem timeout 60 ./azure_blobs commit 5 500 || fail 'a commit with TLS'
[ "$(CURL_CA_BUNDLE=$work/ca.pem timeout 60 ./azure_blobs load)" = '5 500 1' ] || fail 'a checkpoint with TLS'
