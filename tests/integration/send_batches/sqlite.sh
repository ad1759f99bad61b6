# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# A part of ../send_batches.sh. SQLite, which is always available.

lines=$(wc -l <"$recording")
expect_exit 0
expect_output 'checked: each line is in the queue exactly once, in order'
expect_number lines "$lines"
expect_number accepted "$lines"
above refusals 0
within 15 10 3
expect_no_folder
[ "$(grep -c '#' out)" -eq $(($(report_number sends) - $(report_number refusals))) ] || fail 'not a bar for each batch'
[ "$(grep -c 'x>> refused' out)" -eq "$(report_number refusals)" ] || fail 'a refusal is not marked'

printf '{"n":1}\n' >one

# The calibration is stored: no refusal in the second run.
expect_exit 0 --calibration learnt.json --limit 50000
above refusals 0
first=$(report_number sends)
expect_exit 0 --calibration learnt.json --limit 50000
expect_number refusals 0
[ "$(report_number sends)" -lt "$first" ] || fail "$(report_number sends) sends with the calibration, $first without"
grep -q '"version"' learnt.json || fail 'the calibration has no version'

# A guessed limit is reported as a guess, and not stored as a documented one. A limit from the
# broker is no guess.
expect_exit 0 --input one --calibration guess.json
[ "$(grep -c '; this limit is a guess$' out)" -eq 2 ] || fail 'an undocumented limit is not reported as a guess'
grep -q '"documented": "unlimited"' guess.json || fail 'the guess is kept as documented'
expect_exit 0 --input one --calibration guess.json
grep -q '^known before: .*; this limit is a guess$' out || fail 'a stored guess is not reported as a guess'
expect_exit 0 --calibration guess.json
grep -q '^learnt: *limit 65536 bytes' out || fail 'the limit is not learnt'
! grep -q '^learnt: .* is a guess' out || fail 'a learnt limit is reported as a guess'
echo '{"version": 1, "documented": 1000, "limit": "much"}' >bad.json
expect_exit 1 --calibration bad.json
expect_output 'bad.json: /limit: expected'

# Into a file, twice: the second run checks the stored lines itself. And from a pipe.
expect_exit 0 --to sqlite:queue.sqlite
expect_exit 0 --to sqlite:queue.sqlite --items 50
[ "$(report_number sends)" -ge $(((lines + 49) / 50)) ] || fail "more than 50 lines in a batch"
expect_exit 0 --input - <"$recording"
expect_output 'checked:'
expect_number accepted "$lines"
printf '\n{"n":1}\n  \r\n{"n":2}' | { expect_exit 0 --input -; }
expect_number lines 2
expect_number blank_lines 2
expect_number input_bytes 20

# A line that is too large is reported, and the other lines arrive.
{ head -n 5 "$recording"; two_lines 100 70000; tail -n 5 "$recording"; } >large
expect_exit 1 --input large
expect_number accepted 11
expect_number not_accepted 1
expect_output 'not accepted: line 7: too_large, '

# A queue with lost, doubled or swapped lines is found.
for change in 'DELETE FROM queue WHERE id = 5000' "DELETE FROM queue WHERE id = $lines" \
    "INSERT INTO queue (header, body) VALUES ('', (SELECT body FROM queue WHERE id = 77))" \
    "UPDATE queue SET body = 'x' WHERE id = 4321"; do
    rm -f broken.sqlite*
    sql broken.sqlite "CREATE TABLE queue (id INTEGER PRIMARY KEY AUTOINCREMENT, header TEXT NOT NULL,
        body BLOB NOT NULL); CREATE TRIGGER t AFTER INSERT ON queue WHEN NEW.id = $lines BEGIN $change; END"
    expect_exit 1 --to sqlite:broken.sqlite
    expect_output 'in the queue'
done

# Options.
expect_exit 0 --help
expect_output --calibration
for bad in --bogus extra '--limit 12x' '--limit 0' '--items -1' --to --input; do
    # shellcheck disable=SC2086
    expect_exit 2 $bad
    expect_output 'send_batches --help'
done
expect_exit 1 --to nowhere:x
expect_output 'there is no such place'
expect_exit 1 --to nats://127.0.0.1
expect_output 'expected nats://HOST:PORT/SUBJECT'
expect_exit 1 --input nothing
expect_output 'there is no file nothing'
expect_exit 1 --input tmp
expect_output 'is a folder'
held+=(sqlite)
