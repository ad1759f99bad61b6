// expect: run_session: the handler must accept the value of the codec by reference
// SPDX-License-Identifier: MIT

#include "session_run_of.hpp"

void runs(queue_type& q, letters& l)
{
    run(q, l, [](const std::string& body) { return body.empty(); });
}
