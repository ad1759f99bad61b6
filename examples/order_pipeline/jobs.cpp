// SPDX-License-Identifier: MIT

#include "jobs.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/environment.hpp"
#include "../support/lines.hpp"
#include "shop.hpp"
#include <waybill/batch.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/session.hpp>

namespace order_pipeline {

namespace {

/// The orders or products of the input, and the number of other lines.
struct input_lines {
    std::vector<std::string> payloads{};
    std::uint64_t too_long = 0;
    std::uint64_t no_json = 0;
    std::uint64_t no_order = 0;
    std::uint64_t beyond = 0;
};

void take_line(input_lines& all, std::string& line, std::uint64_t most)
{
    const auto parsed = nlohmann::json::parse(line, nullptr, false);
    if (parsed.is_discarded()) ++all.no_json;
    else if (!parsed.contains("package") || !parsed.contains("dirs")) ++all.no_order;
    else if (all.payloads.size() == most) ++all.beyond;
    else all.payloads.push_back(std::move(line));
}

input_lines lines_of(const options& o)
{
    input_lines all;
    support::line_source file(o.input);
    bool too_long = false;
    for (std::string line; file.next(line, too_long);) {
        if (too_long) ++all.too_long;
        else if (!support::is_blank(line)) take_line(all, line, o.most);
    }
    return all;
}

/// "left out: 2 that are no JSON, 1 longer than 65,536 bytes", or nothing.
std::string left_out(const input_lines& all, std::uint64_t most)
{
    std::string text;
    const auto add = [&](std::uint64_t lines, std::string_view what) {
        if (lines == 0) return;
        text += fmt::format("{}{} {}", text.empty() ? "lines left out: " : ", ",
                            support::grouped(lines), what);
    };
    add(all.no_json, "no JSON");
    add(all.no_order, "without \"package\" and \"dirs\"");
    add(all.too_long, fmt::format("longer than {} bytes", support::grouped(support::longest_line)));
    add(all.beyond, fmt::format("after the first {}", support::grouped(most)));
    return text;
}

engines::session_message message_of(const waybill::step_properties& s, const std::string& body)
{
    engines::session_message m{
        .session = s.session, .id = fmt::format("{}/{}", s.session, s.step), .body = body};
    waybill::write_step_properties(s, {}, [&](std::string_view name, std::string_view value) {
        m.properties.emplace(name, value);
    });
    return m;
}

waybill::job job_of(std::string id, std::uint64_t steps)
{
    auto made = waybill::job::make(std::move(id), steps);
    if (!made) throw support::complaint(describe(made.error()));
    return *std::move(made);
}

/// A job, and the checksum of its content.
struct summed_job {
    waybill::job job;
    std::uint32_t checksum = 0;
};

/// Jobs, and the messages of their steps.
struct job_list {
    std::vector<summed_job> jobs{};
    std::vector<engines::session_message> messages{};

    summed_job& add(std::string id, std::uint64_t steps)
    {
        return jobs.emplace_back(summed_job{job_of(std::move(id), steps)});
    }
    void add_step(summed_job& j, const std::string& payload)
    {
        messages.push_back(message_of(j.job.next(), payload));
    }
};

job_list orders_of(const std::vector<std::string>& payloads)
{
    job_list w;
    for (const std::string& payload : payloads) {
        summed_job& order = w.add(fmt::format("order-{}", w.jobs.size() + 1), steps_of_an_order);
        order.checksum = waybill::crc32c(payload);
        while (!order.job.complete()) w.add_step(order, payload);
    }
    return w;
}

job_list imports_of(const std::vector<std::string>& payloads, std::uint64_t imports)
{
    job_list w;
    for (std::uint64_t n = 0; n != imports; ++n) {
        const std::uint64_t from = payloads.size() * n / imports;
        const std::uint64_t to = payloads.size() * (n + 1) / imports;
        summed_job& import = w.add(fmt::format("import-{}", n + 1), to - from);
        for (std::uint64_t at = from; at != to; ++at) {
            import.checksum = waybill::crc32c(payloads[at], import.checksum);
            w.add_step(import, payloads[at]);
        }
    }
    return w;
}

/// Stores the expected effects before any message is sent. Returns the number of known jobs.
std::uint64_t write_down(shop_tables& tables, const std::vector<summed_job>& jobs)
{
    std::vector<job_row> rows;
    for (const summed_job& j : jobs) rows.push_back({j.job.id(), j.job.total(), j.checksum});
    return tables.add(rows);
}

}  // namespace

sent_messages send_in_order(shop_services& w, std::span<const engines::session_message> messages)
{
    // A message that is not sent blocks the rest of its session, and no other session.
    waybill::batch_sender sender({.limit = {.bytes = queue_options.batch_bytes,
                                            .envelope = engines::session_batch_envelope,
                                            .answers_per_entry = false},
                                  .exact_sizes = true,
                                  .ordered = true});
    const auto size = [](const engines::session_message& m) {
        return waybill::batch_sender::queued{engines::size_in_batch(m), waybill::crc32c(m.session)};
    };
    const auto transmit = [&](const auto& batch) {
        std::vector<engines::session_message> all;
        for (const engines::session_message& m : batch) all.push_back(m);
        return w.queue.send(all);
    };
    support::standard_environment env;
    const waybill::send_report report = waybill::send_all(messages, size, sender, transmit, env);

    sent_messages sent{messages.size(), report.sends, {}};
    for (const waybill::item_report& r : report.outcomes) {
        const bool arrived = r.outcome == waybill::item_outcome::accepted;
        if (arrived || r.items.first >= sent.accepted) continue;
        sent.accepted = r.items.first;
        const bool never = r.outcome == waybill::item_outcome::too_large;
        sent.why = {never ? waybill::fault_kind::permanent : r.kind, describe(r)};
    }
    return sent;
}

taken_jobs take_jobs(shop_services& w, const options& o)
{
    const input_lines lines = lines_of(o);
    const std::uint64_t imports = std::min<std::uint64_t>(o.imports, lines.payloads.size());
    const job_list all = o.import ? imports_of(lines.payloads, imports) : orders_of(lines.payloads);
    const std::uint64_t known = write_down(w.tables, all.jobs);
    const sent_messages sent = send_in_order(w, all.messages);
    if (sent.accepted != all.messages.size()) {
        throw support::complaint("the queue has not accepted all steps: " + sent.why.text);
    }
    return {all.jobs.size(), known, all.messages.size(), sent.batches, left_out(lines, o.most)};
}

}  // namespace order_pipeline
