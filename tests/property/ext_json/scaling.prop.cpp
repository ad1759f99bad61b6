// SPDX-License-Identifier: MIT
//
// Every policy and every state of scaling is equal after it was written and read.

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <rapidcheck.h>

#include <waybill/ext/json/scaling.hpp>
#include <waybill/scaling.hpp>

namespace json_scaling_prop {
namespace {

using namespace waybill;
namespace sc = waybill::scaling;
using nlohmann::json;

template <class E>
E any_enum(int count)
{
    return static_cast<E>(*rc::gen::inRange(0, count));
}

std::uint64_t any_count()
{
    return *rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(0, 9),
                           rc::gen::arbitrary<std::uint64_t>(), rc::gen::just(UINT64_MAX));
}

double any_number()
{
    const double x = *rc::gen::oneOf(rc::gen::arbitrary<double>(),
                                     rc::gen::element(0.0, -0.0, 1e300, 5e-324, 0.1, 1e15));
    return detail::is_finite(x) ? x : 1;
}

duration any_duration()
{
    const auto ns = *rc::gen::arbitrary<std::int64_t>();
    return duration::nanoseconds(ns >> *rc::gen::inRange(0, 63));
}

wall_time any_time()
{
    return wall_time::at(any_duration());
}

std::string any_metric()
{
    return *rc::gen::element<std::string>("orders", "mails", "", "a/b~c \"d\"\n", "\u00e4\u20ac");
}

sc::threshold any_threshold()
{
    switch (*rc::gen::inRange(0, 3)) {
        case 0: return any_number();
        case 1: return sc::per_instance(any_number());
        default: break;
    }
    std::vector<sc::threshold_step> steps;
    for (int n = *rc::gen::inRange(0, 4); n != 0; --n) steps.push_back({any_count(), any_number()});
    return sc::threshold::steps(std::move(steps));
}

sc::rule any_rule(int depth)
{
    using kind = sc::rule::kind;
    const auto what = depth == 0 ? kind::compare : any_enum<kind>(5);
    if (what == kind::compare) {
        sc::comparison c{.metric = any_metric(),
                         .what = any_enum<sc::statistic>(sc::statistics),
                         .how = any_enum<sc::relation>(4),
                         .limit = any_threshold()};
        if (*rc::gen::arbitrary<bool>()) c.min_points = any_count();
        if (*rc::gen::arbitrary<bool>()) c.max_age = any_duration();
        c.missing = any_enum<sc::when_missing>(3);
        c.averaged = *rc::gen::arbitrary<bool>();
        return c;
    }
    std::vector<sc::rule> parts;
    const int count = what == kind::opposite ? 1 : *rc::gen::inRange(0, 4);
    for (int n = 0; n != count; ++n) parts.push_back(any_rule(depth - 1));
    return sc::rule(what, std::move(parts), what == kind::at_least ? any_count() : 0);
}

sc::change any_change()
{
    return {any_count(), any_number()};
}

template <class T, class F>
std::vector<T> any_of_those(F one)
{
    std::vector<T> all;
    for (int n = *rc::gen::inRange(0, 3); n != 0; --n) all.push_back(one());
    return all;
}

sc::policy any_policy()
{
    const auto any_band = [] { return sc::band{any_rule(2), any_change()}; };
    const auto any_limit = [] { return sc::rate_limit{any_change(), any_duration()}; };
    sc::policy p;
    p.up = any_rule(3);
    p.down = any_rule(3);
    p.targets = any_of_those<sc::target>([] {
        return sc::target{
            {any_metric(), any_enum<sc::statistic>(sc::statistics), *rc::gen::arbitrary<bool>()},
            any_number(),
            {any_number(), any_number()}};
    });
    p.min_points = any_count();
    p.max_age = any_duration();
    p.cooldown = {any_duration(), any_duration(), *rc::gen::arbitrary<bool>()};
    p.instances = {any_count(), any_count()};
    p.step = {any_change(), any_change()};
    p.bands = {any_of_those<sc::band>(any_band), any_of_those<sc::band>(any_band)};
    p.stabilise = {any_duration(), any_duration()};
    p.rate = {any_of_those<sc::rate_limit>(any_limit), any_of_those<sc::rate_limit>(any_limit)};
    p.warm_up = any_duration();
    if (*rc::gen::arbitrary<bool>()) p.activation = any_rule(2);
    p.zero_after = any_duration();
    p.ladder = any_of_those<sc::capacity_tier>(
        [] { return sc::capacity_tier{any_metric(), any_count()}; });
    p.allow = {*rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>()};
    if (*rc::gen::arbitrary<bool>()) p.if_unknown = any_count();
    p.patience = any_duration();
    p.after_failure = any_duration();
    return p;
}

/// A state after some events.
sc::state any_state()
{
    sc::state s;
    wall_time now = any_time();
    for (int n = *rc::gen::inRange(0, 60); n != 0; --n) {
        now = *rc::gen::inRange(0, 20) == 0 ? any_time()
                                            : now + duration::seconds(*rc::gen::inRange(-5, 90));
        sc::decision d{.from = any_count(), .desired = any_count(), .now = now};
        d.activation = any_enum<sc::tribool>(3);
        d.stabilise = {any_duration(), any_duration()};
        d.warm_up = any_duration();
        d.to = d.desired;
        d.arrived = *rc::gen::arbitrary<bool>();
        if (d.to != d.from)
            d.command = sc::command{detail::saturating_add(s.last_id, 1), d.from, d.to};
        s.on(d);
        const std::uint64_t id = *rc::gen::inRange(0, 3) == 0 ? any_count() : s.last_id;
        if (*rc::gen::arbitrary<bool>()) (void)s.on(sc::applied{id}, now);
        else if (*rc::gen::arbitrary<bool>()) (void)s.on(sc::failed{id}, now);
    }
    return s;
}

TEST_CASE("scaling policy: any written policy is read unchanged, with the error of validate")
{
    CHECK(rc::check([] {
        const sc::policy p = any_policy();
        const auto written = sc::write_policy(p);
        RC_ASSERT(written.has_value());
        const std::string text = written->dump();
        const auto read = parse_json<sc::policy>(text);
        RC_ASSERT(read.has_value());
        RC_ASSERT(*read == p);
        RC_ASSERT(sc::write_policy(*read) == *written);
        const auto checked = sc::parse_policy(text);
        const auto bad = sc::validate(p);
        RC_ASSERT(checked.has_value() == !bad);
        if (!bad) return;
        RC_ASSERT(checked.error() ==
                  (json_error{json_error::code::wrong, bad->path, bad->expected, bad->found}));
        // The path is in the document, or names an optional part.
        const json::json_pointer place(bad->path);
        const bool may_lack =
            bad->path == "/up" || bad->path == "/down" || bad->path == "/activation";
        RC_ASSERT((written->contains(place) || may_lack));
    }));
}

TEST_CASE("scaling state: any state is read unchanged, from less than 2,048 bytes")
{
    CHECK(rc::check([] {
        const sc::state s = any_state();
        const std::string row = json(s).dump();
        RC_ASSERT(row.size() < 2'048U);
        const auto read = parse_json<sc::state>(row);
        RC_ASSERT(read.has_value());
        RC_ASSERT(*read == s);
    }));
}

TEST_CASE("unknown_metric: an error contains the path and name of an unknown metric")
{
    CHECK(rc::check([] {
        const sc::policy p = any_policy();
        const auto written = *sc::write_policy(p);
        std::vector<std::string> names{"orders", "", "x"};
        const auto bad = sc::unknown_metric(p, names);
        if (bad) {
            const json& there = written[json::json_pointer(bad->path)];
            RC_ASSERT(there.is_string());
            RC_ASSERT(bad->found == '"' + there.get<std::string>() + '"');
        }
        for (const auto m : sc::metrics_of(p)) names.emplace_back(m);
        RC_ASSERT(!sc::unknown_metric(p, names));
    }));
}

}  // namespace
}  // namespace json_scaling_prop
