# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# Each script of this folder sources this file first:
#
#     source "$(dirname -- "$0")/lib.sh" || exit
#
# By hand: bash tests/integration/outbox.sh, after `tests/run all` or with WAYBILL_BIN=<build folder>.
#
# The script is then in an empty folder, $work, with TMPDIR in $work/tmp. When it ends, the processes
# that it started are ended, and the folder is removed. A script that fails prints its reason and the
# last lines of every output: `out` and `err` of expect_exit, NAME.out of start.
#
# No script waits for a duration. It waits for a condition with `await`, or for the end of a process
# with `ended`, at most $patience seconds each.
set -euo pipefail
shopt -s inherit_errexit
export LC_ALL=C
PATH=$PATH:/usr/sbin:/sbin  # servers of Debian

script=$(basename "$0" .sh)
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
WAYBILL_SOURCE=${WAYBILL_SOURCE:-${here%/tests/integration}}
WAYBILL_BIN=${WAYBILL_BIN:-$WAYBILL_SOURCE/build/all}
export WAYBILL_SOURCE WAYBILL_BIN CXX="${CXX:-c++}"
# At least ten times the longest wait with one CPU beside four busy processes.
patience=900
examples=$WAYBILL_BIN/examples
programs=$WAYBILL_BIN/tests/integration

work=$(mktemp -d)
mkdir "$work/tmp"
export TMPDIR=$work/tmp
cd "$work"

reported=
fail()
{
    local file
    trap - ERR
    reported=1
    echo "$script: $*" >&2
    for file in "$work"/out "$work"/err "$work"/*.out; do
        [ ! -s "$file" ] || { echo "--- the last lines of ${file##*/}:"; tail -n 40 "$file"; } >&2
    done
    exit 1
}
trap 'fail "line $LINENO: $BASH_COMMAND"' ERR

# skip REASON: ends the script with 77, which CTest reports as skipped. Nothing of it is tested.
skip()
{
    reported=1
    echo "SKIP: $script: $*"
    exit 77
}

# needs NAME...: skips the script unless these are there: programs of this folder and examples, which
# are built if their packages are installed, and commands.
needs()
{
    local name
    for name in "$@"; do
        [ -x "$programs/$name" ] || [ -x "$examples/$name" ] || command -v "$name" >/dev/null ||
            skip "there is no $name: its package is not installed"
    done
}

# await TEXT COMMAND...: repeats the command until it succeeds.
await()
{
    local text=$1 deadline=$((SECONDS + patience))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$deadline" ] || fail "after $patience s: $text"
        sleep 0.02
    done
}

# start NAME COMMAND...: in the background, with its output in NAME.out. Sets ${pid[NAME]}.
declare -A pid=()
start()
{
    local name=$1
    shift
    : >"$work/$name.out"  # nothing of an earlier process, also before this one opens it
    "$@" >>"$work/$name.out" 2>&1 <&0 &
    pid[$name]=$!
}

# prints NAME TEXT: true if the output of a started process contains the text.
prints() { grep -qF -- "$2" "$work/$1.out"; }

# first_line NAME: of the output of a started process, such as the port of a server.
first_line()
{
    await "$1 prints no line" test -s "$work/$1.out"
    head -n 1 "$work/$1.out"
}

# listens PORT: true if a process listens there.
listens() { (: <>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# runs NAME: true until the started process has ended.
runs() { kill -0 "${pid[$1]}" 2>/dev/null; }
has_ended() { ! runs "$1"; }

# ended NAME CODE: waits for its end. The exit code must be CODE.
ended()
{
    local code=0
    await "$1 does not end" has_ended "$1"
    wait "${pid[$1]}" || code=$?
    unset "pid[$1]"
    [ "$code" -eq "$2" ] || fail "$1: exit $code instead of $2"
}

# killed NAME [SIGNAL]: ends a process with SIGKILL, or another signal, and waits for its end. Sets
# $code to its exit code.
killed()
{
    code=0
    kill "-${2:-KILL}" "${pid[$1]}" 2>/dev/null || true
    await "$1 does not end" has_ended "$1"
    wait "${pid[$1]}" 2>/dev/null || code=$?
    unset "pid[$1]"
}

# dies VARIABLE=VALUE COMMAND...: runs it with the variable (see articles/kill_at.cpp). False if it ends
# with 0. True if it was killed, which `kills` counts. Its output is in out and err.
kills=0
dies()
{
    local code=0
    { timeout "$patience" env "$@" >out 2>err; } 2>/dev/null || code=$?
    [ "$code" -ne 0 ] || return 1
    [ "$code" -eq 137 ] || fail "exit $code: $*"
    kills=$((kills + 1))
}

# expect_exit CODE ARGS...: runs $program, which may have arguments of its own as an array. It must end
# with this code. Its output is in out and err.
expect_exit()
{
    local code=0 expected=$1
    shift
    timeout "$patience" "${program[@]}" "$@" >out 2>err || code=$?
    [ "$code" -eq "$expected" ] || fail "exit $code instead of $expected: ${program##*/} $*"
}
expect_output() { grep -qF -- "$1" out err || fail "the output does not contain: $1"; }
expect_no_output() { ! grep -qF -- "$1" out err || fail "the output contains: $1"; }

# A temporary folder of a program is left, although the program has ended.
expect_no_folder() { [ -z "$(ls tmp)" ] || fail "a temporary folder is left: $(ls tmp)"; }

# expect_refused OPTIONS...: each string of options ends $program with 2 and a hint at --help.
expect_refused()
{
    local options
    for options in "$@"; do
        # shellcheck disable=SC2086
        expect_exit 2 $options
        expect_output "${program##*/} --help"
        [ ! -s out ] || fail "it is not an error that $options prints"
    done
}

expect_same() { cmp -s "$1" "$2" || fail "$1 and $2 differ: $(diff "$1" "$2" | head -n 20)"; }

# expect_private PATH...: only the owner may read these files, or the databases in these folders.
expect_private()
{
    local open
    open=$(find "$@" -type f \( -name "*.sqlite*" -o -path "$1" \) -perm /077)
    [ -z "$open" ] || fail "others may read $open"
}

# expect_picture FILE: it is SVG, and XML if a parser is installed.
expect_picture()
{
    grep -q '^<svg ' "$1" || fail "$1 is no picture"
    if command -v xmllint >/dev/null; then
        xmllint --noout "$1" || fail "$1 is no XML"
    elif command -v python3 >/dev/null; then
        python3 -c 'import sys, xml.dom.minidom as x; x.parse(sys.argv[1])' "$1" || fail "$1 is no XML"
    fi
}

# sql FILE STATEMENTS: prints each row, with | between its columns.
sql() { "$programs/sql" "$@"; }

# at_exit COMMAND...: for a process or a folder that on_exit does not find.
exit_commands=()
at_exit() { exit_commands+=("$(printf '%q ' "$@")"); }

# The processes that this script started, and those that they started: they all have its TMPDIR.
descendants() ( unset TMPDIR; grep -lsz "^TMPDIR=$work/" /proc/[0-9]*/environ | tr -dc '0-9\n' )
on_exit()
{
    local status=$? each tries
    trap - ERR
    set +e
    # A command that failed within a function.
    [ "$status" -eq 0 ] || [ -n "$reported" ] || (fail "exit $status")
    for tries in $(seq 500); do
        # shellcheck disable=SC2046
        for each in $(jobs -p) $(descendants); do
            kill -"$([ "$tries" -lt 100 ] && echo TERM || echo KILL)" "$each" 2>/dev/null
        done
        [ -n "$(jobs -rp)$(descendants)" ] || break
        sleep 0.05
    done
    for each in "${exit_commands[@]}"; do eval "$each"; done
    rm -rf "$work"
}
trap on_exit EXIT
