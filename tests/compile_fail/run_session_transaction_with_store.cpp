// expect: run_session: the handler accepts a transaction of the queue, but the states
// SPDX-License-Identifier: MIT

#include "session_run_of.hpp"

#include <waybill/testing/memory_sessions.hpp>

void runs(queue_type& q, letters& l, waybill::testing::memory_sessions& states)
{
    waybill::testing::manual_environment env;
    const auto in_transaction = [](queue_type::transaction&, std::string&, const pipeline::step&) {};
    static_cast<void>(waybill::run_session(q, states, waybill::text_state_codec(), l,
                                           in_transaction, {}, env));
}
