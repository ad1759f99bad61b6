// SPDX-License-Identifier: MIT
//
// ledger: the effects of an event. It adds to the sum of its package, and writes a line.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_LEDGER_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_LEDGER_HPP

#include <csignal>
#include <cstdint>
#include <string>
#include <string_view>

#include <unistd.h>

#include "../engines/sqlite.hpp"
#include "tables.hpp"
#include <waybill/core/fault.hpp>

namespace reliable_consumer {

/// An event that ends the process that handles it.
inline constexpr std::string_view poison = R"({"package":"poison","event":"ends its process"})";

/// The fields of an event. Worker and verifier read each event with this function.
struct reading {
    bool is_object = false;  ///< A JSON object; if not, the rest is empty.
    std::string package{};
    std::string version{};
    std::string what{};  ///< The field "event".
};
[[nodiscard]] reading read_event(std::string_view body);

/// The rule: an installed package has a version. After the repair it needs none, and an event that
/// ends its process is refused. The database has this state, for all processes.
[[nodiscard]] bool is_repaired(engines::database& sink);
void repair(engines::database& sink);

/// The effects of an event by the rule of the ledger. `line()` writes its line. `sum(package,
/// version)` adds it to its package, and returns true if a version of that package is known.
template <class Line, class Sum>
[[nodiscard]] waybill::fault apply(const event& e, bool repaired, const Line& line, const Sum& sum)
{
    line();
    if (e.body == poison && repaired) return waybill::permanent("it ends its process");
    if (e.body == poison) kill(getpid(), SIGKILL);
    const reading r = read_event(e.body);
    if (!r.is_object) return waybill::permanent("not a JSON object");
    if (r.package.empty()) return waybill::permanent("an event without a package");
    const bool versioned = sum(r.package, r.version);
    if (r.what == "installed" && !versioned && !repaired) {
        return waybill::permanent(r.package +
                                  " is installed, but no event up to here has its version");
    }
    return {};
}

class ledger {
public:
    /// `sink` is the database of checkpoints and dead letters, so that all is in one transaction.
    explicit ledger(engines::database& sink);

    /// Writes two effects, both or none: a line, and a sum. The table allows duplicate lines, so
    /// that the checks can find them.
    [[nodiscard]] waybill::fault apply(std::uint64_t partition, const event& e);

private:
    static engines::database& prepared(engines::database& db);

    bool repaired_;
    engines::statement line_;
    engines::statement sum_;
};

/// The partition of a line, by its package; without a package, by all its bytes.
[[nodiscard]] std::uint64_t partition_of(std::string_view line, std::uint64_t partitions);

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_LEDGER_HPP
