// SPDX-License-Identifier: MIT
//
//     azurite HOST:PORT/ACCOUNT/TABLE
//
// Prints every dead letter of an Azure table as the library reads it. Version 0.1 and the current
// version run the same source.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include <engines/azure_table.hpp>
#include <nlohmann/json.hpp>

#include "names.hpp"

namespace {

using version_0_1::hex;

/// Text as it is; bytes that are not UTF-8 in hex.
std::string text_of(std::string_view bytes)
{
    return engines::azure_row::is_text(bytes) ? std::string(bytes) : "hex " + hex(bytes);
}

std::string line_of(const version_0_1::pipeline_dead_letter& l)
{
    const auto& place = version_0_1::properties_of(l);
    const auto time = [](waybill::wall_time t) { return t.since_epoch().count(); };
    nlohmann::ordered_json j;
    j["session"] = text_of(place.session);
    j["sequence"] = l.sequence;
    j["step"] = place.step;
    j["first"] = place.first;
    j["total"] = place.total;
    j["last"] = place.last;
    j["origin session"] = text_of(l.origin.session);
    j["origin sequence"] = l.origin.sequence;
    j["origin generation"] = l.origin.generation;
    j["origin tries"] = l.origin.tries;
    j["origin state"] = text_of(l.origin.state);
    j["origin message"] = text_of(l.origin.message_id);
    j["message"] = text_of(l.message_id);
    j["reason"] = name(l.reason);
    j["cause"] = l.cause;
    j["resume at"] = l.resume_at;
    j["alone"] = version_0_1::independent(l);
    j["sent to"] = version_0_1::last_redriven_step(l);
    j["text"] = text_of(l.text);
    j["tries"] = l.tries;
    j["enqueued"] = time(l.enqueued);
    j["dead-lettered at"] = time(version_0_1::dead_lettered_at(l));
    j["kept"] = name(l.kept);
    j["size"] = l.size;
    j["checksum"] = l.checksum;
    j["state"] = text_of(l.state);
    j["state cut"] = version_0_1::state_omitted(l);
    j["body"] = text_of(l.body);
    return j.dump();
}

}  // namespace

int main(int count, char** argv)
{
    const auto place = engines::azure_table_at(count == 2 ? argv[1] : "");
    if (!place) return 2;
    const auto all = engines::azure_table(*place).list();
    if (!all) {
        std::fprintf(stderr, "%s\n", all.error().text.c_str());
        return 1;
    }
    std::vector<std::string> lines;
    for (const auto& l : *all) lines.push_back(line_of(l));
    std::sort(lines.begin(), lines.end());
    for (const std::string& l : lines) std::printf("%s\n", l.c_str());
    return 0;
}
