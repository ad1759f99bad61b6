// expect: dead letters: mark(span of letters) must exist and return a fault
// SPDX-License-Identifier: MIT

#include <span>
#include <vector>

#include <waybill/session/redrive_all.hpp>
#include <waybill/testing/manual_environment.hpp>

struct table {
    waybill::result<std::vector<waybill::pipeline_dead_letter>> list();
    waybill::fault upsert(const waybill::pipeline_dead_letter&);
    waybill::fault remove(std::span<const waybill::pipeline_dead_letter>);
};

waybill::redrive::redrive_report back(table& t)
{
    waybill::testing::manual_environment env;
    return waybill::redrive_all(t, {}, [](const auto&) { return waybill::fault{}; }, env);
}
