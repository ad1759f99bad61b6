#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The store and the outbox on PostgreSQL, on a server that is created for them and removed again: the
# properties that the library relies on, races, cut connections, and each event once although the
# server is killed during commits.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs postgres_store postgres_outbox
# shellcheck source=engines/own_postgres.sh
source "$here/engines/own_postgres.sh"
program=$programs/postgres_store
expect_exit 0 "$where" "$folder" "$server"
cat out
program=$programs/postgres_outbox
expect_exit 0 "$where"
cat out
