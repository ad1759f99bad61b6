// expect: session queue: complete(lock, message) and renew(lock) must exist and return a fault
// SPDX-License-Identifier: MIT

#include "session_run_of.hpp"

struct queue : queue_type {
    void renew(const lock&);
};

void runs(queue& q, letters& l) { run(q, l); }
