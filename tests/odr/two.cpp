// SPDX-License-Identifier: MIT

#include "two.hpp"

#include <all_headers.hpp>

int version_seen_by_two()
{
    return WAYBILL_VERSION;
}
