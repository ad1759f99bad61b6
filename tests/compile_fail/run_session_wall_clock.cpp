// expect: environment: now() must return a steady time, and not a wall time
// SPDX-License-Identifier: MIT

#include "session_run_of.hpp"

#include <chrono>

struct wall_environment : waybill::testing::manual_environment {
    std::chrono::system_clock::time_point now() { return {}; }
};

void runs(queue_type& q, letters& l)
{
    wall_environment env;
    static_cast<void>(
        waybill::run_session(q, waybill::text_state_codec(), l, handle, {}, env));
}
