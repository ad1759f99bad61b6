// SPDX-License-Identifier: MIT

#include "returning.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "jobs.hpp"
#include "order_codec.hpp"
#include "shop.hpp"
#include <waybill/core/match.hpp>
#include <waybill/session.hpp>

namespace order_pipeline {

namespace {

using clock = std::chrono::steady_clock;
using letter_list = std::vector<waybill::pipeline_dead_letter>;

/// The state of a session; empty if it has none, or if a worker holds the session.
std::string state_of(shop_services& w, const std::string& session)
{
    const auto lock = w.queue.accept(session);
    if (!lock || !*lock) return {};
    const auto bytes = w.queue.state(**lock);
    static_cast<void>(w.queue.close(**lock));
    return bytes ? bytes->value_or("") : std::string();
}

/// The dead letter for a message that the broker has dead-lettered.
waybill::pipeline_dead_letter letter_of(shop_services& w, const engines::session_message& m)
{
    const auto codec = order_codec();
    const auto read =
        waybill::read_step_properties([&](auto name) { return m.find(name); }, m.session);
    const auto came = waybill::wall_time::at(waybill::duration::milliseconds(m.enqueued));
    const std::string bytes = state_of(w, m.session);
    const auto state = codec.decode(bytes.empty() ? std::nullopt : std::optional(bytes));
    const bool known = state.outcome == waybill::state_read::ok;
    return make_broker_dead_letter(
        {read.properties, read.origin, m.sequence, m.id, m.body, came, bytes}, m.dead_for,
        m.deliveries, known ? &state.progress : nullptr, wall(),
        {.mode = policy_of(m.session).mode});
}

/// Turns the broker's dead letters into letters of the pipeline. One that cannot be written stays
/// in the broker.
void drain(shop_services& w)
{
    std::set<std::uint64_t> seen;
    for (;;) {
        const auto dead = w.queue.receive_dead();
        if (!dead) throw support::complaint(dead.error().text);
        if (!*dead || !seen.insert((*dead)->sequence).second) return;
        const engines::session_message& m = **dead;
        const waybill::pipeline_dead_letter letter = letter_of(w, m);
        waybill::fault last;
        waybill::dead_letter_import one(m.deliveries);
        while (!one.over()) {
            waybill::match(
                one.next(clock::now()),
                [&](waybill::pipeline::write_dead_letter) {
                    last = w.letters.upsert(letter);
                    one.on(waybill::pipeline::step_dead_lettered{last.kind}, clock::now());
                },
                [&](waybill::complete) {
                    last = w.queue.complete_dead(m);
                    one.on(waybill::pipeline::completed{last.kind}, clock::now());
                },
                [](waybill::idle) {});
        }
        if (one.outcome() == waybill::dead_letter_import::import_outcome::drained) continue;
        support::say(
            fmt::format("order_pipeline: {} was dead-lettered by the broker, and is {}: "
                        "{}\n",
                        m.id, name(one.outcome()), last.text));
    }
}

/// Adds the letters that `drain` would write, without any change.
void drain_into(letter_list& all, shop_services& w)
{
    std::uint64_t after = 0;
    for (;;) {
        const auto dead = w.queue.peek_dead(after);
        if (!dead) throw support::complaint(dead.error().text);
        if (!*dead) return;
        after = (*dead)->sequence;
        waybill::pipeline_dead_letter letter = letter_of(w, **dead);
        const auto there = std::find_if(all.begin(), all.end(), [&](const auto& l) {
            return l.sequence == letter.sequence &&
                   l.properties.session == letter.properties.session;
        });
        if (there == all.end()) all.push_back(std::move(letter));
        else *there = waybill::pipeline_dead_letter::merged(*there, std::move(letter));
    }
}

engines::session_message message_of(const waybill::redrive_plan& plan, const letter_list& all,
                                    std::uint64_t n)
{
    const waybill::redrive_plan::planned_message s = plan.step(all, n);
    engines::session_message m{
        .session = s.properties.session, .id = s.message_id, .body = all[n].body};
    waybill::write_step_properties(
        s.properties, s.origin,
        [&](std::string_view name, std::string_view value) { m.properties.emplace(name, value); });
    return m;
}

waybill::redrive::resubmitted resubmit(shop_services& w, const waybill::redrive_plan& plan,
                                       const letter_list& all, const waybill::redrive::resubmit& a,
                                       returned& r)
{
    std::vector<engines::session_message> messages;
    for (std::uint64_t n = 0; n != a.count; ++n) {
        messages.push_back(message_of(plan, all, a.offset + n));
    }
    const sent_messages sent = send_in_order(w, messages);
    r.batches += sent.batches;
    if (!sent.why.ok()) support::say(fmt::format("order_pipeline: {}\n", sent.why.text));
    return {sent.accepted, sent.why.kind};
}

waybill::fault_kind mark_sent(shop_services& w, const waybill::redrive_plan& plan,
                              const letter_list& all, const waybill::redrive::mark_sent& a)
{
    letter_list marked;
    for (std::uint64_t s = a.session; s != a.session + a.count; ++s) {
        if (plan.sessions[s].mark_before_removal) marked.push_back(plan.marked(all, s));
    }
    return w.letters.mark(marked).kind;
}

/// Prints all skipped letters, and at most `most` of those that are sent.
void say_plan(const waybill::redrive_plan& plan, const letter_list& all, std::size_t most)
{
    std::size_t sent = 0;
    for (const waybill::redrive_plan::planned_session& s : plan.sessions) {
        if (s.reason != waybill::redrive_plan::skip_reason::none || ++sent <= most)
            fmt::print("  {}\n", describe(s, all));
    }
    if (sent > most) fmt::print("  ... and {} more\n", support::counted(sent - most, "session"));
    fmt::print("  {}\n", describe(plan));
}

}  // namespace

returned bring_back(shop_services& w, const options& o)
{
    if (!o.dry_run) drain(w);
    auto listed = w.letters.list();
    if (!listed) throw support::complaint("the letters cannot be read: " + listed.error().text);
    letter_list all = *std::move(listed);
    if (o.dry_run) drain_into(all, w);
    constexpr std::uint64_t chunk = 100;
    const waybill::redrive_plan::options how{.removed_at_once =
                                                 std::min(chunk, w.letters.removed_at_once())};
    const waybill::redrive_plan plan =
        waybill::plan_redrive(all, {.failed_step = o.failed_step}, how);
    say_plan(plan, all, o.dry_run ? all.size() : 6);
    returned r;
    if (o.dry_run) return r;

    waybill::redrive run(plan, {.chunk = chunk});
    while (!run.over()) {
        const std::span<const waybill::pipeline_dead_letter> each(all);
        waybill::match(
            run.next(clock::now()),
            [&](waybill::redrive::resubmit a) {
                run.on(resubmit(w, plan, all, a, r), clock::now());
            },
            [&](waybill::redrive::mark_sent a) {
                run.on(waybill::redrive::sessions_marked{mark_sent(w, plan, all, a)}, clock::now());
            },
            [&](waybill::redrive::remove_dead_letters a) {
                const waybill::fault f = w.letters.remove(each.subspan(a.offset, a.count));
                run.on(waybill::redrive::dead_letters_removed{f.ok() ? a.count : 0, f.kind},
                       clock::now());
            },
            [](waybill::wait_until a) { std::this_thread::sleep_until(clock::time_point(a.time)); },
            [](waybill::idle) {});
    }
    for (const waybill::redrive_plan::planned_session& s : plan.sessions) {
        if (s.reason == waybill::redrive_plan::skip_reason::none) ++r.sessions;
    }
    r.letters = run.removed();
    if (run.outcome() != waybill::redrive::redrive_outcome::finished || !run.refused().empty()) {
        throw support::complaint(
            fmt::format("the redrive has {}: {}", name(run.outcome()), name(run.reason())));
    }
    return r;
}

}  // namespace order_pipeline
