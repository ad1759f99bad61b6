# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# A part of ../send_batches.sh. SQLite, which is always there.

lines=$(wc -l <"$recording")
answers 0
says 'checked: each line is in the queue exactly once, in order'
is lines "$lines"
is accepted "$lines"
above refusals 0
within 15 10 3
[ -z "$(ls tmp)" ] || fail 'a temporary folder is left'
[ "$(grep -c '#' out)" -eq $(($(number sends) - $(number refusals))) ] || fail 'not a bar for each batch'
[ "$(grep -c 'x>> refused' out)" -eq "$(number refusals)" ] || fail 'a refusal is not marked'

printf '{"n":1}\n' >one

# What was learnt is kept: nothing is refused the second time.
answers 0 --calibration learnt.json --limit 50000
above refusals 0
first=$(number sends)
answers 0 --calibration learnt.json --limit 50000
is refusals 0
[ "$(number sends)" -lt "$first" ] || fail "$(number sends) sends with the calibration, $first without"
grep -q '"version"' learnt.json || fail 'the calibration has no version'

# A guess is called one, and is not kept as what is documented. What the broker has told is no guess.
answers 0 --input one --calibration guess.json
[ "$(grep -c '; this limit is a guess$' out)" -eq 2 ] || fail 'the limit that nobody has told is not called a guess'
grep -q '"documented": "unlimited"' guess.json || fail 'the guess is kept as documented'
answers 0 --input one --calibration guess.json
grep -q '^known before: .*; this limit is a guess$' out || fail 'kept, a guess is no guess any more'
answers 0 --calibration guess.json
grep -q '^learnt: *limit 65536 bytes' out || fail 'the limit is not learnt'
! grep -q '^learnt: .* is a guess' out || fail 'what was learnt is called a guess'
echo '{"version": 1, "limit": "much"}' >bad.json
answers 1 --calibration bad.json
says 'bad.json: /limit: expected'

# Into a file, twice: the second run checks what it has put there itself. And from a pipe.
answers 0 --to sqlite:queue.sqlite
answers 0 --to sqlite:queue.sqlite --items 50
[ "$(number sends)" -ge $(((lines + 49) / 50)) ] || fail "more than 50 lines in a batch"
answers 0 --input - <"$recording"
says 'checked:'
is accepted "$lines"
printf '\n{"n":1}\n  \r\n{"n":2}' | { answers 0 --input -; }
is lines 2
is blank_lines 2
is input_bytes 20

# A line that fits nowhere is named, and its neighbours are not harmed.
{ head -n 5 "$recording"; two_lines 100 70000; tail -n 5 "$recording"; } >large
answers 1 --input large
is accepted 11
is not_accepted 1
says 'not there: line 7: too_large, '

# A queue that loses, doubles or swaps is found out.
cat >sql.cpp <<'SQL'
#include <sqlite3.h>
int main(int, char** argv)
{
    sqlite3* db = nullptr;
    return sqlite3_open(argv[1], &db) || sqlite3_exec(db, argv[2], nullptr, nullptr, nullptr);
}
SQL
"${CXX:-c++}" sql.cpp -o sql -lsqlite3
for change in 'DELETE FROM queue WHERE id = 5000' "DELETE FROM queue WHERE id = $lines" \
    "INSERT INTO queue (header, body) VALUES ('', (SELECT body FROM queue WHERE id = 77))" \
    "UPDATE queue SET body = 'x' WHERE id = 4321"; do
    rm -f broken.sqlite*
    ./sql broken.sqlite "CREATE TABLE queue (id INTEGER PRIMARY KEY AUTOINCREMENT, header TEXT NOT NULL,
        body BLOB NOT NULL); CREATE TRIGGER t AFTER INSERT ON queue WHEN NEW.id = $lines BEGIN $change; END"
    answers 1 --to sqlite:broken.sqlite
    says 'in the queue'
done

# Options.
answers 0 --help
says --calibration
for bad in --bogus extra '--limit 12x' '--limit 0' '--items -1' --to --input; do
    # shellcheck disable=SC2086
    answers 2 $bad
    says 'send_batches --help'
done
answers 1 --to nowhere:x
says 'there is no such place'
answers 1 --to nats://127.0.0.1
says 'expected nats://HOST:PORT/SUBJECT'
answers 1 --input nothing
says 'there is no file nothing'
answers 1 --input tmp
says 'is a folder'
answers 1 --to beanstalkd://127.0.0.1:1/tube
says 'Connection refused'
held+=(sqlite)
