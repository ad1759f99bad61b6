// SPDX-License-Identifier: MIT
//
// phases: the current phase of each worker.
//
// A kill at a random time proves little if the process was asleep. Each worker records the phase
// that it begins. The supervisor reads it after the kill.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_PHASES_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_PHASES_HPP

#include <cstdint>
#include <string>

#include "../support/worker_page.hpp"
#include "options.hpp"

namespace reliable_consumer {

enum class phase : std::uint8_t { asleep, leases, reading, batch, handler };

/// One place for each worker.
struct phases : support::worker_page<phase> {
    explicit phases(const std::string& path) : worker_page(path, most_workers) {}
};

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_PHASES_HPP
