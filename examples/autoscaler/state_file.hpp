// SPDX-License-Identifier: MIT
//
// state_file: the state between two decisions, in a file that is complete at any moment.
//
//     waybill-autoscaler 1 5a1f0c6be3d97a42     format, version, hash of the rest
//     {"source": "trace.csv", ...}              one line of JSON
//
// A new version is written to a second file, which is then renamed. So a kill leaves the old or the
// new version. A file is refused and not changed if it is truncated, damaged or of a later version.
// The same holds for other measurements or other settings.

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
    std::uint64_t record_bytes = 0;  ///< The length of the records: see record_file.hpp.
};

/// The settings as a short text. A state with other settings is refused.
[[nodiscard]] std::string settings_of(const rules& r);

[[nodiscard]] std::string text_of(const stored& s, const rules& r);

/// The inverse of text_of. Throws a complaint that describes the error in the text.
[[nodiscard]] stored stored_in(std::string_view text, const rules& r);

/// Returns nothing if there is no such file. Throws a complaint that names the file.
[[nodiscard]] std::optional<stored> read_state(const std::string& path, const rules& r);

/// Replaces the file. With `durable`, it is on the disk afterwards.
void write_state(const std::string& path, std::string_view text, bool durable);

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_STATE_FILE_HPP
