#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The article processor_host with two hosts that are killed with -9 again and again, while events are
# appended. Each good event is one invoice, in the order of its partition; each bad one is one dead
# letter. At the end both hosts are stopped, and no lease is held.
#
# Then one host is killed before and after each of its calls of SQLite: while it takes leases, handles
# events, polls, and gives its leases back. Another host continues: the tables are the same.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs processor_host processor_host_killed python3
export patience

python3 - "$examples/processor_host" <<'END'
import os, random, sqlite3, subprocess, sys, time

program = sys.argv[1]
path = "orders.sqlite"
dice = random.Random(18)
PARTITIONS, KILLS, INTERVAL_MS = 4, 20, 20


def start(name):
    return subprocess.Popen([program, path, name, str(INTERVAL_MS)], stdout=open(f"{name}.out", "a"))


def fail(text):
    sys.exit("articles_processor_host: " + text)


def wait(text, holds):
    deadline = time.monotonic() + float(os.environ["patience"])
    while not holds():
        if time.monotonic() > deadline:
            fail(text())
        time.sleep(0.02)


def number(statement):
    return db.execute(statement).fetchone()[0]


hosts = {name: start(name) for name in ("host-1", "host-2")}
db = sqlite3.connect(path, timeout=float(os.environ["patience"]), isolation_level=None)
tables = "SELECT count(*) FROM sqlite_master WHERE name IN ('log', 'invoice', 'dead_letters')"
wait(lambda: "no tables", lambda: number(tables) == 3)
handled = "SELECT (SELECT count(*) FROM invoice) + (SELECT count(*) FROM dead_letters)"

sequence = [0] * PARTITIONS
bad = 0
kills = 0
killed = set()  # their incarnations, whose leases last for a while
while kills < KILLS:
    rows = []
    for _ in range(3000):
        p = dice.randrange(PARTITIONS)
        sequence[p] += 1 + (dice.randrange(5) == 0)  # with gaps
        negative = dice.randrange(400) == 0
        bad += negative
        rows.append((str(p), sequence[p], str(-1 if negative else dice.randrange(1000))))
    db.execute("BEGIN IMMEDIATE")
    db.executemany("INSERT INTO log VALUES (?, ?, ?)", rows)
    db.execute("COMMIT")
    # After a part of these events, so that most kills happen during a batch.
    events = number("SELECT count(*) FROM log")
    left = dice.randrange(2500)
    wait(lambda: "events are not handled", lambda: number(handled) >= events - left)
    name = dice.choice(sorted(hosts))
    if hosts[name].poll() is not None:
        fail(f"{name} has ended by itself")
    hosts[name].kill()
    hosts[name].wait()
    kills += 1
    killed |= {row[0] for row in db.execute("SELECT incarnation FROM leases WHERE owner = ?", (name,))}
    hosts[name] = start(name)

events = number("SELECT count(*) FROM log")
wait(lambda: "events are not handled", lambda: number(handled) >= events)


# After the leases of the killed hosts expire, each of the two remaining hosts has half of the
# partitions.
def owners():
    return db.execute("SELECT owner, incarnation FROM leases ORDER BY owner").fetchall()


def balanced():
    found = owners()
    return [owner for owner, _ in found] == ["host-1"] * 2 + ["host-2"] * 2 and not killed & {i for _, i in found}


wait(lambda: f"not balanced: {owners()}", balanced)
for host in hosts.values():
    host.terminate()
for name, host in hosts.items():
    if host.wait(float(os.environ["patience"])) != 0:
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
held = number("SELECT count(*) FROM leases WHERE owner != ''")
print(f"{events} events, {bad} bad, {kills} kills with -9; leases held at the end: {held}")
if held:
    fail("leases are held")
END

python3 - "$programs/processor_host_killed" <<'END'
import os, shutil, signal, sqlite3, subprocess, sys, time

PATIENCE = float(os.environ["patience"])
INTERVAL_MS, PARTITIONS = "3", 4
# Each partition has two orders and a bad one.
EVENTS = [(str(p), s, str(10 * s if s != 2 else -1)) for p in range(PARTITIONS) for s in (1, 2, 3)]


def fail(text):
    sys.exit("articles_processor_host: " + text)


def start(name, **variables):
    return subprocess.Popen([sys.argv[1], "q.sqlite", name, INTERVAL_MS], env={**os.environ, **variables},
                            stdout=subprocess.DEVNULL)


def new(file):
    for end in ("", "-wal", "-shm"):
        if os.path.exists("q.sqlite" + end):
            os.remove("q.sqlite" + end)
    shutil.copy(file, "q.sqlite")


def rows(statement):
    with sqlite3.connect("q.sqlite", timeout=PATIENCE) as db:
        return db.execute(statement).fetchall()


def finish(process, name, when):
    """Waits until all events are in the tables and the host has all leases, and stops it."""
    deadline = time.monotonic() + PATIENCE
    while rows("SELECT (SELECT count(*) FROM invoice) + (SELECT count(*) FROM dead_letters),"
               f" (SELECT count(*) FROM leases WHERE owner = '{name}')") != [(len(EVENTS), PARTITIONS)]:
        if time.monotonic() > deadline or process.poll() is not None:
            fail(f"{when}: {name} does not continue")
        time.sleep(0.002)
    process.send_signal(signal.SIGTERM)
    if process.wait(PATIENCE) != 0:
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
if process.wait(PATIENCE) != 0:
    fail("a host without events fails")
with sqlite3.connect("q.sqlite", timeout=PATIENCE) as db:
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
        code = process.wait(PATIENCE)
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
