// SPDX-License-Identifier: MIT

#include "jobs.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "../support/lines.hpp"
#include "shop.hpp"
#include <waybill/batch.hpp>
#include <waybill/core/crc32c.hpp>
#include <waybill/session.hpp>

namespace order_pipeline {

namespace {

using clock = std::chrono::steady_clock;

/// The lines that are orders, or products, as they stand there.
std::vector<std::string> payloads_in(const options& o)
{
    std::vector<std::string> all;
    support::line_source file(o.input);
    bool too_long = false;
    for (std::string line; all.size() != o.most && file.next(line, too_long);) {
        if (too_long) continue;
        const auto parsed = nlohmann::json::parse(line, nullptr, false);
        if (parsed.is_object() && parsed.contains("package") && parsed.contains("dirs")) {
            all.push_back(std::move(line));
        }
    }
    return all;
}

engines::session_message message_of(const waybill::step_stamp& s, const std::string& body)
{
    engines::session_message m{
        .session = s.session, .id = fmt::format("{}/{}", s.session, s.step), .body = body};
    waybill::write_stamp(s, {}, [&](std::string_view name, std::string_view value) {
        m.properties.emplace(name, value);
    });
    return m;
}

waybill::job job_of(std::string id, std::uint64_t steps)
{
    auto made = waybill::job::make(std::move(id), steps);
    if (!made) throw support::complaint(text(made.error()));
    return *std::move(made);
}

}  // namespace

sent_messages send_in_order(world& w, std::span<const engines::session_message> messages)
{
    // What does not arrive keeps the rest of its session back, and nobody else's.
    waybill::sender sender({.limit = {.bytes = queue_options.batch_bytes,
                                      .envelope = engines::sqlite_sessions::envelope},
                            .exact_sizes = true,
                            .ordered = true});
    const auto size = [](const engines::session_message& m) {
        return waybill::queued{engines::sqlite_sessions::size_of(m), waybill::crc32c(m.session)};
    };
    waybill::send_report report;
    do {
        if (report.waiting) std::this_thread::sleep_until(clock::time_point(*report.waiting));
        report += waybill::send_all(messages, size, sender, &clock::now,
                                    [&](const auto& batch) { return w.queue.send(batch); });
    } while (report.waiting);

    sent_messages sent{messages.size(), report.sends, {}};
    for (const waybill::item_report& r : report.outcomes) {
        const bool arrived = r.outcome == waybill::item_outcome::accepted;
        if (arrived || r.items.first >= sent.accepted) continue;
        sent.accepted = r.items.first;
        const bool never = r.outcome == waybill::item_outcome::too_large;
        sent.why = {never ? waybill::fault_class::permanent : r.how, text(r)};
    }
    return sent;
}

taken_jobs take_jobs(world& w, const options& o)
{
    const std::vector<std::string> payloads = payloads_in(o);
    std::vector<waybill::job> jobs;
    std::vector<engines::session_message> messages;
    if (o.import) {
        const std::uint64_t imports = waybill::lesser(o.imports, payloads.size());
        for (std::uint64_t n = 0; n != imports; ++n) {
            const std::uint64_t from = payloads.size() * n / imports;
            const std::uint64_t to = payloads.size() * (n + 1) / imports;
            const std::string id = fmt::format("import-{}", n + 1);
            waybill::job& job = jobs.emplace_back(job_of(id, to - from));
            for (std::uint64_t at = from; at != to; ++at) {
                messages.push_back(message_of(job.next(), payloads[at]));
            }
        }
    } else {
        for (const std::string& payload : payloads) {
            const std::string id = fmt::format("order-{}", jobs.size() + 1);
            waybill::job& job = jobs.emplace_back(job_of(id, steps_of_an_order));
            while (!job.complete()) messages.push_back(message_of(job.next(), payload));
        }
    }

    // Who is to have what is known before anything is sent.
    make_tables(w.shop_file).exec("BEGIN IMMEDIATE");
    engines::statement add(w.shop_file, "INSERT OR IGNORE INTO jobs (job, total) VALUES (?, ?)");
    for (const waybill::job& j : jobs) add.run(j.id(), j.total());
    w.shop_file.exec("COMMIT");

    const sent_messages sent = send_in_order(w, messages);
    if (sent.accepted != messages.size()) {
        throw support::complaint("the queue does not take all steps: " + sent.why.text);
    }
    return {jobs.size(), messages.size(), sent.batches};
}

}  // namespace order_pipeline
