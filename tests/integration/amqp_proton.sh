#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The sizes of the profile `proton` equal those of Qpid Proton, for a million messages:
#
#     amqp_proton.sh [MESSAGES [SEED]]
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs amqp_sizes
"$programs/amqp_sizes" "$@"
