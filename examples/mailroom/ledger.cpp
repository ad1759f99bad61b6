// SPDX-License-Identifier: MIT

#include "ledger.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "../support/capped_sum.hpp"

namespace mailroom {

namespace {

using nlohmann::json;

engines::database& with_ledger(engines::database& db)
{
    db.exec(
        "CREATE TABLE IF NOT EXISTS applied (line INTEGER NOT NULL, at TEXT, event TEXT,"
        " package TEXT, bytes INTEGER NOT NULL, checksum INTEGER NOT NULL);"
        "CREATE TABLE IF NOT EXISTS seconds (second TEXT PRIMARY KEY, events INTEGER NOT NULL,"
        " bytes INTEGER NOT NULL);"
        "CREATE TABLE IF NOT EXISTS packages (package TEXT PRIMARY KEY, state TEXT, version TEXT,"
        " installed INTEGER NOT NULL, files INTEGER NOT NULL, bytes INTEGER NOT NULL,"
        " events INTEGER NOT NULL)");
    return db;
}

std::optional<std::string> field_of(const json& e, const char* field)
{
    const auto found = e.find(field);
    if (found == e.end() || !found->is_string()) return {};
    return found->get_ref<const std::string&>();
}

/// The size of a package, if its event contains it.
struct extent {
    bool known = false;
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
};

/// Sums up "dirs": {"/usr/bin": [files, bytes], ...}.
extent extent_of(const json& e)
{
    const auto dirs = e.find("dirs");
    if (dirs == e.end() || !dirs->is_object()) return {};
    extent sum{.known = true};
    for (const json& d : *dirs) {
        const bool pair = d.is_array() && d.size() == 2;
        if (!pair || !d[0].is_number_unsigned() || !d[1].is_number_unsigned()) continue;
        sum.files = support::capped_sum(sum.files, d[0].get<std::uint64_t>());
        sum.bytes = support::capped_sum(sum.bytes, d[1].get<std::uint64_t>());
    }
    return sum;
}

}  // namespace

ledger::ledger(engines::database& db, phases& at)
    : at_(at),
      second_(with_ledger(db),
              "INSERT INTO seconds VALUES (?, 1, ?) ON CONFLICT (second) DO UPDATE SET"
              " events = events + 1, bytes = bytes + excluded.bytes"),
      package_(db,
               "INSERT INTO packages VALUES (?1, ?2, ?3, ?4, ?6, ?7, 1)"
               " ON CONFLICT (package) DO UPDATE SET state = excluded.state,"
               " version = CASE excluded.state WHEN 'not-installed' THEN NULL"
               " ELSE coalesce(excluded.version, version) END,"
               " installed = installed + excluded.installed, events = events + 1,"
               " files = CASE WHEN ?5 THEN excluded.files ELSE files END,"
               " bytes = CASE WHEN ?5 THEN excluded.bytes ELSE bytes END"),
      version_(db, "SELECT 1 FROM packages WHERE package = ? AND version IS NOT NULL"),
      applied_(db, "INSERT INTO applied VALUES (?, ?, ?, ?, ?, ?)")
{
}

waybill::fault ledger::apply(const delivery& d)
{
    if (d.marker) return waybill::permanent(d.reason);
    const json e = json::parse(d.body, nullptr, false);
    if (!e.is_object()) return waybill::permanent("not an event");
    const std::optional<std::string> what = field_of(e, "event");
    const std::optional<std::string> package = field_of(e, "package");

    second_.run(std::string_view(d.when).substr(0, d.when.empty() ? 0 : 19), d.body.size());
    at_.reach("consume.handler", d.begin);
    if (package) {
        const extent size = extent_of(e);
        package_.run(*package, what, field_of(e, "version"), what == "installed", size.known,
                     size.files, size.bytes);
        if (what == "installed" && !version_.number(*package)) {
            return waybill::permanent("installed, but no event has told which version");
        }
    }
    applied_.run(d.line, d.when.empty() ? std::nullopt : std::optional(d.when), what, package,
                 d.body.size(), checksum(d.body));
    return {};
}

}  // namespace mailroom
