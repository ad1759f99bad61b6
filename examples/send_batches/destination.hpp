// SPDX-License-Identifier: MIT
//
// destination: where the batches go, whatever it is.

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

inline constexpr std::uint64_t queue_limit = 65'536;    ///< Of SQLite, unless told otherwise.
inline constexpr std::uint64_t first_guess = 1'048'576;  ///< A limit of many brokers.

using support::complaint;

struct destination {
    std::string name{};
    engines::manual reported{};  ///< What the sender may know before it sends.
    waybill::batch_limits
        limit{};  ///< What really holds; for the drawing and for the fewest batches.
    bool limited = false;  ///< --limit is what it takes, and not what is believed of it.
    std::function<std::uint64_t(std::uint64_t)> size_of{};  ///< From a body to what is counted.
    /// Bodies and the number of the attempt, which is the same only for the identical batch.
    std::function<waybill::send_outcome(std::span<const std::string_view>, std::uint64_t)> send{};
    std::function<std::string()> said{};  ///< The broker's last answer in its own words.
    /// What it does not promise of a line that it has accepted. Empty: it keeps all of them.
    std::string_view caveat{};
    /// Hands over every body that this run has put there, in order. Empty where that would take
    /// them away from whoever is to read them.
    std::function<void(const std::function<void(std::string_view)>&)> read_back{};
};

/// All forms of --to that this program was built with, and what it takes to have the others.
[[nodiscard]] std::string places();

/// The file of --to sqlite:FILE, and empty for any other.
[[nodiscard]] std::string queue_file(const options& o);

/// Opens it. Throws a complaint if there is no such place, or nobody answers there.
[[nodiscard]] destination open_destination(const options& o);

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_DESTINATION_HPP
