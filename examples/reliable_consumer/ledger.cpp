// SPDX-License-Identifier: MIT

#include "ledger.hpp"

#include <string>

#include <nlohmann/json.hpp>

#include <waybill/core/crc32c.hpp>

namespace reliable_consumer {

namespace {

/// A text field of an object; empty if there is none.
std::string text_in(const nlohmann::json& j, const char* field)
{
    const auto found = j.find(field);
    return found != j.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

reading read_event(std::string_view body)
{
    const auto parsed = nlohmann::json::parse(body, nullptr, false);
    if (!parsed.is_object()) return {};
    return {true, text_in(parsed, "package"), text_in(parsed, "version"), text_in(parsed, "event")};
}

engines::database& ledger::prepared(engines::database& db)
{
    db.exec(
        "CREATE TABLE IF NOT EXISTS effects (n INTEGER PRIMARY KEY, part INTEGER NOT NULL,"
        " sequence INTEGER NOT NULL);"
        "CREATE TABLE IF NOT EXISTS packages (name TEXT PRIMARY KEY, events INTEGER NOT NULL,"
        " version TEXT NOT NULL)");
    return db;
}

bool is_repaired(engines::database& sink)
{
    return engines::statement(sink, "PRAGMA user_version").number().value_or(0) == 1;
}

void repair(engines::database& sink)
{
    sink.exec("PRAGMA user_version = 1");
}

ledger::ledger(engines::database& sink)
    : repaired_(is_repaired(sink)),
      line_(prepared(sink), "INSERT INTO effects (part, sequence) VALUES (?, ?)"),
      sum_(sink,
           "INSERT INTO packages VALUES (?1, 1, ?2) ON CONFLICT (name) DO UPDATE SET"
           " events = events + 1, version = CASE ?2 WHEN '' THEN version ELSE ?2 END"
           " RETURNING version")
{
}

waybill::fault ledger::apply(std::uint64_t partition, const event& e)
{
    const auto line = [&] { line_.run(partition, e.sequence); };
    const auto sum = [&](const std::string& package, const std::string& version) {
        bool versioned = false;
        sum_.query(package, version);
        while (sum_.step()) versioned = !sum_.text(0).empty();
        return versioned;
    };
    return reliable_consumer::apply(e, repaired_, line, sum);
}

std::uint64_t partition_of(std::string_view line, std::uint64_t partitions)
{
    const std::string package = read_event(line).package;
    const std::string_view key = package.empty() ? line : std::string_view(package);
    return waybill::crc32c(key) % partitions;
}

}  // namespace reliable_consumer
