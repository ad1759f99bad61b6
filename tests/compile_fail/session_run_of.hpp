// SPDX-License-Identifier: MIT
//
// A complete call of run_session. A test replaces one of its arguments.

#ifndef WAYBILL_TESTS_COMPILE_FAIL_SESSION_RUN_OF_HPP
#define WAYBILL_TESTS_COMPILE_FAIL_SESSION_RUN_OF_HPP

#include <string>

#include <waybill/session/run_session.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_session_queue.hpp>

using waybill::pipeline;
using queue_type = waybill::testing::memory_session_queue;

struct letters {
    waybill::fault upsert(const waybill::pipeline_dead_letter&);
};
struct no_letters {
    void upsert(const waybill::pipeline_dead_letter&);
};

inline const auto handle = [](std::string&, const pipeline::step&) { return waybill::fault{}; };

template <class Queue = queue_type, class Letters = letters, class Handler = decltype(handle)>
void run(Queue& queue, Letters& dead_letters, Handler handler = handle)
{
    waybill::testing::manual_environment env;
    static_cast<void>(waybill::run_session(queue, waybill::text_state_codec(), dead_letters,
                                           handler, {}, env));
}

#endif  // WAYBILL_TESTS_COMPILE_FAIL_SESSION_RUN_OF_HPP
