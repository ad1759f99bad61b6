// expect: transaction: commit() must exist and return result<commit_outcome>
// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/testing/conformance.hpp>

struct store : complete_store {
    struct transaction {
        void rollback() noexcept;
    };
    waybill::result<transaction> begin();
};

auto checked() { return waybill::testing::conformance([] { return store(); }); }
