// SPDX-License-Identifier: MIT
//
// The suite for stores of an autoscaler's state: the store in memory conforms, and each of some
// subtly wrong stores breaks a rule.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <waybill/testing/autoscale_state_conformance.hpp>
#include <waybill/testing/memory_autoscale_state.hpp>

namespace autoscale_state_conformance_test {
namespace {

using namespace waybill;
using scaling::autoscale_state;
using testing::memory_autoscale_state;

using row = std::shared_ptr<memory_autoscale_state>;

// A connection to a row. The variants change one of its calls.
struct store {
    row at = std::make_shared<memory_autoscale_state>();

    result<autoscale_state> load() { return at->load(); }
    fault save(const autoscale_state& s) { return at->save(s); }
};

struct forgets_the_pending_command : store {
    fault save(autoscale_state s)
    {
        s.state.pending.reset();
        return at->save(s);
    }
};

struct saves_whole_seconds : store {
    fault save(autoscale_state s)
    {
        for (auto& m : s.metrics) {
            for (auto& x : m.samples) {
                x.at = wall_time::at(duration::seconds(x.at.since_epoch().count() / 1'000'000'000));
            }
        }
        return at->save(s);
    }
};

// The row is written by the next call.
struct writes_later : store {
    std::optional<autoscale_state> buffered;

    result<autoscale_state> load() { return buffered ? *buffered : *at->load(); }
    fault save(const autoscale_state& s)
    {
        fault f = buffered ? at->save(*buffered) : fault{};
        buffered = s;
        return f;
    }
};

struct keeps_the_longer_list : store {
    fault save(autoscale_state s)
    {
        const autoscale_state& old = at->saved();
        for (std::size_t n = s.metrics.size(); n < old.metrics.size(); ++n) {
            s.metrics.push_back(old.metrics[n]);
        }
        return at->save(s);
    }
};

struct has_no_row_at_first : store {
    result<autoscale_state> load()
    {
        if (at->saves() == 0) return unexpected(permanent("no such row"));
        return at->load();
    }
};

// An update that changes no row counts as a failure.
struct refuses_an_unchanged_state : store {
    fault save(const autoscale_state& s)
    {
        if (at->saved() == s) return transient("0 rows changed");
        return at->save(s);
    }
};

struct counts_in_doubles : store {
    fault save(autoscale_state s)
    {
        if (s.state.warm_instances >> 53U == 1) s.state.warm_instances &= ~std::uint64_t{1};
        return at->save(s);
    }
};

struct ends_names_at_nul : store {
    fault save(autoscale_state s)
    {
        for (auto& m : s.metrics) m.metric = m.metric.c_str();
        return at->save(s);
    }
};

struct saves_1000_metrics : store {
    fault save(autoscale_state s)
    {
        if (s.metrics.size() > 1'000) s.metrics.resize(1'000);
        return at->save(s);
    }
};

struct shares_one_row : store {
    explicit shares_one_row(row one) { at = std::move(one); }
};

struct unreachable {
    result<autoscale_state> load() { return unexpected(infrastructure("no connection")); }
    fault save(const autoscale_state&) { return infrastructure("no connection"); }
};
struct unreachable_is_empty : unreachable {
    result<autoscale_state> load() { return autoscale_state(); }
};
struct unreachable_is_permanent : unreachable {
    fault save(const autoscale_state&) { return permanent("no connection"); }
};

template <class S>
std::size_t broken()
{
    return testing::autoscale_state_conformance([] { return S(); },
                                                [](S& s) {
                                                    S second;
                                                    second.at = s.at;
                                                    return second;
                                                })
        .broken.size();
}

TEST_CASE("autoscale_state_conformance: memory_autoscale_state conforms")
{
    const auto report =
        testing::autoscale_state_conformance([] { return memory_autoscale_state(); });
    CHECK(report.broken.empty());
    CHECK(report.untested.size() == 2);
    CHECK(broken<store>() == 0);
}

TEST_CASE("autoscale_state_conformance: each faulty store breaks a rule")
{
    CHECK(broken<forgets_the_pending_command>() > 0);
    CHECK(broken<saves_whole_seconds>() > 0);
    CHECK(broken<writes_later>() > 0);  // only the second connection shows it
    CHECK(broken<counts_in_doubles>() == 1);
    CHECK(broken<ends_names_at_nul>() == 1);
    CHECK(broken<saves_1000_metrics>() == 1);
    CHECK(broken<keeps_the_longer_list>() > 0);
    CHECK(broken<has_no_row_at_first>() > 0);
    CHECK(broken<refuses_an_unchanged_state>() > 0);
    const row one = std::make_shared<memory_autoscale_state>();
    CHECK_FALSE(
        testing::autoscale_state_conformance([&] { return shares_one_row(one); }).broken.empty());
}

TEST_CASE("autoscale_state_conformance: an unreachable store must not look empty")
{
    unreachable right;
    CHECK(testing::autoscale_state_outage_conformance(right).broken.empty());
    unreachable_is_empty empty;
    CHECK(testing::autoscale_state_outage_conformance(empty).broken.size() == 1);
    unreachable_is_permanent wrong_kind;
    CHECK(testing::autoscale_state_outage_conformance(wrong_kind).broken.size() == 1);
}

}  // namespace
}  // namespace autoscale_state_conformance_test
