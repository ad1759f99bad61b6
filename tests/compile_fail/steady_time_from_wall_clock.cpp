// expect: no viable conversion | could not convert
// SPDX-License-Identifier: MIT

#include <chrono>

#include <waybill/core/time.hpp>

waybill::steady_time now()
{
    return std::chrono::system_clock::now();
}
