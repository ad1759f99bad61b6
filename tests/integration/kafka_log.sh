#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# A topic of Kafka as an event log, on mock clusters in the process: the conformance suite, and
# readers that skip nothing and repeat nothing while brokers stop, leaders move and requests fail.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs kafka_log
program=$programs/kafka_log
expect_exit 0 "$@"
cat out
