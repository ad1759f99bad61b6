// SPDX-License-Identifier: MIT
//
// files: the files of the folder of a run, and the names of its rows.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_FILES_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_FILES_HPP

#include <cstdint>
#include <string>

#include "options.hpp"
#include <waybill/consume/position.hpp>

namespace reliable_consumer {

inline constexpr const char* source = "log";
inline constexpr const char* group = "ledger";

[[nodiscard]] inline waybill::partition_key key_of(std::uint64_t partition)
{
    return {source, group, std::to_string(partition)};
}

[[nodiscard]] inline std::string log_in(const options& o)
{
    return o.db + "/log.sqlite";
}
[[nodiscard]] inline std::string sink_in(const options& o)
{
    return o.db + "/sink.sqlite";
}
[[nodiscard]] inline std::string phases_in(const options& o)
{
    return o.db + "/phases";
}
/// The addresses of the servers, for the workers.
[[nodiscard]] inline std::string servers_in(const options& o)
{
    return o.db + "/servers";
}

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_FILES_HPP
