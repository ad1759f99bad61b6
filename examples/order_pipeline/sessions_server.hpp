// SPDX-License-Identifier: MIT
//
// sessions_server: the server of --sessions, as long as the program runs.
//
//     const auto server = start_server(o);    // for SQLite there is nothing to start
//     shop_services w(o);
//     while (work()) server->step();

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_SESSIONS_SERVER_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_SESSIONS_SERVER_HPP

#include <memory>
#include <string>

#include "options.hpp"

namespace order_pipeline {

class sessions_server {
public:
    sessions_server() = default;
    sessions_server(const sessions_server&) = delete;
    sessions_server& operator=(const sessions_server&) = delete;
    virtual ~sessions_server() = default;

    /// Starts an own server again if it has ended. To be called often.
    virtual void step() {}
};

/// Checks that the folder is used with its first --sessions. Starts an own server, if requested.
/// Writes the address to a file for the workers, since it may contain a password. Throws if another
/// order_pipeline works in the database.
[[nodiscard]] std::unique_ptr<sessions_server> start_server(const options& o);
/// The same for PostgreSQL, after the check.
[[nodiscard]] std::unique_ptr<sessions_server> start_postgres(const options& o);

/// The file with --sessions in one line, and the address in the next one.
[[nodiscard]] inline std::string sessions_file(const options& o)
{
    return o.db + "/sessions";
}

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_SESSIONS_SERVER_HPP
