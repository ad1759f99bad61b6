// expect: run_session: the dead letters must have upsert(pipeline_dead_letter)
// SPDX-License-Identifier: MIT

#include "session_run_of.hpp"

void runs(queue_type& q, no_letters& l) { run(q, l); }
