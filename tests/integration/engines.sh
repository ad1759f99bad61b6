#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The adapters in examples/engines have the properties that the library relies on, and translate a
# broker's replies by its tables.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit

needs sqlite_store
mkdir stores
for name in store sessions step_letters leases work_queue outbox log; do
    program=$programs/sqlite_$name
    expect_exit 0 stores
done
for name in answers_sqs answers_nats answers_amqp; do
    program=$programs/$name
    if [ -x "$program" ]; then
        expect_exit 0
    else
        echo "SKIP: $name: its package is not installed"
    fi
done
