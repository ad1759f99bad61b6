// SPDX-License-Identifier: MIT
//
// destination: the target of the batches, on any broker.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_DESTINATION_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_DESTINATION_HPP

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "../engines/verdict.hpp"
#include "../support/program.hpp"
#include "options.hpp"
#include <waybill/batch.hpp>

namespace send_batches {

inline constexpr std::uint64_t queue_limit = 65'536;     ///< The default limit of SQLite.
inline constexpr std::uint64_t first_guess = 1'048'576;  ///< A limit of many brokers.

using support::complaint;

struct destination {
    std::string name{};
    engines::manual reported{};     ///< Known before the first batch.
    waybill::batch_limits limit{};  ///< The actual limit, for the bars and the minimum of batches.
    bool limited = false;           ///< --limit is the actual limit, not the sender's assumption.
    std::function<std::uint64_t(std::uint64_t)> size_of{};  ///< The counted size of a body.
    /// Bodies and the number of the attempt, which is the same only for the identical batch.
    std::function<waybill::send_outcome(std::span<const std::string_view>, std::uint64_t)> send{};
    std::function<std::string()> said{};  ///< The text of the broker's last reply.
    /// The limitation of its guarantees for accepted lines. Empty: accepted lines are never lost.
    std::string_view caveat{};
    /// Passes on all bodies of this run, in order. Empty if reading would remove them from the
    /// queue of another reader.
    std::function<void(const std::function<void(std::string_view)>&)> read_back{};
};

/// All forms of --to in this build, and the missing packages of the others.
[[nodiscard]] std::string places();

/// The file of --to sqlite:FILE, and empty for any other.
[[nodiscard]] std::string queue_file(const options& o);

/// Opens the destination. Throws a complaint if the address is invalid or no server replies.
[[nodiscard]] destination open_destination(const options& o);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_DESTINATION_HPP
