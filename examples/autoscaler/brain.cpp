// SPDX-License-Identifier: MIT

#include "brain.hpp"

#include <utility>

#include <fmt/format.h>

#include "../support/program.hpp"

namespace autoscaler {

namespace {

constexpr std::uint64_t most_windows = 10'000;

/// The stored windows, without idle ones.
metric_windows loaded(const memory& m, const rules& r)
{
    metric_windows all{{.window = r.window_options(), .max_keys = most_windows}};
    for (const auto& [k, bytes] : m.windows) {
        const auto w = waybill::load<metric_window>(bytes, r.window_options());
        if (!w) throw support::complaint("a window in the state: " + waybill::describe(w.error()));
        all.merge(k, *w);
    }
    if (m.now) all.evict_idle(*m.now);
    return all;
}

void store(memory& m, const metric_windows& all)
{
    m.windows.clear();
    all.for_each_window(
        [&](const key& k, const metric_window& w) { m.windows.emplace(k, waybill::save(w)); });
}

/// The reason if a row was refused, late or replaced another one; otherwise empty.
std::string remark(const std::optional<waybill::insert_result>& what)
{
    if (!what) return fmt::format("is of a further metric, the limit is {}", most_windows);
    switch (*what) {
        case waybill::insert_result::newest: return {};
        case waybill::insert_result::late:
            return "is not in order of time, and counts at its own time";
        case waybill::insert_result::replaced:
            return "has the time of an earlier row, and replaces it";
        case waybill::insert_result::too_old: return "is too old for the window";
        case waybill::insert_result::future:
        case waybill::insert_result::not_finite:
        case waybill::insert_result::no_weight: break;
    }
    return std::string(name(*what));
}

void take_rows(memory& m, metric_windows& all, const rules& r, const tick& t, intake& in)
{
    for (const row& x : t.rows) {
        const auto what = all.insert({x.resource, x.metric}, x.at, x.value);
        if (const std::string why = remark(what); !why.empty()) reject(in.remarks, why, x.line);
        if (!what || *what > waybill::insert_result::replaced) continue;
        in.samples[{x.resource, x.metric}][x.at] = x.value;
        resource_memory& known = m.resources[x.resource];
        if (r.instances == instances_are::recorded && x.instances) known.instances = x.instances;
    }
    if (!r.resource.empty()) m.resources[r.resource];
    for (const head_count& h : t.counted) m.resources[h.resource].instances = h.instances;
    for (const answer& a : t.answers) {
        scaling::state& s = m.resources[a.resource].state;
        if (a.done) s.on(scaling::applied{a.id}, a.at);
        else s.on(scaling::failed{a.id}, a.at);
    }
}

/// Applies a simulated command that is due.
void finish(resource_memory& known, waybill::wall_time now)
{
    if (!known.order || now < known.order->due) return;
    known.state.on(scaling::applied{known.order->what.id}, known.order->due);
    known.instances = known.order->what.to;
    known.order.reset();
}

}  // namespace

std::vector<decided> step(memory& m, const rules& r, const tick& t, intake& in)
{
    metric_windows all = loaded(m, r);
    take_rows(m, all, r, t, in);

    std::map<std::string, std::vector<scaling::reading>> metrics;
    all.for_each(t.now, [&](const key& k, const metric_windows::summary& s) {
        metrics[k.first].push_back(scaling::read(k.second, s));
    });

    std::vector<decided> out;
    for (auto& [resource, known] : m.resources) {
        finish(known, t.now);
        if (r.instances == instances_are::simulated && !known.instances) known.instances = r.start;
        if (!known.instances) continue;
        const std::vector<scaling::reading>& readings = metrics[resource];
        decided d{.resource = resource};
        d.what = scaling::decide(r.policy, readings, known.state, *known.instances, t.now);
        known.state.on(d.what);
        if (d.what.command && r.instances == instances_are::simulated) {
            known.order = under_way{*d.what.command, t.now + r.delay};
            finish(known, t.now);
        }
        d.after = *known.instances;
        for (const scaling::reading& x : readings) {
            d.seen.push_back({std::string(x.metric), x.points, x.value(scaling::statistic::mean),
                              x.value(scaling::statistic::highest)});
        }
        std::string said(name(d.what.verdict));
        if (d.what.verdict == scaling::verdict::held) said += fmt::format(" {}", name(d.what.why));
        d.news = d.what.command.has_value() || known.said != said;
        known.said = std::move(said);
        out.push_back(std::move(d));
    }
    store(m, all);
    ++m.ticks;
    m.now = t.now;
    m.mark = t.mark;
    return out;
}

}  // namespace autoscaler
