// SPDX-License-Identifier: MIT

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/batch/sending.hpp>
#include <waybill/ext/exceptions.hpp>
#include <waybill/queue/relay.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_outbox.hpp>

namespace relay_throwing_test {
namespace {

using namespace std::chrono_literals;
using waybill::batch_sender;
using waybill::relay_report;
using waybill::result;
using waybill::wall_time;
using waybill::testing::memory_outbox;
using ending = waybill::relay_report::ending;

constexpr relay_report::policy drain{.drain = true};

/// A store in which one call throws, counted from 1.
struct throwing_store {
    using message = memory_outbox::message;
    using transaction = memory_outbox::transaction;
    using claimed_rows = memory_outbox::claimed_rows;
    using positions = std::vector<std::uint64_t>;
    memory_outbox box{};
    int calls_until_throw = 0;

    void call()
    {
        if (calls_until_throw != 0 && --calls_until_throw == 0) throw std::runtime_error("store");
    }
    result<void> add(transaction& tx, const message& m) { return box.add(tx, m); }
    result<claimed_rows> claim(std::uint64_t max, wall_time now, wall_time until)
    {
        call();
        return box.claim(max, now, until);
    }
    result<void> hold(const claimed_rows& c, const positions& rows, wall_time until)
    {
        call();
        return box.hold(c, rows, until);
    }
    result<void> mark_sent(const claimed_rows& c, const positions& rows)
    {
        call();
        return box.mark_sent(c, rows);
    }
    result<void> mark_dead(const claimed_rows& c, std::uint64_t n, const std::string& reason,
                           bool blocks)
    {
        call();
        return box.mark_dead(c, n, reason, blocks);
    }
};

memory_outbox filled(int rows)
{
    memory_outbox box;
    for (int n = 0; n != rows; ++n) {
        auto tx = *box.begin();
        CHECK(
            box.add(tx, {.key = "a", .id = std::to_string(n), .body = n == 3 ? "too large" : "b"}));
        CHECK(tx.commit());
    }
    return box;
}

batch_sender two_rows_each()
{
    return batch_sender{{.limit = {.bytes = 4, .items = 2, .answers_per_entry = false},
                         .exact_sizes = true,
                         .ordered = true}};
}

TEST_CASE("relay: after an exception of any store call the next call continues, and no row is lost")
{
    int throws = 0;
    for (int n = 1; n != 20; ++n) {
        throwing_store store{.box = filled(6), .calls_until_throw = n};
        waybill::testing::manual_environment env;
        batch_sender sender = two_rows_each();
        std::vector<std::string> got;
        const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
            for (const auto& m : batch) got.push_back(m.id);
            return batch_sender::accepted{};
        };
        relay_report report;
        try {
            waybill::relay(store, sender, transmit, env, drain, report);
        } catch (const std::runtime_error&) {
            ++throws;
            CHECK(report.outcome == ending::running);
            waybill::relay(store, sender, transmit, env, drain, report);
        }
        CHECK(report.outcome == ending::drained);
        CHECK(report.sent + report.maybe_twice >= got.size());
        CHECK(report.sent == 5);
        CHECK(report.dead == 1);
        CHECK(store.box.rows().size() == 1);
        CHECK(sender.finished());
    }
    CHECK(throws >= 6);
}

TEST_CASE("relay: after an exception of transmit the rows are sent again, and counted")
{
    memory_outbox box = filled(3);
    waybill::testing::manual_environment env;
    batch_sender sender = two_rows_each();
    int calls = 0;
    std::vector<std::string> got;
    const auto transmit = [&](const auto& batch) -> waybill::send_outcome {
        for (const auto& m : batch) got.push_back(m.id);
        if (++calls == 1) throw std::runtime_error("connection lost");
        return batch_sender::accepted{};
    };
    relay_report report;
    CHECK_THROWS_AS(waybill::relay(box, sender, transmit, env, drain, report), std::runtime_error);
    CHECK(report.maybe_twice == 2);
    CHECK(report.sends == 1);
    CHECK_FALSE(sender.finished());
    waybill::relay(box, sender, transmit, env, drain, report);
    CHECK(got == std::vector<std::string>{"0", "1", "0", "1", "2"});
    CHECK(report.sent == 3);
    CHECK(report.maybe_twice == 2);
    CHECK(report.outcome == ending::drained);
    CHECK(box.rows().empty());
}

TEST_CASE("relay: catching turns an exception of transmit into an unknown outcome")
{
    memory_outbox box = filled(3);
    waybill::testing::manual_environment env;
    batch_sender sender = two_rows_each();
    int calls = 0;
    const auto transmit = [&](const auto&) -> waybill::send_outcome {
        if (++calls == 1) throw std::runtime_error("connection lost");
        return batch_sender::accepted{};
    };
    const relay_report r = waybill::relay(box, sender, waybill::catching(transmit), env, drain);
    CHECK(r.sent == 3);
    CHECK(r.maybe_twice == 2);
    CHECK(r.sends == 3);
}

}  // namespace
}  // namespace relay_throwing_test
