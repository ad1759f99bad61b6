// SPDX-License-Identifier: MIT

#include "verify.hpp"

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "../engines/sqlite.hpp"
#include "../support/program.hpp"
#include "letter_table.hpp"
#include "options.hpp"
#include "shop.hpp"
#include <waybill/core/crc32c.hpp>

namespace order_pipeline {

namespace {

struct effect {
    std::uint64_t place = 0;  // rises in the order in which steps were done
    std::string session{};
    std::string what{};       // it left
};

struct letter {
    std::string session{};
    std::uint64_t sequence = 0;
    std::string reason{};
    std::string text{};
    std::string body{};
    std::uint64_t size = 0;
    std::uint64_t checksum = 0;

    bool is_whole() const { return body.size() == size && waybill::crc32c(body) == checksum; }
};

/// All that there is about one job.
struct case_file {
    std::uint64_t total = 0;
    std::uint64_t checksum = 0;
    std::map<std::uint64_t, effect> done{};  // by step
    std::map<std::uint64_t, letter> parked{};

    /// Null where it was not done.
    const std::string* what(std::uint64_t step) const
    {
        const auto found = done.find(step);
        return found == done.end() ? nullptr : &found->second.what;
    }
};

bool is_order(std::string_view job) { return job.starts_with("order-"); }

/// The job's own, or "order-3~1".
bool is_session_of(const std::string& job, std::string_view session)
{
    if (session == job) return true;
    return session.starts_with(job + "~") && support::number_in(session.substr(job.size() + 1));
}

/// It names this job, and not one whose number begins alike.
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
    audit(const std::string& folder, const std::string& dead_letters)
        : queue_(folder + "/queue.sqlite"),
          shop_(folder + "/shop.sqlite"),
          dead_letters_(dead_letters)
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
        nothing_left("messages", "steps are still in the queue");
        nothing_left("dead", "steps were dead-lettered by the broker itself");
        nothing_left("sessions WHERE state IS NOT NULL", "states are left");
        return std::move(f_);
    }

private:
    void read()
    {
        engines::statement jobs(shop_, "SELECT job, total, checksum FROM jobs");
        for (jobs.query(); jobs.step();) {
            case_file& c = jobs_[jobs.bytes(0)];
            c.total = jobs.size(1);
            c.checksum = jobs.size(2);
        }
        engines::statement effects(shop_,
                                   "SELECT job, step, runs, place, session, what FROM effects");
        for (effects.query(); effects.step();) {
            const std::string job = effects.bytes(0);
            if (!jobs_.contains(job)) complain(job + " has effects, and nobody has ordered it");
            f_.repeated += effects.size(2) - 1;
            jobs_[job].done[effects.size(1)] = {effects.size(3), effects.bytes(4),
                                                effects.bytes(5)};
        }
        engines::statement letters(shop_,
                                   "SELECT CASE generation WHEN 0 THEN session ELSE origin END,"
                                   " step, session, CAST(row_key AS INTEGER), reason, text, body,"
                                   " size, checksum FROM step_letters");
        for (letters.query(); letters.step();) {
            park(letters.bytes(0), letters.size(1),
                 {letters.bytes(2), letters.size(3), letters.bytes(4), letters.bytes(5),
                  letters.bytes(6), letters.size(7), letters.size(8)});
        }
        if (!dead_letters_.empty()) read_azure();
    }

    void read_azure()
    {
        const auto all = engines::azure_table(azure_place(dead_letters_).value()).list();
        if (!all) throw support::complaint(all.error().text);
        for (const waybill::pipeline_dead_letter& l : *all) {
            park(l.origin.generation == 0 ? l.properties.session : l.origin.session, l.properties.step,
                 {l.properties.session, l.sequence, std::string(name(l.reason)), l.text, l.body, l.size,
                  l.checksum});
        }
    }

    void park(const std::string& job, std::uint64_t step, letter l)
    {
        if (!jobs_.contains(job)) complain(job + " has letters, and nobody has ordered it");
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
            // Of a step that ended its process each time nobody knows whether it took effect.
            const bool unsure = l.reason == "ended_process";
            if (done && !unsure) complain(at(job, step) + " is both done and dead-lettered");
            if (l.text.empty()) complain(at(job, step) + " is dead-lettered without a reason");
            const bool own = !is_order(job) || l.checksum == c.checksum;
            if (!l.is_whole() || !own)
                complain(at(job, step) + " is dead-lettered without its body");
        }
        if (goes_beyond(c.done, c.total) || goes_beyond(c.parked, c.total)) {
            complain(job + " has a step too many");
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
            if (e.what.empty()) complain(at(job, step) + " has left nothing");
            if (!is_session_of(job, e.session)) complain(at(job, step) + " ran in " + e.session);
        }
    }

    /// What is done was done one after the other, and what is parked is all of the rest.
    void in_order(const std::string& job, const case_file& c)
    {
        std::uint64_t last = 0;
        for (const auto& [step, e] : c.done) {
            if (e.place < last) complain(at(job, step) + " ran before the one before it");
            last = e.place;
        }
        if (c.parked.empty()) return;
        const std::uint64_t from = c.parked.begin()->first;
        if (c.parked.begin()->second.reason == "session_failed") {
            complain(at(job, from) + " is where it stopped, and nobody says why");
        }
        const letter* before = nullptr;
        for (const auto& [step, l] : c.parked) {
            const bool same = before != nullptr && before->session == l.session;
            if (same && before->sequence >= l.sequence) {
                complain(at(job, step) + " would come back before the one before it");
            }
            before = &l;
            if (step == from) continue;
            if (l.reason != "session_failed") {
                complain(at(job, step) + " is dead-lettered as " + l.reason);
            }
            if (c.done.contains(step)) complain(at(job, step) + " ran after one before it failed");
        }
    }

    /// Each step had what those before it have found out, also in another session.
    void papers(const std::string& job, const case_file& c)
    {
        const std::string* const number = c.what(1);
        const std::string* const receipt = c.what(4);
        const std::string* const mail = c.what(5);
        if (number != nullptr && *number != "W" + job.substr(job.find('-'))) {
            complain(job + " has the number of something else");
        }
        if (receipt != nullptr && !(tells_of(*receipt, job) && contains(*receipt, c.what(2)) &&
                                    contains(*receipt, c.what(3)))) {
            complain(job + " has a receipt of something else");
        }
        if (mail != nullptr && !contains(*mail, receipt)) {
            complain(job + " has a mail without its receipt");
        }
    }

    void nothing_left(const std::string& where, std::string_view what)
    {
        engines::statement count(queue_, "SELECT count(*) FROM " + where);
        const auto n = count.number().value_or(0);
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

    engines::database queue_;
    engines::database shop_;
    std::string dead_letters_;
    std::map<std::string, case_file> jobs_{};
    findings f_{};
};

}  // namespace

findings verify(const std::string& folder, const std::string& dead_letters)
{
    return audit(folder, dead_letters).run();
}

}  // namespace order_pipeline
