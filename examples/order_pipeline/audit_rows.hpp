// SPDX-License-Identifier: MIT
//
// audit_rows: all rows for `verify`, read with its own SQL.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_AUDIT_ROWS_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_AUDIT_ROWS_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "options.hpp"

namespace order_pipeline {

struct audit_rows {
    struct job {
        std::string job{};
        std::uint64_t total = 0;
        std::uint64_t checksum = 0;
    };
    struct effect {
        std::string job{};
        std::uint64_t step = 0;
        std::uint64_t runs = 1;
        std::uint64_t place = 0;  // ascends in the order in which steps were done
        std::string session{};
        std::string what{};  // the effect of the step
    };
    struct letter {
        std::string job{};
        std::uint64_t step = 0;
        std::string session{};
        std::uint64_t sequence = 0;
        std::string reason{};
        std::string text{};
        std::string body{};
        std::uint64_t size = 0;
        std::uint64_t checksum = 0;
    };
    std::vector<job> jobs{};
    std::vector<effect> effects{};
    std::vector<letter> letters{};
    std::uint64_t messages = 0;  // in the queue
    std::uint64_t dead = 0;      // dead letters of the queue itself
    std::uint64_t states = 0;
    bool once = false;  // effects are committed with the state: no run is a repetition
};

[[nodiscard]] audit_rows read_sqlite(const options& o);
[[nodiscard]] audit_rows read_postgres(const options& o);

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_AUDIT_ROWS_HPP
