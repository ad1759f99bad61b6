// SPDX-License-Identifier: MIT
//
// environment: the clocks, the sleep and the random numbers of a process, for the drivers.

#ifndef WAYBILL_EXAMPLES_SUPPORT_ENVIRONMENT_HPP
#define WAYBILL_EXAMPLES_SUPPORT_ENVIRONMENT_HPP

#include <chrono>
#include <random>
#include <thread>

#include <waybill/core/environment.hpp>
#include <waybill/ext/chrono.hpp>

namespace support {

//! [environment]
struct standard_environment {
    std::mt19937_64 engine{std::random_device{}()};

    waybill::steady_time now() { return std::chrono::steady_clock::now(); }
    waybill::wall_time wall_now() { return std::chrono::system_clock::now(); }
    void sleep_until(waybill::steady_time t) { std::this_thread::sleep_until(t.to_chrono()); }
    double random() { return std::generate_canonical<double, 53>(engine); }
};
//! [environment]

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_ENVIRONMENT_HPP
