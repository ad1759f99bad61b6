// expect: dead letters: list() must exist and return result<std::vector<pipeline_dead_letter>>
// SPDX-License-Identifier: MIT

#include <span>

#include <waybill/session/redrive_all.hpp>
#include <waybill/testing/manual_environment.hpp>

struct table {
    waybill::fault upsert(const waybill::pipeline_dead_letter&);
    waybill::fault mark(std::span<const waybill::pipeline_dead_letter>);
    waybill::fault remove(std::span<const waybill::pipeline_dead_letter>);
};

waybill::redrive::redrive_report back(table& t)
{
    waybill::testing::manual_environment env;
    return waybill::redrive_all(t, {}, [](const auto&) { return waybill::fault{}; }, env);
}
