// SPDX-License-Identifier: MIT
//
// A circuit breaker decides whether a batch in which every event failed may become dead letters.
// Each batch is one call. The recorded result is that of the handler, not the outcome of the batch.
// Otherwise a batch that is kept because of the circuit breaker would count against it.

#include <cstdint>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/process_batch.hpp>
#include <waybill/retry/circuit_breaker.hpp>
#include <waybill/testing/memory_store.hpp>

namespace breaker_asked_test {
namespace {

using waybill::batch_outcome;
using waybill::circuit_breaker;
using waybill::duration;
using waybill::fault_kind;
using waybill::steady_time;

steady_time s(std::int64_t n)
{
    return steady_time::at(duration::seconds(n));
}

struct event {
    std::uint64_t sequence;
    std::string body;
};

// A partition whose batches pass a circuit breaker that it shares with others.
class partition {
public:
    explicit partition(const char* name) : key_{"orders", "billing", name} {}

    // Delivers the next batch with this outcome of the handler. Nothing if the circuit breaker lets
    // none pass.
    batch_outcome deliver(waybill::circuit_breaker& v, fault_kind outcome, std::int64_t at)
    {
        const auto p = v.try_acquire(s(at));
        if (!p) return batch_outcome::empty;
        const std::uint64_t n = mine_.from ? mine_.from->sequence : 0;
        const std::vector<event> events{{n + 1, "a"}, {n + 2, "b"}, {n + 3, "c"}};
        auto said = fault_kind::none;
        const auto handle = [&](auto&, const event&) -> waybill::fault {
            if (said != fault_kind::infrastructure) said = outcome;
            return {outcome, "the given reason"};
        };
        const auto ask = [&](std::uint64_t) {
            return v.suspects_outage(s(at)) ? waybill::batch_policy::if_all_failed::redeliver
                                            : waybill::batch_policy::if_all_failed::go_on;
        };
        const auto r = waybill::process_batch(store_, mine_, events, handle, {}, {}, ask);
        if (r.outcome == batch_outcome::committed) mine_.from = r.reached;
        v.record(*p, said, s(at));
        return r.outcome;
    }

    [[nodiscard]] std::size_t dead() const { return store_.letters().size(); }

private:
    waybill::partition_key key_;
    waybill::testing::memory_store<std::string> store_;
    waybill::assignment mine_{key_, {}, 1};
};

constexpr waybill::circuit_breaker::config options{
    .failure_ratio = 0.5, .minimum_throughput = 2, .half_open_steps = 2};

TEST_CASE("circuit breaker: if closed, bad events become dead letters")
{
    waybill::circuit_breaker v(options);
    partition one("1");
    CHECK(one.deliver(v, fault_kind::permanent, 0) == batch_outcome::committed);
    CHECK(one.dead() == 3);
    CHECK(v.state(s(0)) == circuit_breaker::circuit_state::closed);
}

TEST_CASE("circuit breaker: in an outage, good events that fail are not dead-lettered")
{
    waybill::circuit_breaker v(options);
    partition one("1");
    partition two("2");
    partition three("3");
    // The first consumer reports that the database is down. The second one takes a confused answer
    // as the fault of its events, and the circuit breaker prevents that.
    CHECK(three.deliver(v, fault_kind::none, 0) == batch_outcome::committed);
    CHECK(one.deliver(v, fault_kind::infrastructure, 0) == batch_outcome::redeliver);
    CHECK(v.state(s(0)) == circuit_breaker::circuit_state::open);
    CHECK(two.deliver(v, fault_kind::permanent, 1) == batch_outcome::empty);

    // The next probe has the same result, and is kept, too.
    CHECK(two.deliver(v, fault_kind::permanent, 5) == batch_outcome::redeliver);
    CHECK(two.dead() == 0);

    // The database is back: all of it takes effect.
    for (int i = 0; i != 2; ++i)
        CHECK(two.deliver(v, fault_kind::none, 6) == batch_outcome::committed);
    CHECK(v.state(s(6)) == circuit_breaker::circuit_state::closed);
    CHECK(one.deliver(v, fault_kind::none, 6) == batch_outcome::committed);
    CHECK(one.dead() + two.dead() == 0);
}

TEST_CASE("circuit breaker: bad events become dead letters after it has closed")
{
    waybill::circuit_breaker v(options);
    partition one("1");
    partition two("2");
    CHECK(one.deliver(v, fault_kind::infrastructure, 0) == batch_outcome::redeliver);
    CHECK(two.deliver(v, fault_kind::permanent, 0) == batch_outcome::redeliver);  // suspected once
    CHECK(v.state(s(0)) == circuit_breaker::circuit_state::open);  // one of two failed
    std::int64_t at = 5;
    int rounds = 0;
    while (two.dead() == 0 && rounds != 10) {
        (void)two.deliver(v, fault_kind::permanent, at++);
        ++rounds;
    }
    CHECK(rounds == 4);  // three successful probes, and then the circuit breaker is closed
    CHECK(two.dead() == 3);
}

}  // namespace
}  // namespace breaker_asked_test
