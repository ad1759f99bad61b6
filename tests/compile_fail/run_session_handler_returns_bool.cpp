// expect: run_session: the handler must return void, a fault
// SPDX-License-Identifier: MIT

#include "session_run_of.hpp"

void runs(queue_type& q, letters& l)
{
    run(q, l, [](std::string&, const pipeline::step&) { return true; });
}
