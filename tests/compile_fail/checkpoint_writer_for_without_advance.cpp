// expect: store: advance(tx, key, from, to, epoch) must exist and return result<advance_outcome>
// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/consume/separate_stores.hpp>

struct store : complete_store {
    void advance() = delete;
};

auto adapted(store& s)
{
    return waybill::checkpoint_writer_for(s);
}
