// expect: run_session: the queue has no load(lock), save(lock, bytes) and clear(lock)
// SPDX-License-Identifier: MIT

#include "session_run_of.hpp"

struct queue : queue_type {
    void clear(const lock&);
};

void runs(queue& q, letters& l) { run(q, l); }
