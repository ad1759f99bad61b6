// SPDX-License-Identifier: MIT
//
// What the README shows of scaling.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <waybill/scaling.hpp>

namespace readme_scaling {
namespace {

using namespace std::chrono_literals;
namespace sc = waybill::scaling;

constexpr waybill::wall_time at(std::int64_t minutes)
{
    return waybill::wall_time::at(waybill::duration::seconds(60 * minutes));
}

sc::policy policy_shown()
{
    //! [policy]
    const sc::policy p{.up = sc::any_of(sc::mean("orders") > sc::per_instance(100),
                                        sc::highest("age") > 300),
                       .down = sc::all_of(sc::highest("orders") < 10, sc::highest("mails") < 10),
                       .min_points = 5,
                       .cooldown = {.up = 1min, .down = 10min},
                       .instances = {1, 20}};
    //! [policy]
    return p;
}

TEST_CASE("README: the article's autoscaler")
{
    waybill::sliding_window<waybill::stats<double>> orders{{.span = 10min}};
    waybill::sliding_window<waybill::stats<double>> age{{.span = 10min}};
    waybill::sliding_window<waybill::stats<double>> mails{{.span = 10min}};
    std::uint64_t instances = 2;
    std::vector<std::string> logged;
    const auto log = [&](const sc::decision& d) {
        logged.push_back(std::string(name(d.verdict)) + " " + std::string(name(d.why)));
    };
    const auto store = [](const sc::state&) {};
    const auto resize = [&](std::uint64_t n) {
        instances = n;
        return true;
    };

    const sc::policy p = policy_shown();
    CHECK_FALSE(sc::validate(p));
    sc::state state;
    for (std::int64_t minute = 0; minute != 30; ++minute) {
        const waybill::wall_time now = at(minute);
        orders.insert(now, minute < 12 ? 250.0 : 0.0);
        age.insert(now, 20);
        mails.insert(now, 3);

        //! [decide]
        const sc::reading known[]{sc::read("orders", orders.query(now)),
                                  sc::read("mails", mails.query(now)),
                                  sc::read("age", age.query(now))};
        sc::decision d = sc::decide(p, known, state, instances, now);    // a dry run ends here
        log(d);
        state.on(d);
        store(state);                                   // one small row: a restart changes nothing
        if (d.command) {
            if (resize(d.command->to)) state.on(sc::applied{d.command->id}, now);
            else state.on(sc::failed{d.command->id}, now);
        }
        //! [decide]
    }
    CHECK(logged[3] == "held unknown");     // four points
    CHECK(logged[4] == "up nothing");       // 250 of 200
    CHECK(logged[5] == "steady nothing");   // 250 of 300
    CHECK(logged[20] == "steady nothing");  // one of the ten is above 10
    CHECK(logged[21] == "down nothing");
    CHECK(logged[22] == "held cooldown");
    CHECK(instances == 2);
}

}  // namespace
}  // namespace readme_scaling
