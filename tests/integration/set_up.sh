#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# cmake/packages.sh on other machines, simulated with fake programs: a user without rights, one with
# sudo, a machine with all packages, and a system without dpkg.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit

# fake NAME LINE...: a program of that name, in the only folder of PATH.
fake()
{
    local name=$1
    shift
    printf '%s\n' "#!$bash" "$@" >"$work/bin/$name"
    chmod +x "$work/bin/$name"
}
bash=$(command -v bash)
machine()
{
    rm -rf "$work/bin" "$work/calls"
    mkdir -p "$work/bin"
    local name
    for name in bash cat mktemp rm tail; do
        ln -s "$(command -v "$name")" "$work/bin/$name"
    done
}

# asked PACKAGE...: the exit code and the output of their installation.
asked()
{
    code=0
    env -i PATH="$work/bin" "$bash" -c 'set -euo pipefail; source "$0"; packages_install "$@"' \
        "$WAYBILL_SOURCE/cmake/packages.sh" "$@" >"$work/out" 2>&1 || code=$?
}

debian()
{
    machine
    fake dpkg-query 'echo "cmake installed"; echo "libfmt-dev config-files"; exit 1'
    fake apt-get "echo apt-get >>$work/calls"
    fake id 'echo 1000'
}

# Without rights: the exact command for the missing packages, and no attempt to install them.
debian
asked cmake libfmt-dev libsqlite3-dev
[ "$code" = 1 ] || fail "went on without its packages"
grep -qxF "  sudo apt-get update && sudo apt-get install --no-install-recommends libfmt-dev libsqlite3-dev" \
    "$work/out" || fail "did not print the line to type"
[ ! -e "$work/calls" ] || fail "called apt-get without rights"

# A sudo that asks for a password counts as no sudo.
fake sudo 'exit 1'
asked cmake libfmt-dev
[ "$code" = 1 ] || fail "went on although sudo wants a password"

# With sudo: only the missing packages are installed.
fake sudo "echo \"\$*\" >>$work/calls" 'cat >/dev/null'
asked cmake libfmt-dev
[ "$code" = 0 ] || fail "did not use sudo"
grep -qxF -- "-n bash -s -- libfmt-dev" "$work/calls" || fail "did not ask sudo for what is missing"

# All packages are present: no command is called.
debian
fake sudo "echo sudo >>$work/calls"
asked cmake
[ "$code" = 0 ] || fail "missed what is there"
[ ! -e "$work/calls" ] || fail "called somebody although nothing is missing"

# A program on the PATH counts as installed.
fake ninja 'exit 0'
asked cmake ninja-build
[ "$code" = 0 ] || fail "did not see the program on the PATH"

# A failed installation fails the script, which names the missing packages.
fake sudo '[ "$2" = true ] || { echo "no network"; exit 100; }'
asked libfmt-dev
[ "$code" = 1 ] || fail "went on after a failed installation"
grep -qF "could not install: libfmt-dev" "$work/out" || fail "the output does not name the missing package"
grep -qF "no network" "$work/out" || fail "the output does not contain the reason"

# Without dpkg: the missing packages are named in words for any system.
machine
fake g++ 'case "$*" in *sqlite3.h*) exit 0 ;; *-E*) exit 1 ;; esac'
fake c++ 'case "$*" in *sqlite3.h*) exit 0 ;; *-E*) exit 1 ;; esac'
asked g++ cmake libsqlite3-dev libfmt-dev
[ "$code" = 1 ] || fail "went on without its packages on another system"
grep -qF "program cmake" "$work/out" || fail "did not name the program"
grep -qF "header fmt/format.h" "$work/out" || fail "did not name the header"
! grep -qF "sqlite3.h" "$work/out" || fail "named what is there"
! grep -qF "g++" "$work/out" || fail "named the compiler that is there"
asked g++ libsqlite3-dev
[ "$code" = 0 ] || fail "stopped although nothing is missing on another system"

echo "set_up: the missing packages are reported on each machine"
