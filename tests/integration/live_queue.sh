#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# The queue of --live, in SQLite and in NATS JetStream. If a worker is killed, its message is
# processed again. Each sent message is processed or still in the queue. No process is left after
# any kill.
# shellcheck source=lib.sh
source "$(dirname -- "$0")/lib.sh" || exit
needs live_queue
program=$programs/live_queue
expect_exit 0 forms
parts=(sqlite)
if command -v nats-server >/dev/null; then
    parts+=(nats address others)
else
    echo 'SKIP: there is no nats-server'
    parts+=(absent)
fi
for part in "${parts[@]}"; do
    mkdir "$part"
    start "$part" "$program" "$part" "$work/$part"
done

# The main program is killed, and the next one continues with the queue.
left() { grep -la "$work/killed" /proc/[0-9]*/cmdline 2>/dev/null || true; }
none_is_left() { [ -z "$(left)" ]; }
if [[ ${parts[*]} == *nats* ]]; then
    start killed "$program" on nats "$work/killed"
    await 'it does not work' prints killed 'it works'
    [ "$(left | wc -l)" -ge 3 ] || fail 'it has started no worker'
    killed killed
    await 'processes outlive it' none_is_left
    start again "$program" nats "$work/killed"
    parts+=(again)
fi
for part in "${parts[@]}"; do
    ended "$part" 0
done
echo "live queues keep their messages: ${parts[*]}"
