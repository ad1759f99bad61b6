#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The queue of sessions and the pipeline dead letters in PostgreSQL, on a server that is created for
# them and removed again. Their conformance suites, locks of processes and connections that end, and
# each step in effect once while workers and the server are killed.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs postgres_sessions
# shellcheck source=engines/own_postgres.sh
source "$here/engines/own_postgres.sh"
program=$programs/postgres_sessions
expect_exit 0 "$where" "$folder" "$server"
cat out
