#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The article processor_host with two hosts that are killed with -9 again and again, while events are
# appended. Each good event is one invoice, in the order of its partition; each bad one is one dead
# letter. At the end both hosts are stopped, and no lease is held.
#
# Then one host is killed before and after each of its calls of SQLite: while it takes leases, handles
# events, polls, and gives its leases back. Another host continues: the tables are the same.
set -euo pipefail
export LC_ALL=C
command -v python3 >/dev/null || { echo "articles_processor_host: SKIPPED without python3"; exit 0; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 - "$WAYBILL_BIN/examples/processor_host" "$work" <<'END'
import random, sqlite3, subprocess, sys, time

program, work = sys.argv[1], sys.argv[2]
path = work + "/orders.sqlite"
dice = random.Random(18)
PARTITIONS, KILLS, INTERVAL_MS = 4, 20, 20


def start(name):
    return subprocess.Popen([program, path, name, str(INTERVAL_MS)], stdout=open(f"{work}/{name}.out", "a"))


def fail(text):
    sys.exit("articles_processor_host: " + text)


hosts = {name: start(name) for name in ("host-1", "host-2")}
db = sqlite3.connect(path, timeout=60, isolation_level=None)
for _ in range(200):  # the hosts create the tables
    if db.execute("SELECT count(*) FROM sqlite_master WHERE name IN ('log', 'invoice', 'dead_letters')").fetchone() == (3,):
        break
    time.sleep(0.05)

sequence = [0] * PARTITIONS
bad = 0
kills = 0
while kills < KILLS:
    rows = []
    for _ in range(3000):  # most kills happen during a batch
        p = dice.randrange(PARTITIONS)
        sequence[p] += 1 + (dice.randrange(5) == 0)  # with gaps
        negative = dice.randrange(400) == 0
        bad += negative
        rows.append((str(p), sequence[p], str(-1 if negative else dice.randrange(1000))))
    db.execute("BEGIN IMMEDIATE")
    db.executemany("INSERT INTO log VALUES (?, ?, ?)", rows)
    db.execute("COMMIT")
    time.sleep(dice.uniform(0.1, 0.4))
    name = dice.choice(sorted(hosts))
    if hosts[name].poll() is not None:
        fail(f"{name} has ended by itself")
    hosts[name].kill()
    hosts[name].wait()
    kills += 1
    hosts[name] = start(name)

events = db.execute("SELECT count(*) FROM log").fetchone()[0]
count = "SELECT (SELECT count(*) FROM invoice) + (SELECT count(*) FROM dead_letters)"
for _ in range(600):
    if db.execute(count).fetchone()[0] >= events:
        break
    time.sleep(0.1)
# After the leases of the killed hosts expire, each of the two remaining hosts has half of the
# partitions.
shares = []
for _ in range(300):
    time.sleep(0.2)
    shares = db.execute("SELECT owner, count(DISTINCT incarnation), count(*) FROM leases GROUP BY owner ORDER BY owner").fetchall()
    if shares == [("host-1", 1, 2), ("host-2", 1, 2)]:
        break
else:
    fail(f"not balanced: {shares}")
for host in hosts.values():
    host.terminate()
for name, host in hosts.items():
    if host.wait(60) != 0:
        fail(f"{name} ends with {host.returncode}")

for p in range(PARTITIONS):
    expected = db.execute("SELECT sequence, CAST(body AS INTEGER) FROM log WHERE part = ? AND CAST(body AS INTEGER) >= 0"
                          " ORDER BY sequence", (str(p),)).fetchall()
    found = db.execute("SELECT number, total FROM invoice WHERE part = ? ORDER BY rowid", (str(p),)).fetchall()
    if found != expected:
        fail(f"partition {p} has {len(found)} invoices of {len(expected)}, {len(set(found))} different")
letters = db.execute("SELECT count(*), count(DISTINCT part || '/' || sequence) FROM dead_letters").fetchone()
if letters != (bad, bad):
    fail(f"{letters} dead letters of {bad}")
held = db.execute("SELECT count(*) FROM leases WHERE owner != ''").fetchone()[0]
print(f"{events} events, {bad} bad, {kills} kills with -9; leases held at the end: {held}")
if held:
    fail("leases are held")
END

"${CXX:-c++}" -std=c++20 -I"$WAYBILL_SOURCE/include" -I"$WAYBILL_SOURCE/examples/articles" \
    "$WAYBILL_SOURCE/examples/articles/processor_host.cpp" \
    "$WAYBILL_SOURCE/tests/integration/articles/kill_at.cpp" -o "$work/article" \
    -Wl,--wrap=sqlite3_step,--wrap=sqlite3_exec -lsqlite3 -pthread

python3 - "$work" <<'END'
import os, shutil, signal, sqlite3, subprocess, sys, time

work = sys.argv[1]
os.chdir(work)
INTERVAL_MS, PARTITIONS = "3", 4
# Each partition has two orders and a bad one.
EVENTS = [(str(p), s, str(10 * s if s != 2 else -1)) for p in range(PARTITIONS) for s in (1, 2, 3)]


def fail(text):
    sys.exit("articles_processor_host: " + text)


def start(name, **variables):
    return subprocess.Popen(["./article", "q.sqlite", name, INTERVAL_MS], env={**os.environ, **variables},
                            stdout=subprocess.DEVNULL)


def new(file):
    for end in ("", "-wal", "-shm"):
        if os.path.exists("q.sqlite" + end):
            os.remove("q.sqlite" + end)
    shutil.copy(file, "q.sqlite")


def rows(statement):
    with sqlite3.connect("q.sqlite", timeout=60) as db:
        return db.execute(statement).fetchall()


def finish(process, name, when):
    """Waits until all events are in the tables and the host has all leases, and stops it."""
    deadline = time.monotonic() + 60
    while rows("SELECT (SELECT count(*) FROM invoice) + (SELECT count(*) FROM dead_letters),"
               f" (SELECT count(*) FROM leases WHERE owner = '{name}')") != [(len(EVENTS), PARTITIONS)]:
        if time.monotonic() > deadline or process.poll() is not None:
            fail(f"{when}: {name} does not continue")
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    if process.wait(60) != 0:
        fail(f"{when}: {name} ends with {process.returncode}")


def check(when):
    for p in range(PARTITIONS):
        found = rows(f"SELECT number, total FROM invoice WHERE part = '{p}' ORDER BY rowid")
        if found != [(1, 10), (3, 30)]:
            fail(f"{when}: partition {p} has the invoices {found}")
    letters = rows("SELECT part, sequence FROM dead_letters ORDER BY part")
    if letters != [(str(p), 2) for p in range(PARTITIONS)]:
        fail(f"{when}: the dead letters are {letters}")
    held = rows("SELECT part, owner FROM leases WHERE owner != ''")
    if held:
        fail(f"{when}: leases are held: {held}")


# The tables, without an event.
process = start("host-1", TERM_AT="60")
if process.wait(60) != 0:
    fail("a host without events fails")
with sqlite3.connect("q.sqlite", timeout=60) as db:
    db.executemany("INSERT INTO log VALUES (?, ?, ?)", EVENTS)
rows("PRAGMA wal_checkpoint(TRUNCATE)")
shutil.copy("q.sqlite", "start.sqlite")
process = start("host-1")
finish(process, "host-1", "an undisturbed run")
check("an undisturbed run")

STOP = 170  # before this call the host is asked to stop; all events are handled long before
kills = 0
consumed_at_kill = set()
for variable in ("KILL_AT", "KILL_AFTER"):
    n = 0
    while True:
        n += 1
        when = f"{variable}={n}"
        new("start.sqlite")
        process = start("host-1", TERM_AT=str(STOP), **{variable: str(n)})
        code = process.wait(60)
        if code == 0:
            break
        if code != -signal.SIGKILL:
            fail(f"{when}: ends with {code}")
        kills += 1
        consumed_at_kill.add(rows("SELECT count(*) FROM invoice")[0][0])
        finish(start("host-2"), "host-2", when)
        check(when)
    if n <= STOP:
        fail(f"the host has ended before call {STOP}, at {n}")
if not consumed_at_kill >= {0, 8} or len(consumed_at_kill) < 4:
    fail(f"kills with these numbers of invoices only: {sorted(consumed_at_kill)}")
print(f"{kills} kills, each before or after another call of SQLite")
END
