// SPDX-License-Identifier: MIT

#include "state_file.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "../support/program.hpp"
#include <waybill/core/detail/base64_text.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/ext/json/parse.hpp>
#include <waybill/ext/json/read.hpp>
#include <waybill/ext/json/scaling.hpp>

namespace autoscaler {

using nlohmann::json;
using support::complaint;
using waybill::json_fields;
using json_place = waybill::json_place<json>;

namespace {

constexpr std::string_view what_it_is = "waybill-autoscaler ";
constexpr std::uint64_t version = 1;

/// The form of a window in the file.
struct stored_window {
    key of{};
    std::string samples{};
};
struct stored_windows {
    std::map<key, std::string>& all;
};
struct stored_resources {
    std::map<std::string, resource_memory>& all;
};

json json_of(const resource_memory& known)
{
    json j = {{"state", known.state}, {"said", known.said}};
    if (known.instances) j["instances"] = *known.instances;
    if (const auto& o = known.order) {
        j["order"] = {
            {"id", o->what.id}, {"from", o->what.from}, {"to", o->what.to}, {"due", o->due}};
    }
    return j;
}

/// Base64 with padding.
std::string padded_base64(std::string_view bytes)
{
    std::string text = waybill::detail::to_base64(bytes);
    while (text.size() % 4 != 0) text += '=';
    return text;
}

std::optional<std::string> bytes_in(std::string_view base64)
{
    if (base64.size() % 4 != 0) return {};
    for (int padding = 0; padding != 2 && base64.ends_with('='); ++padding) base64.remove_suffix(1);
    return waybill::detail::from_base64(base64);
}

json_place inside(const json_place& at, const json& value, const std::string& name)
{
    return {value, at.path + "/" + name, at.error};
}

}  // namespace

// Found by json_fields through argument-dependent lookup, as they are in the types' namespace.

static void read_value(const json_place& at, under_way& into)
{
    json_fields(at)
        .required("id", into.what.id)
        .required("from", into.what.from)
        .required("to", into.what.to)
        .required("due", into.due)
        .done();
}

static void read_value(const json_place& at, resource_memory& into)
{
    json_fields(at)
        .required("state", into.state)
        .required("said", into.said)
        .optional("instances", into.instances)
        .optional("order", into.order)
        .done();
}

namespace {

void read_value(const json_place& at, stored_resources& into)
{
    if (!at.value.is_object()) return at.fail("an object");
    for (const auto& [name, value] : at.value.items()) {
        read_value(inside(at, value, name), into.all[name]);
    }
}

void read_value(const json_place& at, stored_window& into)
{
    std::string bytes;
    json_fields(at)
        .required("resource", into.of.first)
        .required("metric", into.of.second)
        .required("samples", bytes)
        .done();
    if (at.error) return;
    auto plain = bytes_in(bytes);
    if (plain) into.samples = *std::move(plain);
    else at.fail("samples in base64");
}

void read_value(const json_place& at, stored_windows& into)
{
    if (!at.value.is_array()) return at.fail("an array of windows");
    for (std::size_t n = 0; n != at.value.size() && !at.error; ++n) {
        stored_window w;
        const json_place place = inside(at, at.value[n], std::to_string(n));
        read_value(place, w);
        if (at.error) return;
        if (const auto ok = waybill::load<metric_window>(w.samples, {}); !ok) {
            return place.fail("a window; " + waybill::describe(ok.error()));
        }
        into.all.emplace(std::move(w.of), std::move(w.samples));
    }
}

}  // namespace

std::string settings_of(const rules& r)
{
    std::uint64_t mark = first_mark;
    if (const auto p = scaling::write_policy(r.policy)) mark = marked(mark, p->dump());
    const auto ns = [](waybill::duration d) { return d.count(); };
    mark = marked(mark, fmt::format("{} {} {} {} {}", ns(r.window), ns(r.every), ns(r.delay),
                                    static_cast<int>(r.instances), r.start));
    return fmt::format("{:016x}", mark);
}

std::string text_of(const stored& s, const rules& r)
{
    json windows = json::array();
    for (const auto& [k, bytes] : s.known.windows) {
        windows.push_back(
            {{"resource", k.first}, {"metric", k.second}, {"samples", padded_base64(bytes)}});
    }
    json resources = json::object();
    for (const auto& [name, known] : s.known.resources) resources[name] = json_of(known);
    json all = {{"source", r.source},           {"settings", settings_of(r)},
                {"ticks", s.known.ticks},       {"mark", s.known.mark},
                {"records", s.record_bytes},    {"resources", std::move(resources)},
                {"windows", std::move(windows)}};
    if (s.known.now) all["now"] = *s.known.now;
    const std::string body = all.dump() + "\n";
    return fmt::format("{}{} {:016x}\n{}", what_it_is, version, marked(first_mark, body), body);
}

stored stored_in(std::string_view text, const rules& r)
{
    if (!text.starts_with(what_it_is)) throw complaint("it is no state of an autoscaler");
    const std::size_t end = text.find('\n');
    const std::string_view head = text.substr(what_it_is.size(), end - what_it_is.size());
    const std::size_t space = head.find(' ');
    const auto theirs = support::number_in(head.substr(0, space));
    if (end == text.npos || space == head.npos || !theirs) throw complaint("it is damaged");
    if (*theirs != version) {
        throw complaint(fmt::format("it is of version {}, and this program reads version {}",
                                    *theirs, version));
    }
    const std::string_view body = text.substr(end + 1);
    if (head.substr(space + 1) != fmt::format("{:016x}", marked(first_mark, body))) {
        throw complaint("it is damaged: its checksum is wrong");
    }
    const auto parsed = waybill::parse_json_text(body);
    if (!parsed) throw complaint(waybill::describe(parsed.error()));

    stored s;
    std::string source, settings;
    std::optional<waybill::json_error> error;
    const json_place whole{*parsed, {}, error};
    stored_resources resources{s.known.resources};
    stored_windows windows{s.known.windows};
    json_fields(whole)
        .required("source", source)
        .required("settings", settings)
        .required("ticks", s.known.ticks)
        .required("mark", s.known.mark)
        .required("records", s.record_bytes)
        .required("resources", resources)
        .required("windows", windows)
        .optional("now", s.known.now)
        .done();
    if (error) throw complaint(waybill::describe(*error));
    if (source != r.source) {
        throw complaint(fmt::format("it is that of {}, and this run uses {}", source, r.source));
    }
    if (settings != settings_of(r)) {
        throw complaint("it was made with another policy or other options");
    }
    return s;
}

std::optional<stored> read_state(const std::string& path, const rules& r)
{
    std::error_code e;
    if (!std::filesystem::exists(path, e)) return {};
    const auto fail = [&](std::string_view why) {
        throw complaint(
            fmt::format("the state {} cannot be used: {}; name another file", path, why));
    };
    if (!std::filesystem::is_regular_file(path, e)) fail("it is no regular file");
    errno = 0;
    std::ifstream in(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    if (!in) fail(std::strerror(errno));
    try {
        return stored_in(text, r);
    } catch (const complaint& c) {
        fail(c.what());
        throw;
    }
}

void write_state(const std::string& path, std::string_view text, bool durable)
{
    const std::string fresh = path + ".new";
    const auto fail = [&] {
        throw complaint(
            fmt::format("the state cannot be written to {}: {}", path, std::strerror(errno)));
    };
    const int fd = open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) fail();
    bool ok = true;
    while (ok && !text.empty()) {
        const ssize_t n = write(fd, text.data(), text.size());
        if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
        else ok = n < 0 && errno == EINTR;
    }
    ok = ok && (!durable || fsync(fd) == 0);
    const int error = errno;
    ok = close(fd) == 0 && ok;
    if (!ok) errno = error;
    if (!ok || std::rename(fresh.c_str(), path.c_str()) != 0) fail();
}

}  // namespace autoscaler
