// SPDX-License-Identifier: MIT
//
// partitions_report: the results of one process with its partitions.

#ifndef WAYBILL_LEASE_PARTITIONS_REPORT_HPP
#define WAYBILL_LEASE_PARTITIONS_REPORT_HPP

#include <cstdint>
#include <optional>
#include <string>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/described.hpp>
#include <waybill/core/fault.hpp>

namespace waybill::inline v0_2 {

/// The results of `run_partitions`. All counts saturate.
struct [[nodiscard]] partitions_report {
    std::uint64_t opened = 0;   ///< Partitions whose checkpoint was loaded, once per assignment.
    std::uint64_t batches = 0;  ///< Committed batches.
    /// Of these, batches that ended early, because a call to the leases was due or a stop was
    /// requested.
    std::uint64_t cut_batches = 0;
    std::uint64_t handled = 0;        ///< Events that took effect.
    std::uint64_t dead_lettered = 0;  ///< Events with a dead letter.
    std::uint64_t dropped = 0;        ///< Events that failed and got no dead letter, as configured.
    std::uint64_t skipped = 0;        ///< Events that the handler skipped.
    /// Calls of the handler beyond one for each event counted above. Causes are later tries,
    /// batches without effect, and restarts of a batch whose store has no savepoints.
    std::uint64_t repeated_calls = 0;
    /// Batches without effect. Their events are delivered again, here or by another owner.
    std::uint64_t failed_batches = 0;
    std::uint64_t lost_batches = 0;  ///< Batches refused because another owner has the partition.
    /// Commits whose outcome is unknown. If one was applied, its events took effect, but they are
    /// in no count.
    std::uint64_t unknown_commits = 0;
    std::uint64_t failed_reads = 0;        ///< Failed calls of the log.
    std::uint64_t failed_opens = 0;        ///< Checkpoints that could not be loaded or used.
    std::uint64_t failed_lease_calls = 0;  ///< Failed calls of the leases.
    fault last_fault{};            ///< The last failure, whatever it was; empty if there was none.
    std::string last_partition{};  ///< Its partition; empty if it concerns the leases or the log.
    /// True if the partition of the last fault was read without a fault after it. For a fault
    /// without a partition: true if a call of the leases succeeded after it.
    bool repaired = false;
    /// True if each commit checks the lease, because a transaction of the store can read it.
    bool fenced = false;
    /// True if the call ended because of `until_drained`.
    bool drained = false;
    /// Distinguishes this process from others of the same name. A later call with this report takes
    /// over the leases of the earlier one at once, for example after an exception.
    std::uint64_t incarnation = 0;
    /// True if all leases were given back, or each was tried three times. Otherwise the leases that
    /// are still held expire.
    bool released = false;
    /// The first error of the policy or of the log's partitions. Nothing was done.
    std::optional<config_error> invalid{};

    friend bool operator==(const partitions_report&, const partitions_report&) = default;
};

/// One sentence: the events, the failures and the end.
[[nodiscard]] inline std::string describe(const partitions_report& r)
{
    if (r.invalid) return "invalid: " + describe(*r.invalid);
    const auto add = [](std::string& line, std::uint64_t n, const char* text) {
        if (n == 0) return;
        line += ", ";
        line += std::to_string(n);
        line += text;
    };
    std::string line = std::to_string(r.handled);
    line += r.handled == 1 ? " event took effect" : " events took effect";
    add(line, r.dead_lettered, " dead-lettered");
    add(line, r.dropped, " dropped");
    add(line, r.skipped, " skipped");
    add(line, r.repeated_calls, " repeated calls of the handler");
    line += "; batches: ";
    line += std::to_string(r.batches);
    line += " committed";
    if (r.batches != 0) line += r.fenced ? " (fenced" : " (not fenced";
    add(line, r.cut_batches, " ended early");
    if (r.batches != 0) line += ")";
    add(line, r.failed_batches, " failed");
    add(line, r.lost_batches, " lost to another owner");
    add(line, r.unknown_commits, " with an unknown outcome");
    add(line, r.failed_reads, " failed calls of the log");
    add(line, r.failed_opens, " failed opens");
    add(line, r.failed_lease_calls, " failed lease calls");
    if (r.drained) line += "; drained";
    line += r.released ? "; all leases given back" : "; leases not given back";
    if (r.last_fault.ok()) return line;
    line += r.repaired ? "; last fault, repaired: " : "; last fault: ";
    line += name(r.last_fault.kind);
    if (!r.last_partition.empty()) line += " in partition " + r.last_partition;
    if (!r.last_fault.text.empty()) line += ": " + r.last_fault.text;
    return line;
}

template <>
struct detail::words::line_of<partitions_report> : detail::words::described_line {};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_LEASE_PARTITIONS_REPORT_HPP
