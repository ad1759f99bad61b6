// expect: session queue: receive(lock) must exist and return
// SPDX-License-Identifier: MIT

#include "session_run_of.hpp"

struct queue : queue_type {
    std::optional<message> receive(const lock&);
};

void runs(queue& q, letters& l) { run(q, l); }
