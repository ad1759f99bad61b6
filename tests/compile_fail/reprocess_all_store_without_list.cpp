// expect: store: list(key, after, max_count) must exist and return result<std::vector<dead_letter>>
// SPDX-License-Identifier: MIT

#include "complete_store.hpp"
#include <waybill/consume/reprocess_all.hpp>
#include <waybill/testing/manual_environment.hpp>

struct store : complete_store {
    void list() = delete;
};

waybill::dead_letter::run_report again(store& s)
{
    waybill::testing::manual_environment env;
    return waybill::reprocess_all(s, [](auto&, const auto&) { return waybill::fault{}; },
                                  {.keys = {{"orders", "billing", "0"}}}, env);
}
