#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# Leases and checkpoints in blobs: the results for a service's responses, and on the blob service of
# Azurite the rules of both stores, processes that are killed while they share partitions, and
# checkpoints that Azure's own client for JavaScript reads and writes; also with TLS.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs azure_blobs
# shellcheck source=order_pipeline_azurite/azurite.sh
source "$here/order_pipeline_azurite/azurite.sh"
program=$programs/azure_blobs
expect_exit 0 answers

azurite_install
cp "$here/order_pipeline_azurite/checkpoints.mjs" .
azurite_start blob
at="DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=$(sed -n '/development_key/,/;/p' \
    "$WAYBILL_SOURCE/examples/engines/shared_key.hpp" | grep -o '"[^"]*"' | tr -d '"\n')"
export STORAGE="$at;BlobEndpoint=http://127.0.0.1:$port/devstoreaccount1"
expect_exit 0 rules

# Two kinds of reader continue from each other's checkpoint.
# stored TEXT: the checkpoint as this client loads it. listed TEXT: as the client of Azure does.
stored()
{
    expect_exit 0 load
    [ "$(cat out)" = "$1" ] || fail "not $1"
}
listed()
{
    program=node expect_exit 0 checkpoints.mjs "$port" list
    [ "$(cat out)" = "$1" ] || fail "the client of Azure does not read $1"
}
expect_exit 0 commit 41 4100
listed '3 41 4100'
program=node expect_exit 0 checkpoints.mjs "$port" update 42 4200
stored '42 4200 0'
expect_exit 0 commit 43 3:1:4300
listed '3 43 3:1:4300'

# A reader is killed again and again. Each number is in the file, and those of one batch at most come
# again after a kill.
: >numbers
has_read() { [ "$(wc -l <numbers)" -ge "$1" ] || has_ended reader; }
for count in 40 110 180 250 320; do
    start reader "$program" read numbers
    await 'it does not read' has_read $count
    killed reader
    [ $code -eq 0 ] || kills=$((kills + 1))
done
expect_exit 0 read numbers
[ $kills -gt 0 ] || fail 'no reader was killed'
sort -n numbers | uniq | cmp -s - <(seq 400) || fail 'a number is lost'
[ "$(wc -l <numbers)" -le $((400 + 20 * kills)) ] || fail "$(wc -l <numbers) numbers with $kills kills"

# Three hosts share six partitions. Hosts are killed, and the service stops for longer than leases
# last. Each order has one invoice; at the end no lease is held.
needs python3
program=python3 expect_exit 0 - "${pid[azurite]}" "$patience" "$programs/azure_blobs" <<'HOSTS'
import itertools, os, random, signal, sqlite3, subprocess, sys, time

path, dice, kills = "hosts.db", random.Random(3), 0
patience = int(sys.argv[2])
db = sqlite3.connect(path, timeout=patience, isolation_level=None)
db.execute("PRAGMA journal_mode=WAL")
db.execute("CREATE TABLE invoice (part TEXT, number INTEGER, owner TEXT)")


def start(name):
    return subprocess.Popen([sys.argv[3], "host", path, name], stdout=open(name + ".out", "a"))


def wait_for(invoices):
    until = time.monotonic() + patience
    while db.execute("SELECT count(*) FROM invoice").fetchone()[0] < invoices and time.monotonic() < until:
        time.sleep(0.1)


hosts = {name: start(name) for name in "abc"}
try:
    while not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'log'").fetchone():
        time.sleep(0.05)
    # Until each host has handled an order; after 250 each, one at a time.
    for n in itertools.count(1):
        if n > 250:
            wait_for(6 * (n - 1))
            if db.execute("SELECT count(DISTINCT owner) FROM invoice").fetchone()[0] == 3:
                break
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
            os.kill(int(sys.argv[1]), signal.SIGSTOP)
            time.sleep(10)
            os.kill(int(sys.argv[1]), signal.SIGCONT)
    sent = 6 * (n - 1)
    rows = db.execute("SELECT part, number, count(*) FROM invoice GROUP BY part, number").fetchall()
    if len(rows) != sent or any(count != 1 for _, _, count in rows):
        sys.exit(f"{len(rows)} of {sent} orders, most often {max(r[2] for r in rows)} times")
    for part in range(6):
        order = [r[0] for r in db.execute("SELECT number FROM invoice WHERE part = ? ORDER BY rowid", (str(part),))]
        if order != sorted(order):
            sys.exit(f"partition {part} is not in order")
    for name, host in hosts.items():
        host.terminate()
        if host.wait(patience) != 0:
            sys.exit(f"{name} ends with {host.returncode}: {open(name + '.out').read()}")
finally:
    for host in hosts.values():
        host.kill()
print(f"{kills} kills")
HOSTS
killed azurite

# With TLS the certificate is checked.
needs openssl
openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out ca.pem -days 2 -subj /CN=127.0.0.1 \
    -addext subjectAltName=IP:127.0.0.1 >out 2>&1
azurite_start blob --cert ca.pem --key key.pem
export STORAGE="$at;BlobEndpoint=https://127.0.0.1:$port/devstoreaccount1"
expect_exit 1 load
expect_output certificate
export CURL_CA_BUNDLE=$work/ca.pem
stored none
expect_exit 0 commit 5 500
stored '5 500 1'
