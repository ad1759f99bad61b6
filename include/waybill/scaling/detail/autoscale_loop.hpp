// SPDX-License-Identifier: MIT
//
// autoscale_loop: collects metrics, decides, commands and confirms, round by round. Part of
// `autoscale`.

#ifndef WAYBILL_SCALING_DETAIL_AUTOSCALE_LOOP_HPP
#define WAYBILL_SCALING_DETAIL_AUTOSCALE_LOOP_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/core/detail/driver_clock.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/autoscale_report.hpp>
#include <waybill/scaling/autoscale_state.hpp>
#include <waybill/scaling/check_policy.hpp>
#include <waybill/scaling/command.hpp>
#include <waybill/scaling/decide.hpp>
#include <waybill/scaling/detail/autoscale_calls.hpp>
#include <waybill/scaling/detail/sample_list.hpp>
#include <waybill/scaling/detail/source_value.hpp>
#include <waybill/scaling/known_metrics.hpp>
#include <waybill/scaling/policy.hpp>
#include <waybill/scaling/policy_error.hpp>
#include <waybill/scaling/reading.hpp>

namespace waybill::inline v0_2::scaling::detail {

template <class Sources, class Policy, class Place, class Environment, class Count, class Resize,
          class Observe, class Report>
class autoscale_loop {
    static_assert(checked_calls<Count, Resize, Observe, Environment>::ok);

public:
    autoscale_loop(Sources& sources, const Policy& policy, Place place, Environment& env,
                   Count& count, Resize& resize, Observe& observe, Report& report)
        : sources_(sources),
          policy_(policy),
          place_(std::move(place)),
          clock_(env),
          count_(count),
          resize_(resize),
          observe_(observe),
          report_(report)
    {
    }

    void run(bool once)
    {
        report_.refused = refusal();
        report_.waiting.reset();
        if (report_.refused) return;
        while (true) {
            const steady_time begin = clock_.now();
            if (clock_.stop_requested()) return void(report_.waiting = begin);
            ++report_.rounds;
            if (!make_round()) return void(report_.waiting = begin);
            const steady_time next = begin + policy_.every;
            if (once) return;
            if (!clock_.sleep_until(next)) return void(report_.waiting = next);
        }
    }

private:
    [[nodiscard]] std::optional<policy_error> refusal()
    {
        if (std::optional<policy_error> bad = validate(policy_)) return bad;
        std::optional<policy_error> duplicate;
        names_.clear();
        each_source(sources_, [&](std::string_view metric, auto&) {
            for (const auto& known : names_) {
                if (known != metric || duplicate) continue;
                duplicate =
                    policy_error{"/sources", "a name that no other source has", in_quotes(metric)};
            }
            names_.emplace_back(metric);
            return true;
        });
        if (duplicate) return duplicate;
        if (std::optional<policy_error> bad = unknown_metric(policy_, names_)) return bad;
        return too_many_points(policy_);
    }

    /// False if a stop was requested before the decision.
    [[nodiscard]] bool make_round()
    {
        if (fault f = place_.load(); !f.ok()) {
            fail(report_.load_failures, "load", std::move(f));
            return true;
        }
        note_pending();
        if (!collect() || clock_.stop_requested()) return false;
        const result<std::uint64_t> instances = as_instances(count_());
        const wall_time now = clock_.wall_now();
        autoscale_state& s = place_.get();
        keep_recent(s.metrics, names_, now, policy_.window, max_samples(policy_));
        if (!instances) {
            fail(report_.count_failures, "count", instances.error());
            (void)save();
            return true;
        }
        if (clock_.stop_requested()) return false;
        const auto metrics = readings_of(s.metrics, policy_.window, now);
        act_on(decide(policy_, metrics, s.state, *instances, now));
        return true;
    }

    /// Measures each source once. A failed one adds no sample. False after a stop request.
    [[nodiscard]] bool collect()
    {
        bool go_on = true;
        each_source(sources_, [&](std::string_view metric, auto& measure) {
            go_on = !clock_.stop_requested();
            if (!go_on) return false;
            result<std::optional<double>> value = as_double(measure());
            if (!value) fail(report_.source_failures, metric, std::move(value).error());
            else if (*value) add_sample(place_.get().metrics, metric, {clock_.wall_now(), **value});
            else ++report_.no_values;
            return true;
        });
        return go_on;
    }

    /// Stores the decision, and only then executes its command. If it cannot be stored, it is not
    /// made.
    void act_on(decision d)
    {
        state& s = place_.get().state;
        const state before = s;
        const bool overdue = s.pending && !d.arrived && d.command;
        s.on(d);
        if (fault f = place_.save(); !f.ok()) {
            s = before;
            return fail(report_.save_failures, "save", std::move(f));
        }
        note_pending();  // also if `resize` throws
        if (overdue) ++report_.overdue;
        if (d.arrived) ++report_.applied;
        const std::optional<command> c = d.command;
        const decision& made = add_to_report(std::move(d));
        if (c) execute(*c);
        observe_(made);  // last: if it throws, or takes long, the command is already executed
    }

    void execute(const command& c)
    {
        resized r = call_resize(resize_, c);
        if (r.outcome == resize_outcome::pending) {
            if (!r.failure.ok())
                report_.last_failure = named_failure("resize", std::move(r.failure));
            return;
        }
        state& s = place_.get().state;
        const wall_time now = clock_.wall_now();
        if (r.outcome == resize_outcome::applied) {
            ++report_.applied;
            s.on(applied{c.id}, now);
        } else {
            fail(report_.failed, "resize", std::move(r.failure));
            s.on(failed{c.id}, now);
        }
        note_pending();
        (void)save();
    }

    /// Saves a change that the next round may also save.
    bool save()
    {
        fault f = place_.save();
        if (f.ok()) return true;
        fail(report_.save_failures, "save", std::move(f));
        return false;
    }

    void note_pending() { report_.unconfirmed = place_.get().state.pending ? 1 : 0; }

    const decision& add_to_report(decision&& d)
    {
        std::uint64_t* const counters[]{&report_.steady, &report_.up, &report_.down, &report_.held};
        ++*counters[static_cast<unsigned>(d.verdict)];
        auto& list = report_.decisions;
        if (!list.empty() && d.repeats(list.back())) return list.back() = std::move(d);
        if (list.size() == Report::max_decisions) list.erase(list.begin());
        return list.emplace_back(std::move(d));
    }

    void fail(std::uint64_t& counter, std::string_view name, fault f)
    {
        ++counter;
        report_.last_failure = named_failure(name, std::move(f));
    }

    Sources& sources_;
    const Policy& policy_;
    Place place_;
    waybill::detail::driver_clock<Environment> clock_;
    Count& count_;
    Resize& resize_;
    Observe& observe_;
    Report& report_;
    // Depends on a template parameter, so that including this header instantiates nothing.
    std::vector<std::conditional_t<std::is_void_v<Report>, void, std::string>> names_{};
};

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_AUTOSCALE_LOOP_HPP
