// SPDX-License-Identifier: MIT
//
// shop_tables: the jobs, with their expected effects, and the effects of their steps.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_TABLES_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_TABLES_HPP

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "../support/program.hpp"
#include <waybill/core/fault.hpp>

namespace order_pipeline {

struct job_row {
    std::string job{};
    std::uint64_t total = 0;
    std::uint32_t checksum = 0;
};

struct effect_row {
    std::string job{};
    std::uint64_t step = 0;
    std::string session{};
};

class shop_tables {
public:
    shop_tables() = default;
    shop_tables(const shop_tables&) = delete;
    shop_tables& operator=(const shop_tables&) = delete;
    virtual ~shop_tables() = default;

    /// Adds all jobs or none. Returns the number of known jobs. Throws `another_job` if a job with
    /// the same name was different.
    [[nodiscard]] virtual std::uint64_t add(const std::vector<job_row>& jobs) = 0;
    /// In the order in which they were added.
    [[nodiscard]] virtual std::vector<job_row> jobs() = 0;
    /// In the order in which they were done.
    [[nodiscard]] virtual std::vector<effect_row> effects() = 0;
    /// One effect for each step of a job. A repetition is counted.
    virtual void note(const effect_row& e, std::string_view what) = 0;
    /// The fault of an exception of `note`.
    [[nodiscard]] virtual waybill::fault_kind classify(const std::exception& e) const noexcept = 0;

    /// The place of the dead letters in the first run with this folder. Empty: not known.
    [[nodiscard]] virtual std::optional<std::string> letters_at() { return std::string(); }
    virtual void set_letters_at(const std::string&) {}
};

/// `import` is true for an import. `place` is the option that another input needs.
[[nodiscard]] inline support::complaint another_job(const std::string& job, bool import,
                                                    std::string_view place = "--db")
{
    return support::complaint(
        fmt::format("{} is stored with other content: another --input{} needs a {} of its own", job,
                    import ? ", --imports or --most" : "", place));
}

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_SHOP_TABLES_HPP
