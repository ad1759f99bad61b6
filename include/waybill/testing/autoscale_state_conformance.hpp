// SPDX-License-Identifier: MIT
//
// autoscale_state_conformance: checks that a store keeps the state of an autoscaler.
//
//     const auto report = waybill::testing::autoscale_state_conformance(
//         [&] { return my_store(new_empty_database()); },    // an empty store at each call
//         [](my_store& s) { return my_store(s.path()); });   // a second connection to it
//     for (const auto& rule : report.broken) log(rule);      // empty if the store conforms
//
// The second connection may be omitted. Its rules are then reported as untested. All rules are tried
// with one connection, with two in turn, with a new one for each call, and with two saves instead of
// one.
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
#include <waybill/testing/detail/trial_values.hpp>

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

/// A store whose calls use the connections of a way.
template <class Make, class Again>
struct autoscale_trial : connections<Make, Again> {
    autoscale_trial(Make& make, Again& again, way how, trial& to)
        : connections<Make, Again>(make, again, how), t(to), another(make())
    {
    }

    /// True if the state is stored.
    [[nodiscard]] bool saves(const scaling::autoscale_state& s)
    {
        const auto call = [&](auto& one) { return fault(one.save(s)); };
        return this->through(call).ok() && (!this->repeats() || this->through(call).ok());
    }
    [[nodiscard]] bool has(const scaling::autoscale_state& expected)
    {
        const auto loaded =
            this->through([](auto& one) -> result<scaling::autoscale_state> { return one.load(); });
        return loaded && *loaded == expected;
    }

    trial& t;
    typename connections<Make, Again>::store another;
};

template <class X>
void autoscale_state_rules(X& x)
{
    trial& t = x.t;
    t.holds(x.has({}), "load: without a save, the result is a default state, no error");
    const scaling::autoscale_state first = full_autoscale_state(1);
    t.holds(x.saves(first), "save: a full state is stored");
    t.holds(x.has(first), "load: each field is returned as it was saved");
    t.holds(x.has(first), "load: a second load returns the same");
    const result<scaling::autoscale_state> other = x.another.load();
    t.holds(other && *other == scaling::autoscale_state(), "save: another store does not change");
    const scaling::autoscale_state second = full_autoscale_state(2);
    t.holds(x.saves(second) && x.has(second), "save: it replaces the earlier state");
    t.holds(x.saves(second) && x.has(second), "save: an unchanged state is stored, too");
    scaling::autoscale_state fewer = second;
    fewer.state.pending.reset();
    fewer.state.inactive_since.reset();
    fewer.metrics.pop_back();
    t.holds(x.saves(fewer) && x.has(fewer),
            "save: a field that is no longer set is not set after load");
    t.holds(x.saves({}) && x.has({}), "save: a default state is stored, too");
}

/// Numbers that change in 32 bits or in a double, long names, and more metrics than a page.
template <class X>
void autoscale_value_rules(X& x)
{
    trial& t = x.t;
    bool numbers = true;
    for (const std::uint64_t n : numbers_of_64_bits) {
        scaling::autoscale_state s;
        s.state.last_id = s.state.warm_instances = n;
        s.state.pending = scaling::pending_command{
            {n, n, n}, wall_time::at(duration::nanoseconds(static_cast<std::int64_t>(n / 2))), {}};
        numbers = x.saves(s) && x.has(s) && numbers;
    }
    t.holds(numbers, "save: numbers have 64 bits");
    scaling::autoscale_state named;
    for (std::string& name : sized_values(0, ~std::uint64_t{0}, true))
        named.metrics.push_back({.metric = std::move(name)});
    t.holds(x.saves(named) && x.has(named),
            "save: names of all bytes and of 0, 1, 255, 256, 4,097 and 70,000 bytes are stored "
            "unchanged");
    scaling::autoscale_state many;
    for (int n = 0; n != 1'100; ++n) many.metrics.push_back({.metric = std::to_string(n)});
    t.holds(x.saves(many) && x.has(many), "save: any number of metrics is stored");
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
    using trial = detail::autoscale_trial<Make, Again>;
    const detail::rule<trial> rules[] = {
        {"save: replaces the state", detail::autoscale_state_rules},
        {"save: keeps all values", detail::autoscale_value_rules, "", 0, true}};
    using detail::way;
    const auto ways = {way::plain, way::repeated, way::alternating, way::reopened};
    detail::trial t;
    detail::run_rules<Again>(t, rules, ways, [&](way how, auto body) {
        trial x(make, again, how, t);
        body(x);
    });
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
