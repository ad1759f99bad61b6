#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The publisher for NATS JetStream: an outcome for each message of a batch, for each behaviour of
# the server.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs nats_publisher nats-server
program=$programs/nats_publisher
expect_exit 0 "$work"
cat out
