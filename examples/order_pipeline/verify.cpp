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

namespace order_pipeline {

namespace {

struct letter {
    std::string reason{};
    std::string text{};
    bool has_body = false;
};

/// All that there is about one job.
struct case_file {
    std::uint64_t total = 0;
    std::map<std::uint64_t, std::uint64_t> done{};  // by step, when it was first
    std::map<std::uint64_t, std::string> what{};    // it left
    std::map<std::uint64_t, letter> parked{};
};

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
            each_step(job, c);
            if (job.starts_with("order-")) in_order(job, c);
            receipt(job, c);
        }
        nothing_left("messages", "steps are still in the queue");
        nothing_left("dead", "steps were parked by the broker itself");
        nothing_left("sessions WHERE state IS NOT NULL", "states are left");
        return std::move(f_);
    }

private:
    void read()
    {
        engines::statement jobs(shop_, "SELECT job, total FROM jobs");
        for (jobs.query(); jobs.step();) jobs_[jobs.bytes(0)].total = jobs.size(1);
        engines::statement effects(shop_, "SELECT job, step, place, runs, what FROM effects");
        for (effects.query(); effects.step();) {
            const std::string job = effects.bytes(0);
            f_.repeated += effects.size(3) - 1;
            if (!jobs_.contains(job)) complain(job + " has effects, and nobody has ordered it");
            case_file& c = jobs_[job];
            c.done[effects.size(1)] = effects.size(2);
            c.what[effects.size(1)] = effects.bytes(4);
        }
        engines::statement letters(shop_,
                                   "SELECT CASE generation WHEN 0 THEN session ELSE origin END,"
                                   " step, reason, text, length(body) FROM step_letters");
        for (letters.query(); letters.step();) {
            park(letters.bytes(0), letters.size(1),
                 {letters.bytes(2), letters.bytes(3), letters.integer(4) != 0});
        }
        if (!dead_letters_.empty()) read_azure();
    }

    void read_azure()
    {
        const auto all = engines::azure_table(azure_place(dead_letters_).value()).list();
        if (!all) throw support::complaint(all.error().text);
        for (const waybill::step_letter& l : *all) {
            park(l.origin.generation == 0 ? l.stamp.session : l.origin.session, l.stamp.step,
                 {std::string(name(l.reason)), l.text, !l.body.empty()});
        }
    }

    void park(const std::string& job, std::uint64_t step, letter l)
    {
        if (!jobs_.contains(job)) complain(job + " has letters, and nobody has ordered it");
        if (!jobs_[job].parked.emplace(step, std::move(l)).second) {
            complain(at(job, step) + " is parked twice");
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
            const bool unsure = l.reason == "ended_process" || l.reason == "exhausted";
            if (done && !unsure) complain(at(job, step) + " is both done and parked");
            if (l.text.empty()) complain(at(job, step) + " is parked without a reason");
            if (!l.has_body) complain(at(job, step) + " is parked without its body");
        }
        const bool more = !c.done.empty() && c.done.rbegin()->first > c.total;
        const bool dead = !c.parked.empty() && c.parked.rbegin()->first > c.total;
        if (more || dead) complain(job + " has a step too many");
    }

    /// What is done was done one after the other, and what is parked is all of the rest.
    void in_order(const std::string& job, const case_file& c)
    {
        std::uint64_t last = 0;
        for (const auto& [step, place] : c.done) {
            if (place < last) complain(at(job, step) + " ran before the one before it");
            last = place;
        }
        if (c.parked.empty()) return;
        const std::uint64_t from = c.parked.begin()->first;
        if (c.parked.begin()->second.reason == "session_failed") {
            complain(at(job, from) + " is where it stopped, and nobody says why");
        }
        for (const auto& [step, l] : c.parked) {
            if (step == from) continue;
            if (l.reason != "session_failed") {
                complain(at(job, step) + " is parked as " + l.reason);
            }
            if (c.done.contains(step)) complain(at(job, step) + " ran after one before it failed");
        }
    }

    /// Each step had what those before it have found out, also in another session.
    void receipt(const std::string& job, const case_file& c)
    {
        const auto what = [&](std::uint64_t step) {
            const auto found = c.what.find(step);
            return found == c.what.end() ? std::string_view() : std::string_view(found->second);
        };
        if (!job.starts_with("order-") || what(4).empty()) return;
        if (what(4).find(what(2)) == std::string_view::npos ||
            what(4).find(what(3)) == std::string_view::npos) {
            complain(job + " has a receipt of something else");
        }
        const bool mailed = what(5).empty() || what(5).find(what(4)) != std::string_view::npos;
        if (!mailed) complain(job + " has a mail without its receipt");
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
