// SPDX-License-Identifier: MIT
//
// Calls a service, with retries. By hand: five attempts with exponential pauses.

#include <cstdint>

bool service_call();
void sleep_ms(std::uint64_t ms);
double random_share();

#ifndef BY_HAND

#include <waybill/retry/retry_call.hpp>

struct environment {
    waybill::steady_time now();
    waybill::wall_time wall_now();
    void sleep_until(waybill::steady_time time);
    double random();
};

bool call_service()
{
    const auto call = [] {
        return service_call() ? waybill::fault_kind::none : waybill::fault_kind::transient;
    };
    environment env;
    return waybill::retry_call(waybill::call_policy{}, call, env).ok();
}

#else

bool call_service()
{
    for (unsigned attempt = 0; attempt != 5; ++attempt) {
        if (attempt != 0)
            sleep_ms(static_cast<std::uint64_t>(random_share() * (100U << (attempt - 1))));
        if (service_call()) return true;
    }
    return false;
}

#endif
