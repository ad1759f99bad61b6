// SPDX-License-Identifier: MIT
//
// A valve is asked whether a batch in which every event failed may become dead letters. Each batch
// is one call; what is reported is what its handler said, not how the batch ended: a batch that is
// kept for later because the valve was suspicious would otherwise count against it.

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/process_batch.hpp>
#include <waybill/retry/valve.hpp>
#include <waybill/testing/memory_store.hpp>

namespace valve_asked_test {
namespace {

using waybill::batch_end;
using waybill::duration;
using waybill::fault_class;
using waybill::steady_time;
using waybill::valve_state;

steady_time s(std::int64_t n) { return steady_time::at(duration::seconds(n)); }

struct event {
    std::uint64_t sequence;
    std::string body;
};

// A partition whose batches pass a valve that it shares with others.
class partition {
public:
    explicit partition(const char* name) : key_{"orders", "billing", name} {}

    // The batch that comes next, handled with this outcome; nothing where the valve lets none pass.
    batch_end deliver(waybill::valve& v, fault_class outcome, std::int64_t at)
    {
        const auto p = v.try_pass(s(at));
        if (!p) return batch_end::empty;
        const std::uint64_t n = mine_.from ? mine_.from->sequence : 0;
        const std::vector<event> events{{n + 1, "a"}, {n + 2, "b"}, {n + 3, "c"}};
        auto said = fault_class::none;
        const auto handle = [&](auto&, const event&) -> waybill::fault {
            if (said != fault_class::infrastructure) said = outcome;
            return {outcome, "as it was told"};
        };
        const auto ask = [&](std::uint64_t) {
            return v.suspects(s(at)) ? waybill::if_all_failed::redeliver : waybill::if_all_failed::go_on;
        };
        const auto r = waybill::process_batch(store_, mine_, events, handle, {}, {}, ask);
        if (r.end == batch_end::committed) mine_.from = r.reached;
        v.report(*p, said, s(at));
        return r.end;
    }

    [[nodiscard]] std::size_t dead() const { return store_.letters().size(); }

private:
    waybill::partition_key key_;
    waybill::testing::memory_store<std::string> store_;
    waybill::assignment mine_{key_, {}, 1};
};

constexpr waybill::valve_options options{.trip_at = 0.5, .min_calls = 2, .ramp = 2};

TEST_CASE("valve: bad events become dead letters while all else goes well")
{
    waybill::valve v(options);
    partition one("1");
    CHECK(one.deliver(v, fault_class::permanent, 0) == batch_end::committed);
    CHECK(one.dead() == 3);
    CHECK(v.state(s(0)) == valve_state::flowing);
}

TEST_CASE("valve: good events that look bad while what they need is down are kept")
{
    waybill::valve v(options);
    partition one("1");
    partition two("2");
    partition three("3");
    // The first says that the database is down; the second took its confused answer for its events'
    // own fault, and the valve knows better.
    CHECK(three.deliver(v, fault_class::none, 0) == batch_end::committed);
    CHECK(one.deliver(v, fault_class::infrastructure, 0) == batch_end::redeliver);
    CHECK(v.state(s(0)) == valve_state::shut);
    CHECK(two.deliver(v, fault_class::permanent, 1) == batch_end::empty);

    // The probe that comes next finds the same, and is kept as well.
    CHECK(two.deliver(v, fault_class::permanent, 5) == batch_end::redeliver);
    CHECK(two.dead() == 0);

    // The database is back: all of it takes effect.
    for (int i = 0; i != 2; ++i) CHECK(two.deliver(v, fault_class::none, 6) == batch_end::committed);
    CHECK(v.state(s(6)) == valve_state::flowing);
    CHECK(one.deliver(v, fault_class::none, 6) == batch_end::committed);
    CHECK(one.dead() + two.dead() == 0);
}

TEST_CASE("valve: events that are bad indeed do not come for ever")
{
    waybill::valve v(options);
    partition one("1");
    partition two("2");
    CHECK(one.deliver(v, fault_class::infrastructure, 0) == batch_end::redeliver);
    CHECK(two.deliver(v, fault_class::permanent, 0) == batch_end::redeliver);  // suspected once
    CHECK(v.state(s(0)) == valve_state::shut);  // one of two failed
    std::int64_t at = 5;
    int rounds = 0;
    while (two.dead() == 0 && rounds != 10) {
        (void)two.deliver(v, fault_class::permanent, at++);
        ++rounds;
    }
    CHECK(rounds == 4);  // three probes that were answered, and then the valve flows
    CHECK(two.dead() == 3);
}

}  // namespace
}  // namespace valve_asked_test
