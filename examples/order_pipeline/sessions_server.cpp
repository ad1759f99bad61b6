// SPDX-License-Identifier: MIT

#include "sessions_server.hpp"

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "audit_rows.hpp"
#include "shop_services.hpp"

namespace order_pipeline {

std::unique_ptr<sessions_server> start_server(const options& o)
{
    std::string then;
    std::ifstream file(sessions_file(o));
    if (file && std::getline(file, then) && then != o.sessions) {
        // An address may contain a password.
        throw support::complaint(
            fmt::format("the sessions of {} need --sessions {}", o.db,
                        then == "postgres:" ? then : "and the address of the first run"));
    }
    if (o.sessions.empty()) return std::make_unique<sessions_server>();
    if (then.empty() && std::filesystem::exists(o.db + "/queue.sqlite")) {
        throw support::complaint(
            fmt::format("the sessions of {} are in SQLite: omit --sessions", o.db));
    }
    return start_postgres(o);
}

#ifndef WAYBILL_ORDER_PIPELINE_POSTGRES

namespace {

constexpr const char* not_built =
    "--sessions: this program was built without libpq-dev; install it and build it again";

}  // namespace

std::unique_ptr<sessions_server> start_postgres(const options&)
{
    throw support::complaint(not_built);
}
databases open_postgres(const options&)
{
    throw support::complaint(not_built);
}
audit_rows read_postgres(const options&)
{
    throw support::complaint(not_built);
}

#endif

}  // namespace order_pipeline
