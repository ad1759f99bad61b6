#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A NATS server accepts messages of exactly the computed maximum of wire/nats, with and without
# headers, and refuses one more byte. If nats.c is installed, it and JetStream agree.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs nats-server nats_server_sizes
max_payload=65536
mkdir ports
cat >nats.conf <<CONF
listen: 127.0.0.1:-1
max_payload: $max_payload
jetstream { store_dir: "$work/js" }
CONF
start server nats-server -c nats.conf --ports_file_dir ports
has_port() { grep -qs 'nats:' ports/*.ports; }
await 'the server does not write its port' has_port
url=$(sed -n 's/.*"\(nats:[^"]*\)".*/\1/p' ports/*.ports | head -n 1)
"$programs/nats_server_sizes" "${url##*:}" $max_payload
needs nats_client_sizes
"$programs/nats_client_sizes" "$url" $max_payload
