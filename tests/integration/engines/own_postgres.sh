# shellcheck shell=bash disable=SC2034
# SPDX-License-Identifier: MIT
#
# For scripts that source it: a PostgreSQL server of their own in $folder, and its address in $where.
# Skips the script if none is installed.
server=$here/engines/postgres_server
if ! folder=$(bash "$server" make 2>postgres.out); then
    grep -q '^there is no\|^PostgreSQL does not run as root' postgres.out || fail 'the server does not start'
    skip "$(cat postgres.out)"
fi
at_exit bash "$server" remove "$folder"
where=$(cat "$folder/where")
