// SPDX-License-Identifier: MIT

#include "verify.hpp"

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../support/program.hpp"
#include "audit_rows.hpp"
#include "letter_table.hpp"
#include "options.hpp"
#include "shop.hpp"
#include <waybill/core/crc32c.hpp>

namespace order_pipeline {

namespace {

using effect = audit_rows::effect;
using letter = audit_rows::letter;

bool is_whole(const letter& l)
{
    return l.body.size() == l.size && waybill::crc32c(l.body) == l.checksum;
}

/// All rows of one job.
struct case_file {
    std::uint64_t total = 0;
    std::uint64_t checksum = 0;
    std::map<std::uint64_t, effect> done{};  // by step
    std::map<std::uint64_t, letter> parked{};

    /// Null if the step was not done.
    const std::string* what(std::uint64_t step) const
    {
        const auto found = done.find(step);
        return found == done.end() ? nullptr : &found->second.what;
    }
};

bool is_order(std::string_view job)
{
    return job.starts_with("order-");
}

/// True for the job's name and for those of its redrives, "order-3~1".
bool is_session_of(const std::string& job, std::string_view session)
{
    if (session == job) return true;
    return session.starts_with(job + "~") && support::number_in(session.substr(job.size() + 1));
}

/// True if the text contains this job, and not only one with a longer number.
bool tells_of(const std::string& text, const std::string& job)
{
    const std::size_t at = text.find(job);
    if (at == text.npos) return false;
    const std::size_t end = at + job.size();
    return end == text.size() || text[end] < '0' || text[end] > '9';
}

bool contains(const std::string& text, const std::string* part)
{
    return part != nullptr && !part->empty() && text.find(*part) != text.npos;
}

class audit {
public:
    audit(audit_rows rows, const std::string& dead_letters)
        : rows_(std::move(rows)), dead_letters_(dead_letters)
    {
    }

    findings run()
    {
        read();
        for (const auto& [job, c] : jobs_) {
            const bool fits = is_order(job) ? c.total == steps_of_an_order : c.total <= most_jobs;
            if (!fits) {
                complain(fmt::format("{} has {} steps", job, c.total));
                continue;
            }
            each_step(job, c);
            each_effect(job, c);
            if (!is_order(job)) continue;
            in_order(job, c);
            papers(job, c);
        }
        nothing_left(rows_.messages, "steps are still in the queue");
        nothing_left(rows_.dead, "steps were dead-lettered by the broker itself");
        nothing_left(rows_.states, "session states are left");
        return std::move(f_);
    }

private:
    void read()
    {
        for (const audit_rows::job& j : rows_.jobs) {
            case_file& c = jobs_[j.job];
            c.total = j.total;
            c.checksum = j.checksum;
        }
        for (effect& e : rows_.effects) {
            if (!jobs_.contains(e.job)) complain(e.job + " has effects, but no order");
            if (rows_.once && e.runs != 1) complain(at(e.job, e.step) + " took effect twice");
            f_.repeated += e.runs - 1;
            const auto [job, step] = std::pair(e.job, e.step);
            jobs_[job].done[step] = std::move(e);
        }
        for (letter& l : rows_.letters) park(std::move(l));
        if (!dead_letters_.empty()) read_azure();
    }

    void read_azure()
    {
        const auto all = azure_letters(dead_letters_)->list();
        if (!all) throw support::complaint(all.error().text);
        for (const waybill::pipeline_dead_letter& l : *all) {
            park({l.origin.generation == 0 ? l.properties.session : l.origin.session,
                  l.properties.step, l.properties.session, l.sequence, std::string(name(l.reason)),
                  l.text, l.body, l.size, l.checksum});
        }
    }

    void park(letter l)
    {
        const auto [job, step] = std::pair(l.job, l.step);
        if (!jobs_.contains(job)) complain(job + " has dead letters, but no order");
        if (!jobs_[job].parked.emplace(step, std::move(l)).second) {
            complain(at(job, step) + " is dead-lettered twice");
        }
    }

    void each_step(const std::string& job, const case_file& c)
    {
        for (std::uint64_t step = 1; step <= c.total; ++step) {
            const bool done = c.done.contains(step);
            const auto parked = c.parked.find(step);
            const bool dead = parked != c.parked.end();
            if (!done && !dead) complain(at(job, step) + " is lost");
            if (!dead) continue;
            const letter& l = parked->second;
            // If a step ended its process at each run, its effect is unknown.
            const bool unsure = l.reason == "ended_process";
            if (done && !unsure) complain(at(job, step) + " is both done and dead-lettered");
            if (l.text.empty()) complain(at(job, step) + " is dead-lettered without a reason");
            const bool own = !is_order(job) || l.checksum == c.checksum;
            if (!is_whole(l) || !own)
                complain(at(job, step) + " is dead-lettered without its body");
        }
        if (goes_beyond(c.done, c.total) || goes_beyond(c.parked, c.total)) {
            complain(fmt::format("{} has a step outside of 1 to {}", job, c.total));
        }
    }

    template <class Steps>
    static bool goes_beyond(const Steps& steps, std::uint64_t total)
    {
        return !steps.empty() && (steps.begin()->first == 0 || steps.rbegin()->first > total);
    }

    void each_effect(const std::string& job, const case_file& c)
    {
        for (const auto& [step, e] : c.done) {
            if (e.what.empty()) complain(at(job, step) + " has no result");
            if (!is_session_of(job, e.session)) complain(at(job, step) + " ran in " + e.session);
        }
    }

    /// Steps were done in order, and all steps from the failed one on are dead-lettered.
    void in_order(const std::string& job, const case_file& c)
    {
        std::uint64_t last = 0;
        for (const auto& [step, e] : c.done) {
            if (e.place < last) complain(at(job, step) + " ran before the previous step");
            last = e.place;
        }
        if (c.parked.empty()) return;
        const std::uint64_t from = c.parked.begin()->first;
        if (c.parked.begin()->second.reason == "session_failed") {
            complain(at(job, from) + " stopped the job, but has no reason of its own");
        }
        const letter* before = nullptr;
        for (const auto& [step, l] : c.parked) {
            const bool same = before != nullptr && before->session == l.session;
            if (same && before->sequence >= l.sequence) {
                complain(at(job, step) + " would be redriven before the previous step");
            }
            before = &l;
            if (step == from) continue;
            if (l.reason != "session_failed") {
                complain(at(job, step) + " is dead-lettered as " + l.reason);
            }
            if (c.done.contains(step))
                complain(at(job, step) + " ran after an earlier step failed");
        }
    }

    /// Each step had the results of earlier steps, also after a redrive.
    void papers(const std::string& job, const case_file& c)
    {
        const std::string* const number = c.what(1);
        const std::string* const receipt = c.what(4);
        const std::string* const mail = c.what(5);
        if (number != nullptr && *number != "W" + job.substr(job.find('-'))) {
            complain(job + " has a number that is not its own");
        }
        if (receipt != nullptr && !(tells_of(*receipt, job) && contains(*receipt, c.what(2)) &&
                                    contains(*receipt, c.what(3)))) {
            complain(job + " has a receipt that is not its own");
        }
        if (mail != nullptr && !contains(*mail, receipt)) {
            complain(job + " has a mail without its receipt");
        }
    }

    void nothing_left(std::uint64_t n, std::string_view what)
    {
        if (n != 0) complain(fmt::format("{} {}", n, what));
    }

    static std::string at(const std::string& job, std::uint64_t step)
    {
        return fmt::format("{}, step {}", job, step);
    }

    void complain(std::string what)
    {
        if (f_.wrong.size() < 20) f_.wrong.push_back(std::move(what));
    }

    audit_rows rows_;
    std::string dead_letters_;
    std::map<std::string, case_file> jobs_{};
    findings f_{};
};

}  // namespace

findings verify(const options& o)
{
    return audit(o.sessions.empty() ? read_sqlite(o) : read_postgres(o), o.dead_letters).run();
}

}  // namespace order_pipeline
