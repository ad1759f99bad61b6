// SPDX-License-Identifier: MIT

#include "shop.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "../support/capped_sum.hpp"
#include "../support/program.hpp"

namespace order_pipeline {

namespace {

using nlohmann::json;
using fields = std::map<std::string, std::string, std::less<>>;

/// The fields for a template: the texts of the payload, and the two parts of a version. Some
/// versions have no revision, which the broken template requires.
fields fields_of(const json& payload)
{
    fields f;
    for (const auto& [name, value] : payload.items()) {
        if (value.is_string()) f[name] = value.get<std::string>();
    }
    const std::string version = f["version"];
    const auto dash = version.rfind('-');
    f["upstream"] = version.substr(0, dash);
    if (dash != version.npos) f["revision"] = version.substr(dash + 1);
    return f;
}

/// Replaces each {name} in the template by the field of this name.
waybill::fault fill_in(const std::string& path, std::string_view what, const fields& known,
                       std::string& to)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) return waybill::infrastructure("there is no template " + path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    to.clear();
    for (std::size_t at = 0; at != text.size();) {
        const auto open = text.find('{', at);
        to.append(text, at, open - at);
        if (open == text.npos) break;
        const auto close = text.find('}', open);
        if (close == text.npos) {
            return waybill::permanent(fmt::format("broken {}: a {{ without its }}", what));
        }
        const std::string name = text.substr(open + 1, close - open - 1);
        const auto field = known.find(name);
        if (field == known.end()) {
            return waybill::permanent(fmt::format("broken {}: no field \"{}\"", what, name));
        }
        to += field->second;
        at = close + 1;
    }
    return {};
}

/// The total of an order: all bytes in all directories.
std::uint64_t total_of(const json& payload)
{
    std::uint64_t total = 0;
    const auto dirs = payload.find("dirs");
    if (dirs == payload.end() || !dirs->is_object()) return 0;
    for (const json& d : *dirs) {
        if (d.is_array() && d.size() == 2 && d[1].is_number_unsigned()) {
            total = support::capped_sum(total, d[1].get<std::uint64_t>());
        }
    }
    return total;
}

constexpr std::string_view broken_receipt =
    "Receipt for {number}\n{package} {upstream}, revision {revision}\n{total} bytes, {payment}\n";
constexpr std::string_view good_receipt =
    "Receipt for {number}\n{package} {version}\n{total} bytes, {payment}\n";
constexpr std::string_view broken_label = "{package}, revision {revision} of {upstream}\n";
constexpr std::string_view good_label = "{package}, {version}\n";

}  // namespace

void write_templates(const shop_services& w, bool repaired)
{
    const auto write = [&](const std::string& path, std::string_view text) {
        if (!repaired && std::filesystem::exists(path)) return;
        // By rename, so that a worker never reads an incomplete template.
        support::write_file("template", path + ".new", text);
        std::filesystem::rename(path + ".new", path);
    };
    write(w.receipt, repaired ? good_receipt : broken_receipt);
    write(w.label, repaired ? good_label : broken_label);
}

waybill::fault shop::run(const task& t, order_state& s)
{
    const json payload = json::parse(t.body, nullptr, false);
    if (!payload.is_object()) return waybill::permanent("the order is no JSON object");
    fields known = fields_of(payload);
    if (is_import(t.job)) {
        std::string label;
        const waybill::fault f = fill_in(services_.label, "label", known, label);
        if (!f.ok()) return f;
        s.total = support::capped_sum(s.total, total_of(payload));
        note(t, label);
        return {};
    }
    switch (t.step) {
        case 1: note(t, "W" + t.job.substr(t.job.find('-'))); return {};
        case 2:
            s.total = total_of(payload);
            if (s.total == 0) return waybill::permanent("there is nothing to pay for");
            note(t, std::to_string(s.total));
            return {};
        case 3:
            // The payment of every tenth order needs two tries.
            if (t.job.ends_with('7') && t.tries == 1) return waybill::transient("the bank is busy");
            s.payment = fmt::format("paid by {}", known["package"]);
            note(t, s.payment);
            return {};
        case 4: {
            // A field of the order itself may have one of these names.
            known.insert_or_assign("number", t.job);
            known.insert_or_assign("total", std::to_string(s.total));
            known.insert_or_assign("payment", s.payment);
            const waybill::fault f = fill_in(services_.receipt, "receipt", known, s.receipt);
            if (f.ok()) note(t, s.receipt);
            return f;
        }
        case 5: note(t, "mailed: " + s.receipt); return {};
        default: return waybill::permanent("an order has five steps");
    }
}

void shop::note(const task& t, std::string_view what)
{
    services_.tables.note({t.job, t.step, t.session}, what);
}

}  // namespace order_pipeline
