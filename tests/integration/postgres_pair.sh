#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A PostgreSQL primary with a standby: no confirmed row is lost by failovers, by an end of the
# primary, or by kill -9 of the program that supervises both servers. As root, it also runs as the
# user postgres.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs postgres_pair
program=$programs/postgres_pair
"$program" available >why || skip "$(cat why)"
# Not in TMPDIR, which the user of the servers may not be able to enter.
pair=$(mktemp -d /tmp/waybill-pair.XXXXXX)
at_exit rm -rf "$pair"
chmod 755 "$pair"
expect_exit 0 failovers "$pair/failovers" 20
expect_exit 0 kills "$pair/kills" 5
expect_exit 0 calls "$pair/calls" 0 1
expect_exit 0 orphans "$pair/orphans" 1
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    mkdir "$pair/user"
    chown postgres: "$pair/user"
    cp "$program" "$pair/program"
    program=setpriv
    expect_exit 0 --reuid=postgres --regid=postgres --clear-groups "$pair/program" failovers "$pair/user/failovers" 2
fi
