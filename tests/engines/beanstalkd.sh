#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# beanstalkd with a binlog and 100,000 events. Each line of the output is one fault.
#
#     batches                  kill -9 and restart, and a proxy that closes connections at random
#     workers                  kill -9 and restart while messages are reserved
#     slow consumer            the time-to-run is shorter than the handler
set -euo pipefail
# shellcheck source=common.sh
source "$WAYBILL_SOURCE/tests/engines/common.sh" beanstalkd
needs_program beanstalkd
export VERSION
VERSION=$(beanstalkd -v | sed 's/[^0-9.]//g')
compiled "$WAYBILL_SOURCE/tests/engines/beanstalkd.cpp"
lines 500 "$bin/beanstalkd" "$work"
finished
