// expect: describe_needs_waybill_MODULE_describe_hpp | call to deleted function 'describe'
// SPDX-License-Identifier: MIT

#include <waybill/batch.hpp>

std::string text(const waybill::send_report& report)
{
    return describe(report);
}
