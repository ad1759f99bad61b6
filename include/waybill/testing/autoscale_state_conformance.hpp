// SPDX-License-Identifier: MIT
//
// autoscale_state_conformance: checks that a store keeps the state of an autoscaler.
//
//     const auto report = waybill::testing::autoscale_state_conformance(
//         [&] { return my_store(new_empty_database()); },    // an empty store at each call
//         [](my_store& s) { return my_store(s.path()); });   // a second connection to it
//     for (const auto& rule : report.broken) log(rule);      // empty if the store conforms
//
// The second connection may be omitted: then it is not tested that `save` is durable.
// `autoscale_state_outage_conformance` checks a store that cannot be reached.

#ifndef WAYBILL_TESTING_AUTOSCALE_STATE_CONFORMANCE_HPP
#define WAYBILL_TESTING_AUTOSCALE_STATE_CONFORMANCE_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/scaling/autoscale_state.hpp>
#include <waybill/testing/conformance_report.hpp>
#include <waybill/testing/detail/trial.hpp>

namespace waybill::inline v0_2::testing {

namespace detail {

/// A state with a value in each field. Different for each `n`.
[[nodiscard]] inline scaling::autoscale_state full_autoscale_state(std::uint64_t n)
{
    constexpr std::uint64_t most = ~std::uint64_t{0};
    const wall_time at = wall_time::at(duration::nanoseconds(1'709'208'000'123'456'789)) +
                         duration::seconds(static_cast<std::int64_t>(n));
    scaling::autoscale_state s;
    s.state.last_id = most - n;
    s.state.pending = scaling::pending_command{{most - n, 4, 6}, at, duration::nanoseconds(7)};
    s.state.last_up = s.state.last_down = s.state.last_failure = s.state.warm_at = at;
    s.state.inactive_since = at;
    s.state.warm_instances = n;
    for (std::size_t i = 0; i != scaling::state::recommendations; ++i) {
        s.state.highest.push({at, most - i});
        s.state.lowest.push({at, i});
    }
    for (std::size_t i = 0; i != scaling::state::changes; ++i) {
        s.state.applied_changes.push({at, i, i + 1});
    }
    for (const std::string_view metric : {"orders", "a name: \"quoted\", /with/ \xc3\xa4"}) {
        scaling::metric_samples m;
        m.metric = metric;
        for (int i = 0; i != 500; ++i) {
            m.samples.push_back({at + duration::nanoseconds(i), 0.1 * i - 7.0});
        }
        s.metrics.push_back(std::move(m));
    }
    s.metrics.push_back({.metric = "no samples"});
    return s;
}

template <class S>
[[nodiscard]] bool holds_state(S& store, const scaling::autoscale_state& expected)
{
    const result<scaling::autoscale_state> loaded = store.load();
    return loaded && *loaded == expected;
}

template <class S>
void autoscale_state_rules(S& s, trial& t)
{
    t.holds(holds_state(s, {}), "load: without a save, the result is a default state, no error");
    const scaling::autoscale_state first = full_autoscale_state(1);
    t.holds(fault(s.save(first)).ok(), "save: a full state is stored");
    t.holds(holds_state(s, first), "load: each field is returned as it was saved");
    t.holds(holds_state(s, first), "load: a second load returns the same");
    const scaling::autoscale_state second = full_autoscale_state(2);
    t.holds(fault(s.save(second)).ok() && holds_state(s, second),
            "save: it replaces the earlier state");
    t.holds(fault(s.save(second)).ok() && holds_state(s, second),
            "save: an unchanged state is stored, too");
    scaling::autoscale_state fewer = second;
    fewer.state.pending.reset();
    fewer.state.inactive_since.reset();
    fewer.metrics.pop_back();
    t.holds(fault(s.save(fewer)).ok() && holds_state(s, fewer),
            "save: a field that is no longer set is not set after load");
    t.holds(fault(s.save({})).ok() && holds_state(s, {}), "save: a default state is stored, too");
}

}  // namespace detail

/// Tries the rules of `load` and `save`. `make()` returns a new, empty store at each call.
/// `again(store)` returns a second connection to it.
template <class Make, class Again = no_second>
[[nodiscard]] conformance_report autoscale_state_conformance(Make make, Again again = {})
{
    using store = std::remove_cvref_t<std::invoke_result_t<Make&>>;
    static_assert(scaling::state_store<store>,
                  "autoscale_state_conformance: not a state_store, see "
                  "scaling/autoscale_state.hpp");
    detail::trial t;
    {
        auto s = make();
        detail::autoscale_state_rules(s, t);
    }
    {
        auto s = make();
        auto other = make();
        const scaling::autoscale_state saved = detail::full_autoscale_state(1);
        t.holds(fault(s.save(saved)).ok() && detail::holds_state(other, {}),
                "save: another store does not change");
    }
    constexpr std::string_view durable = "save: the state is durable when it returns";
    if constexpr (detail::has_second<Again>) {
        auto s = make();
        decltype(auto) other = again(s);
        bool all = true;
        for (const std::uint64_t n : {1U, 2U, 3U}) {
            const scaling::autoscale_state saved = detail::full_autoscale_state(n);
            all = all && fault(s.save(saved)).ok() && detail::holds_state(other, saved);
        }
        t.holds(all, durable);
    } else {
        t.untested(durable, detail::second_connection);
    }
    return std::move(t.report);
}

/// Tries the rules of a store that cannot be reached. Each call must return an error of the kind
/// `transient` or `infrastructure`. With a default state instead, an autoscaler would forget its
/// cooldowns and its pending command.
template <scaling::state_store S>
[[nodiscard]] conformance_report autoscale_state_outage_conformance(S& unreachable)
{
    const auto is_temporary = [](fault_kind k) {
        return k == fault_kind::transient || k == fault_kind::infrastructure;
    };
    detail::trial t;
    const result<scaling::autoscale_state> loaded = unreachable.load();
    t.holds(!loaded && is_temporary(loaded.error().kind),
            "load: while the store cannot be reached, the result is a temporary error");
    const fault saved = unreachable.save(detail::full_autoscale_state(1));
    t.holds(is_temporary(saved.kind),
            "save: while the store cannot be reached, the result is a temporary error");
    return std::move(t.report);
}

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_AUTOSCALE_STATE_CONFORMANCE_HPP
