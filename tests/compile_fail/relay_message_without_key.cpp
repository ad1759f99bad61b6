// expect: outbox store: a message must have a key
// SPDX-License-Identifier: MIT

#include "complete_outbox.hpp"

struct store : outbox {
    struct message {
        std::string id, body;
    };
};

waybill::relay_report sends(store& s, waybill::batch_sender& sender,
                            waybill::testing::manual_environment& env)
{
    return waybill::relay(s, sender, accept, env);
}
