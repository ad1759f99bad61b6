// SPDX-License-Identifier: MIT
//
// state_file: what is known from one decision to the next, in a file that is whole at any moment.
//
//     waybill-autoscaler 1 5a1f0c6be3d97a42     what it is, its version, the mark of the rest
//     {"source": "trace.csv", ...}              one line of JSON
//
// It is written beside itself and renamed, so whoever is killed leaves the last one or the next. A
// file that is cut off, has a bit flipped, is of a later version, or was made of other measurements
// or with other settings, is refused and stays as it is.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_STATE_FILE_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_STATE_FILE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "brain.hpp"

namespace autoscaler {

struct stored {
    memory known{};
    std::uint64_t record_bytes = 0;  ///< So long were the records by then: see record_file.hpp.
};

/// How decisions are made, in short: what was kept with other settings is of no use.
[[nodiscard]] std::string settings_of(const rules& r);

[[nodiscard]] std::string text_of(const stored& s, const rules& r);

/// The opposite. Throws a complaint that says what is wrong with the text.
[[nodiscard]] stored stored_in(std::string_view text, const rules& r);

/// Nothing if there is no such file. Throws a complaint that names it.
[[nodiscard]] std::optional<stored> read_state(const std::string& path, const rules& r);

/// Replaces the file. With `durable`, it is on the disk afterwards.
void write_state(const std::string& path, std::string_view text, bool durable);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_STATE_FILE_HPP
