// SPDX-License-Identifier: MIT
//
// A sender and a broker whose limit or headers change, or whose numbers are wrong. Each case is a
// small deterministic simulation.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/send_all.hpp>

namespace sender_moving_test {

using namespace waybill;

namespace {

constexpr std::uint64_t full = 262'144;
constexpr std::uint64_t envelope = 40;

class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}
    std::uint64_t operator()(std::uint64_t low, std::uint64_t high)  // splitmix64
    {
        state_ += 0x9E3779B97F4A7C15U;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
        z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
        return low + (z ^ (z >> 31U)) % (high - low + 1);
    }

private:
    std::uint64_t state_;
};

struct message {
    std::uint64_t body;
    std::uint64_t size;  // as the broker counts it
};
using messages = std::vector<message>;

message sized(std::uint64_t body, std::uint64_t header)
{
    const std::uint64_t inner = body + header;
    return {body, inner + (inner < 256 ? 5 : 8)};
}

// The numbers that a broker reports, as multiples of its own; 0: it reports none.
struct reports {
    double limit = 0;
    double refused = 0;   // size of a refused batch
    double items = 0;     // sizes of its items
    double accepted = 0;  // size of an accepted batch
};

struct broker {
    reports tells{};
    std::uint64_t vary = 0;  // percent by which the limit of a request may be lower
    dice roll{1};

    [[nodiscard]] std::uint64_t limit() { return full - full * roll(0, 1'000) * vary / 100'000; }
    [[nodiscard]] static std::optional<std::uint64_t> reported_size(double factor, std::uint64_t n)
    {
        if (!(factor > 0)) return {};
        return static_cast<std::uint64_t>(factor * static_cast<double>(n));
    }
};

struct result {
    std::uint64_t sends = 0;
    std::uint64_t refused = 0;
    std::uint64_t lost = 0;    // messages that fit and did not arrive
    std::uint64_t fewest = 0;  // sends for a sender that knows all sizes
    calibration learnt{};
    [[nodiscard]] double ratio() const
    {
        return static_cast<double>(sends) / static_cast<double>(fewest);
    }
};

class run_of {
public:
    run_of(const messages& all, const send_policy& p, broker& to) : all_(all), to_(to), s_(p) {}

    // In calls of `call` messages, queued at once. The last batch of a call need not be full.
    result run(std::size_t call)
    {
        for (std::size_t first = 0; first < all_.size(); first += call) {
            const std::size_t last = std::min(first + call, all_.size());
            for (std::size_t n = first; n != last; ++n) {
                s_.on(batch_sender::queued{s_.policy().exact_sizes ? all_[n].size : all_[n].body},
                      {});
            }
            s_.on(batch_sender::flushed{}, {});
            while (!s_.finished()) step();
            count_fewest(first, last);
        }
        result_.learnt = s_.learnt();
        return result_;
    }

private:
    struct attempt {
        std::uint64_t number;
        std::uint64_t size = envelope;
        std::uint64_t limit;
        std::vector<std::uint64_t> items;
    };

    void step()
    {
        const auto next = s_.next({});
        if (const auto* x = waybill::get_if<batch_sender::report>(&next)) settle(*x);
        if (const auto* a = waybill::get_if<batch_sender::send>(&next)) send(*a);
        // The answers arrive together, when the maximum is in flight.
        const bool most_in_flight = away_.size() == s_.policy().in_flight;
        if (most_in_flight || waybill::holds_alternative<idle>(next)) answer_all();
        if (result_.sends > 20 * all_.size()) FAIL("the run does not end");
    }

    void send(const batch_sender::send& a)
    {
        attempt x{.number = a.attempt, .limit = to_.limit(), .items = {}};
        for (const waybill::item_range& r : a.items) {
            for (std::uint64_t n = r.first; n != r.end(); ++n) {
                x.size += all_[n].size;
                x.items.push_back(*broker::reported_size(to_.tells.items > 0 ? to_.tells.items : 1,
                                                         all_[n].size));
            }
        }
        s_.on(batch_sender::started{x.number}, {});
        away_.push_back(std::move(x));
    }

    void answer_all()
    {
        for (; !away_.empty(); away_.pop_front()) {
            const attempt& x = away_.front();
            ++result_.sends;
            if (x.size <= x.limit) {
                s_.on(batch_sender::accepted{x.number,
                                             broker::reported_size(to_.tells.accepted, x.size)},
                      {});
                continue;
            }
            ++result_.refused;
            batch_sender::too_large no{x.number, broker::reported_size(to_.tells.refused, x.size),
                                       broker::reported_size(to_.tells.limit, x.limit)};
            if (to_.tells.items > 0) no.item_sizes = x.items;
            s_.on(no, {});
        }
    }

    void settle(const batch_sender::report& x)
    {
        for (std::uint64_t n = x.items.first; n != x.items.end(); ++n) {
            const bool fits = envelope + all_[n].size <= full;
            if (x.outcome != item_outcome::accepted && fits) ++result_.lost;
        }
        const waybill::item_range items = x.items;
        s_.on(batch_sender::reported{items}, {});
    }

    void count_fewest(std::size_t first, std::size_t last)
    {
        std::uint64_t bytes = full;
        for (std::size_t n = first; n != last; ++n) {
            const std::uint64_t size = all_[n].size;
            if (envelope + size > full) continue;
            if (bytes + size > full) {
                ++result_.fewest;
                bytes = envelope;
            }
            bytes += size;
        }
    }

    const messages& all_;
    broker& to_;
    batch_sender s_;
    std::deque<attempt> away_;
    result result_;
};

result sent(const messages& all, const send_policy& p, broker to, std::size_t call = 20'000)
{
    return run_of(all, p, to).run(call);
}

messages alike(std::size_t n, std::uint64_t smallest, std::uint64_t largest, std::uint64_t header)
{
    dice roll(7);
    messages all(n);
    for (message& m : all) m = sized(roll(smallest, largest), header);
    return all;
}

// `n` messages with headers of 80 or 900 bytes, which change after each `period` messages.
messages switching(std::size_t n, std::size_t period)
{
    dice roll(7);
    messages all(n);
    for (std::size_t i = 0; i != n; ++i) {
        all[i] = sized(roll(50, 500), i / period % 2 == 0 ? 80 : 900);
    }
    return all;
}

constexpr reports nothing{};
constexpr reports numbers{.limit = 1, .refused = 1};
constexpr reports all_sums{.limit = 1, .refused = 1, .accepted = 1};

}  // namespace

TEST_CASE(
    "sender: with 4 in flight and a limit that varies by 3 %, reported numbers cost no "
    "requests")
{
    // Relative to the fewest for the highest limit; the lowest limit alone costs 1.03.
    const messages all = alike(200'000, 50, 500, 60);
    for (const bool exact : {true, false}) {
        CAPTURE(exact);
        const send_policy p{.limit = {.bytes = full, .envelope = exact ? envelope : 0},
                            .item_overhead = 54,
                            .exact_sizes = exact,
                            .in_flight = 4};
        double with = 0;
        double without = 0;
        for (std::uint64_t seed = 1; seed != 9; ++seed) {
            without += sent(all, p, {nothing, 3, dice(seed)}).ratio();
            const result r = sent(all, p, {exact ? numbers : all_sums, 3, dice(seed)});
            with += r.ratio();
            CHECK(r.lost == 0);
            CHECK(r.ratio() <= 1.15);
        }
        CHECK(with <= 1.01 * without);  // the mean of these seeds varies by 1 %
    }
}

TEST_CASE("sender: with headers in turns, reported sums of accepted batches cost few requests")
{
    // The fewest are 14.7 batches for two turns of 2,500 messages. In short turns, batches are cut
    // to the larger headers, with and without these sums.
    for (const std::uint32_t in_flight : {1U, 4U}) {
        for (const std::size_t period : {100U, 300U, 500U, 1'000U, 1'500U, 2'000U, 2'500U}) {
            CAPTURE(in_flight);
            CAPTURE(period);
            const send_policy p{.limit = {.bytes = full, .items = 4'500},
                                .item_overhead = 54,
                                .in_flight = in_flight};
            const messages all = switching(400'000, period);
            const double without = sent(all, p, {numbers}).ratio();
            const result r = sent(all, p, {all_sums});
            CHECK(r.lost == 0);
            CHECK(r.ratio() <= (in_flight == 1 ? 1.06 : 1.08) * without);
            CHECK(r.ratio() < 1.7);
        }
    }
    // In long turns, they save requests.
    for (const std::size_t period : {5'000U, 10'000U}) {
        CAPTURE(period);
        const send_policy p{.limit = {.bytes = full, .items = 4'500}, .item_overhead = 54};
        const messages all = switching(400'000, period);
        CHECK(sent(all, p, {all_sums}).ratio() <= 0.9 * sent(all, p, {numbers}).ratio());
    }
}

namespace {

// The requests of `send_all`, which queues an item only when the sender needs it.
std::uint64_t requests(const messages& all, const send_policy& p, bool sums)
{
    batch_sender s(p);
    const auto transmit = [sums](const auto& batch) -> send_outcome {
        std::uint64_t size = envelope;
        for (const message& m : batch) size += m.size;
        if (size > full) return batch_sender::too_large{.actual = size, .limit = full};
        if (sums) return batch_sender::accepted{.actual = size};
        return batch_sender::accepted{};
    };
    const auto body = [](const message& m) { return m.body; };
    return send_all(all, body, s, transmit, steady_time{}).sends;
}

}  // namespace

TEST_CASE("sender: with headers in turns, the moment at which items are queued hardly matters")
{
    const send_policy p{.limit = {.bytes = full, .items = 4'500}, .item_overhead = 54};
    for (const std::size_t period : {300U, 500U, 1'000U, 1'500U, 2'000U, 2'500U}) {
        CAPTURE(period);
        const messages all = switching(400'000, period);
        const double one_by_one = static_cast<double>(requests(all, p, true));
        const double at_once = static_cast<double>(sent(all, p, {all_sums}, all.size()).sends);
        const double without = static_cast<double>(requests(all, p, false));
        CHECK(std::abs(one_by_one - at_once) <= 0.03 * at_once);
        CHECK(one_by_one <= 1.06 * without);
        CHECK(at_once <= 1.06 * without);
    }
}

TEST_CASE("sender: with true numbers in refusals, no estimate refutes the limit")
{
    // Sizes and compression follow a cycle of 20,000 messages.
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
        CAPTURE(seed);
        dice roll(seed);
        messages all(200'000);
        for (std::size_t i = 0; i != all.size(); ++i) {
            const double day = 0.5 - 0.5 * std::cos(static_cast<double>(i) / 20'000 * 6.2832);
            const double skew = std::exp(static_cast<double>(roll(0, 3'000)) / 1'000 - 1.5);
            const double body = 300 * std::pow(10, day) * skew;
            all[i] = {static_cast<std::uint64_t>(body),
                      60 + static_cast<std::uint64_t>(body * (0.35 + 0.45 * day))};
        }
        const send_policy p{.limit = {.bytes = full, .items = 4'500}, .item_overhead = 54};
        const result r = sent(all, p, {numbers});
        CHECK(r.lost == 0);
        CHECK(r.learnt.limit == full);
        CHECK(r.learnt.refuted_limit == 0);
        CHECK(r.ratio() <= 1.4);
    }
}

namespace {

struct wrong {
    std::string name;
    reports factor;
};

// Each subset of the numbers of such a broker that has at least one wrong number.
template <class F>
void for_each_subset(const wrong& w, F&& f)
{
    const auto is = [](double x) { return x < 1 || x > 1; };
    for (unsigned reported_size = 1; reported_size != 16; ++reported_size) {
        reports r{};
        if ((reported_size & 1U) != 0) r.limit = w.factor.limit;
        if ((reported_size & 2U) != 0) r.refused = w.factor.refused;
        if ((reported_size & 4U) != 0) r.items = w.factor.items;
        if ((reported_size & 8U) != 0) r.accepted = w.factor.accepted;
        const bool any = (r.limit > 0 && is(r.limit)) || (r.refused > 0 && is(r.refused)) ||
                         (r.items > 0 && is(r.items)) || (r.accepted > 0 && is(r.accepted));
        if (any) f(r, w.name + ", reported " + std::to_string(reported_size));
    }
}

// Small ones, ones smaller than their header, large ones, and some that never fit.
std::vector<messages> kinds()
{
    messages mixed = alike(400, 50, 2'000, 60);
    dice roll(9);
    for (std::size_t i = 7; i < mixed.size(); i += 40) mixed[i] = sized(roll(90'000, 250'000), 60);
    for (std::size_t i = 3; i < mixed.size(); i += 200) mixed[i] = sized(400'000, 60);
    return {alike(2'000, 50, 500, 300), alike(2'000, 20, 80, 300), alike(300, 1'000, 5'000, 300),
            mixed};
}

}  // namespace

TEST_CASE("sender: a wrong reported limit loses no item and costs a bounded number of requests")
{
    const double k = 1'024;
    const std::vector<wrong> limits_told = {
        {"kibibytes", {1 / k, 1, 1, 1}},
        {"kilobytes", {0.001, 1, 1, 1}},
        {"megabytes", {1e-6, 1, 1, 1}},
        {"one byte", {1.0 / full, 1, 1, 1}},
        {"half", {0.5, 1, 1, 1}},
        {"a tenth", {0.1, 1, 1, 1}},
        {"twice", {2, 1, 1, 1}},
        {"ten times", {10, 1, 1, 1}},
        {"a thousand times", {1'000, 1, 1, 1}},
        {"of one item", {65'536.0 / full, 1, 1, 1}},
        {"of a larger queue", {4, 1, 1, 1}},
        {"of a smaller one", {10'240.0 / full, 1, 1, 1}},
    };
    for (const messages& all : kinds()) {
        for (const std::uint32_t in_flight : {1U, 4U}) {
            const send_policy p{.limit = {.bytes = full, .items = 4'500},
                                .item_overhead = 54,
                                .in_flight = in_flight};
            for (const wrong& w : limits_told) {
                for_each_subset(w, [&](const reports& tells, const std::string& name) {
                    const result r = sent(all, p, {tells});
                    CHECK_MESSAGE(r.lost == 0, name << ", " << in_flight << " in flight");
                    CHECK_MESSAGE(r.sends <= 12 * r.fewest + 60, name << ": " << r.sends);
                });
            }
        }
    }
}

TEST_CASE("sender: sizes that are wrong by 2, 10 or 1,000 lose no item that fits")
{
    std::vector<wrong> sizes_told;
    for (const double f : {2.0, 10.0, 1'000.0, 0.5, 0.1, 0.001}) {
        const std::string by = " by " + std::to_string(f);
        sizes_told.push_back({"sizes of batches" + by, {1, f, 1, 1}});
        sizes_told.push_back({"sizes of items" + by, {1, 1, f, 1}});
        sizes_told.push_back({"accepted sizes" + by, {1, 1, 1, f}});
        sizes_told.push_back({"all numbers" + by, {f, f, f, f}});
    }
    for (const messages& all : kinds()) {
        const send_policy p{.limit = {.bytes = full, .items = 4'500}, .item_overhead = 54};
        for (const wrong& w : sizes_told) {
            for_each_subset(w, [&](const reports& tells, const std::string& name) {
                CHECK_MESSAGE(sent(all, p, {tells}).lost == 0, name);
            });
        }
    }
}

TEST_CASE("sender: 256 for a limit of 262,144, and headers of 300 instead of 54, lose no item")
{
    const send_policy p{.limit = {.bytes = full}, .item_overhead = 54};
    const result r = sent(alike(20'000, 50, 500, 300), p, {{.limit = 256.0 / full}});
    CHECK(r.lost == 0);
    CHECK(r.sends <= 2 * r.fewest);
}

}  // namespace sender_moving_test
