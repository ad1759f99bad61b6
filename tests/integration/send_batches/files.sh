# SPDX-License-Identifier: MIT
# shellcheck shell=bash disable=SC2154
#
# A part of ../send_batches.sh. Its files: inputs of all kinds, and its output files.

# Inputs. An error contains the number of its line, with blank lines counted.
: >empty
expect_exit 1 --input empty
expect_output 'empty is empty: name a file with at least one line as the input'
expect_exit 0 --input - <empty
expect_output 'nothing to do: there is no line in the standard input'
printf '\n \n\t\r\n' >blank
expect_exit 0 --input blank
expect_number blank_lines 3
expect_output 'nothing to do'
printf '{"n":1}' >unended
expect_exit 0 --input unended
expect_number accepted 1
expect_number input_bytes 7
expect_output '1 line from unended (7 bytes)'
printf '{"n":1}\r\n\r\n{"n":2}\r\n' >windows
expect_exit 0 --input windows --to sqlite:windows.sqlite
expect_number accepted 2
expect_number blank_lines 1
expect_number input_bytes 20
{ printf '\n\n{"n":1}\n\n'; two_lines 100 70000; printf '\n'; two_lines 70000 100; } >gaps
expect_exit 1 --input gaps
expect_number accepted 3
expect_output 'not accepted: line 6: too_large'
expect_output 'not accepted: line 8: too_large'
[ "$(grep -c '"first_line": [68],' report.json)" -eq 2 ] || fail 'the report does not name the lines'
expect_exit 1 --input - <tmp
expect_output 'the standard input is a folder'
expect_exit 0 --input - <&-
expect_output 'nothing to do'

# nothing_sent WORDS ARGS...: it ends before it sends anything, prints the reason, and leaves no
# file.
nothing_sent()
{
    local words=$1 before code=0
    shift
    before=$(find . | sort)
    timeout "$patience" "$program" "$@" >out 2>err || code=$?
    [ $code -eq 1 ] || fail "exit $code instead of 1: $*"
    grep -qF -- "$words" err || fail "the error output does not contain: $words"
    [ ! -s out ] || fail "it has begun to send: $*"
    [ "$(find . | sort)" = "$before" ] || fail "files are left after: $*"
}
nothing_sent 'the report cannot be written to nowhere/r.json: No such file' --report nowhere/r.json
nothing_sent 'the calibration cannot be written to nowhere/c.json: No such file' --calibration nowhere/c.json
nothing_sent 'the report cannot be written to tmp: Is a directory' --report tmp
nothing_sent 'the calibration cannot be written to tmp: it is no regular file' --calibration tmp
nothing_sent 'there is no file nothing' --input nothing --report new.json --calibration new2.json
nothing_sent 'the report cannot be written to both.json: it is the calibration' --report both.json --calibration both.json
echo '{"version": 1, "documented": 1000, "limit": "much"}' >bad.json
nothing_sent 'bad.json: /limit: expected' --calibration bad.json
if [ "$(id -u)" -ne 0 ]; then # root may write anywhere
    mkdir locked
    chmod a-w locked
    nothing_sent 'the report cannot be written to locked/r.json: Permission denied' --report locked/r.json
    chmod u+w locked
fi

# The input and the queue are never overwritten, under any name.
cp one mine
ln -s mine link
ln mine hard
for name in mine link hard ./mine; do
    nothing_sent "the report cannot be written to $name: it is the input" --input mine --report $name
    nothing_sent "the calibration cannot be written to $name: it is the input" --input mine --calibration $name
    nothing_sent "the report cannot be written to $name: it is the input" --input - --report $name <mine
done
cp one c.json.new
nothing_sent 'the calibration cannot be written to c.json.new: it is the input' --input c.json.new --calibration c.json
nothing_sent 'the report cannot be written to queue.sqlite: it is the queue' --to sqlite:queue.sqlite --report queue.sqlite
cmp -s one mine || fail 'the input is another one'

# A full disk: the summary, then the name of the file and the reason. The earlier calibration is
# kept.
if [ -w /dev/full ]; then
    summary() { grep -q '^checked: each line' out || fail 'there is no summary'; }
    full='No space left on device'
    code=0
    "$program" --input one --report /dev/full >out 2>err || code=$?
    [ $code -eq 1 ] || fail "exit $code though the report is lost"
    summary
    expect_output "send_batches: the report cannot be written to /dev/full: $full"
    nothing_sent 'the calibration cannot be written to /dev/full: it is no regular file' --calibration /dev/full
    expect_exit 0 --input one --calibration known.json
    cp known.json before
    ln -s /dev/full known.json.new
    expect_exit 1 --input one --calibration known.json
    summary
    expect_output "the calibration cannot be written to known.json.new: $full"
    cmp -s known.json before || fail 'what was known is lost'
    [ ! -e known.json.new ] || fail 'a file is left beside the calibration'
    [ -c /dev/full ] || fail 'a device was taken for a file'
    ! "$program" --input one >/dev/full 2>err || fail 'a summary that was not written counts as written'
    expect_output 'the standard output cannot be written'
fi
ln -s known.json known.link
expect_exit 0 --input one --calibration known.link
[ -L known.link ] || fail 'a link to the calibration has become a file'
"$program" --input one >&- 2>&- <&- || fail 'it fails without open streams'
held+=(files)
