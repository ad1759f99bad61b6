// SPDX-License-Identifier: MIT

#include "history.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "state_file.hpp"
#include <waybill/core/time_text.hpp>

namespace autoscaler {

history replayed(std::span<const tick> ticks, const rules& r, const memory& start)
{
    history h{.start = start, .known = start};
    const std::size_t seldom = 1 + ticks.size() / 1000;
    for (std::size_t n = 0; n != ticks.size(); ++n) {
        if (n % seldom == 0) h.known = stored_in(text_of({h.known}, r), r).known;
        h.made.push_back(step(h.known, r, ticks[n], h.rows));
    }
    return h;
}

namespace {

using waybill::wall_time;

/// The rows of the last minutes, kept without a sliding window.
class plain_rows {
public:
    explicit plain_rows(const memory& m) : last_(m.now)
    {
        for (const auto& [k, bytes] : m.windows) {
            const auto w = waybill::load<metric_window>(bytes, {});
            for (std::uint64_t n = 0; w && n != w->size(); ++n) {
                rows_[k][(*w)[n].at] = (*w)[n].value;
            }
        }
    }

    void take(const tick& t, waybill::duration window)
    {
        for (const row& r : t.rows) {
            // A row that was too old for the last decision is in no window.
            if (last_ && *last_ - r.at >= window) continue;
            rows_[{r.resource, r.metric}][r.at] = r.value;
        }
        last_ = t.now;
        for (auto& [k, rows] : rows_) {
            while (!rows.empty() && t.now - rows.begin()->first >= window) rows.erase(rows.begin());
        }
    }

    [[nodiscard]] bool agree(const std::string& resource, const seen_metric& s) const
    {
        const auto found = rows_.find({resource, s.metric});
        const std::size_t points = found == rows_.end() ? 0 : found->second.size();
        if (points != s.points) return false;
        if (points == 0) return !s.mean && !s.highest;
        long double sum = 0;
        double highest = found->second.begin()->second;
        long double size = 0;
        for (const auto& [at, value] : found->second) {
            sum += value;
            size += std::fabs(value);
            highest = std::max(highest, value);
        }
        const auto n = static_cast<long double>(points);
        return s.mean && s.highest == highest &&
               std::fabs(static_cast<long double>(*s.mean) - sum / n) <= 1e-12L * size;
    }
    [[nodiscard]] std::size_t metrics_of(const std::string& resource) const
    {
        std::size_t n = 0;
        for (auto i = rows_.lower_bound({resource, {}}); i != rows_.end(); ++i) {
            if (i->first.first != resource) break;
            n += i->second.empty() ? 0U : 1U;
        }
        return n;
    }

private:
    std::map<key, std::map<wall_time, double>> rows_{};
    std::optional<wall_time> last_;
};

/// The past commands of one resource.
struct past {
    std::optional<wall_time> up{};
    std::optional<wall_time> down{};
    std::optional<under_way> open{};  ///< The command without a result. A later one replaces it.
};

class judge {
public:
    judge(const rules& r, const memory& start) : r_(r), rows_(start) {}

    void look(const tick& t, const std::vector<decided>& made)
    {
        rows_.take(t, r_.window);
        for (const answer& a : t.answers) answered(a);
        for (const decided& d : made) {
            past& p = past_[d.resource];
            arrive(p, t.now);
            look(d);
            if (!d.what.command) continue;
            p.open = under_way{*d.what.command, t.now + r_.delay};
            arrive(p, t.now);
        }
    }

    std::vector<std::string> flaws{};

private:
    void wrong(const decided& d, std::string_view what)
    {
        flaws.push_back(
            fmt::format("{} at {}: {}", d.resource, waybill::to_text(d.what.now), what));
    }

    void look(const decided& d)
    {
        std::size_t filled = 0;
        for (const seen_metric& s : d.seen) {
            filled += s.points == 0 ? 0U : 1U;
            if (!rows_.agree(d.resource, s)) {
                wrong(d, "count, mean or maximum of " + s.metric + " are not those of its rows");
            }
        }
        if (filled != rows_.metrics_of(d.resource)) wrong(d, "a metric of the rows is missing");
        for (const scaling::evidence& e : d.what.reasons) {
            const bool compared = e.part != scaling::role::target && e.value && e.limit &&
                                  e.missing == scaling::missing_part::nothing;
            if (compared &&
                e.holds != scaling::truth_of(scaling::holds(*e.value, e.how, *e.limit))) {
                wrong(d, fmt::format("the comparison of {} with {} has the wrong result", *e.value,
                                     *e.limit));
            }
        }
        if (d.what.command) command(d, *d.what.command);
    }

    void command(const decided& d, const scaling::command& c)
    {
        const scaling::bounds& b = r_.policy.instances;
        const auto is_outside = [&](std::uint64_t n) { return n < b.lowest || n > b.highest; };
        if (is_outside(c.to)) {
            wrong(d, fmt::format("the command to {} instances is not within {} to {}", c.to,
                                 b.lowest, b.highest));
        }
        if (c.from != d.what.from || c.to != d.what.to || c.from == c.to) {
            wrong(d, fmt::format("the command {} to {} differs from the decision {} to {}", c.from,
                                 c.to, d.what.from, d.what.to));
        }
        if (is_outside(c.from) || c.from == 0) return;  // no cooldown applies to these

        const past& p = past_[d.resource];
        const scaling::cooldowns& cool = r_.policy.cooldown;
        const auto since = [&](const std::optional<wall_time>& then, waybill::duration wait) {
            if (!then || d.what.now - *then >= wait) return;
            wrong(d, fmt::format("{} after a change, and the cooldown is {}",
                                 waybill::to_text(d.what.now - *then), waybill::to_text(wait)));
        };
        if (c.to > c.from) {
            since(p.up, cool.up);
            if (cool.shared) since(p.down, cool.up);
            const bool fallback = d.what.up != scaling::tribool::yes && r_.policy.targets.empty();
            if (fallback && !r_.policy.if_unknown) {
                wrong(d, "more instances, but no rule needs them");
            }
            return;
        }
        since(p.up, cool.down);
        since(p.down, cool.down);
        if (d.what.up != scaling::tribool::no) wrong(d, "fewer instances, but more may be needed");
        const bool unknown_target =
            std::any_of(d.what.reasons.begin(), d.what.reasons.end(), [](const auto& e) {
                return e.part == scaling::role::target &&
                       e.missing != scaling::missing_part::nothing;
            });
        const bool last_goes = d.what.desired == 0 && d.what.activation == scaling::tribool::no;
        const bool may =
            d.what.down == scaling::tribool::yes || last_goes || !scaling::is_set(r_.policy.down);
        if (unknown_target || !may)
            wrong(d, "fewer instances, but a target is unknown or no rule allows it");
    }

    static void apply(past& p, wall_time at)
    {
        (p.open->what.to > p.open->what.from ? p.up : p.down) = at;
        p.open.reset();
    }

    void arrive(past& p, wall_time now)
    {
        const bool alone = r_.instances == instances_are::simulated;
        if (alone && p.open && p.open->due <= now) apply(p, p.open->due);
    }

    void answered(const answer& a)
    {
        past& p = past_[a.resource];
        if (!p.open || p.open->what.id != a.id) return;
        if (a.done) apply(p, a.at);
        else p.open.reset();
    }

    const rules& r_;
    plain_rows rows_;
    std::map<std::string, past> past_{};
};

}  // namespace

std::vector<std::string> flaws_of(const history& h, std::span<const tick> ticks, const rules& r)
{
    judge j(r, h.start);
    for (std::size_t n = 0; n != ticks.size(); ++n) j.look(ticks[n], h.made[n]);
    return j.flaws;
}

}  // namespace autoscaler
