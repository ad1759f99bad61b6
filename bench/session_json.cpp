// SPDX-License-Identifier: MIT
//
// bench/session_json: what does a session's state cost, beside what its JSON costs anyway?
//
// One operation is to read a state into a user's type, or to write one. Its peer is what one does
// by hand with nlohmann's library: parse and get, or the JSON of the value and its dump, and
// CRC-32C of the bytes. Twice: of the value alone, which is all that is asked of a peer, and of a
// value that has the progress among its own fields, which is the same bytes and the same knowledge.
//
// Both take turns in one run, by the processor's time, and the ratio is that of their best rounds.
// A state with fields that are not known is written at the price of another reading of the value;
// the last rows say how much that is.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "support.hpp"
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session/detail/sealed_state.hpp>

namespace session_json_bench {

struct order {
    std::int64_t lines = 0;
    std::string receipt, customer, currency;
    double total = 0;
    bool paid = false;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, lines, receipt, customer, currency, total, paid)

struct basket {
    std::vector<order> orders;
    std::map<std::string, std::string> notes;
    order first;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(basket, orders, notes, first)

struct imported {
    std::vector<std::uint64_t> rows;
    std::map<std::string, std::int64_t> stock;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(imported, rows, stock)

/// The progress as one writes it by hand.
struct by_hand {
    std::string begun, changed;
    std::uint64_t done = 0, total = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(by_hand, begun, changed, done, total)

template <class T>
struct with_progress {
    T value;
    by_hand waybill;
};

template <class T>
void to_json(nlohmann::json& j, const with_progress<T>& v)
{
    j = v.value;
    j["waybill"] = v.waybill;
}
template <class T>
void from_json(const nlohmann::json& j, with_progress<T>& v)
{
    j.get_to(v.value);
    j.at("waybill").get_to(v.waybill);
}

namespace {

order an_order(std::uint64_t n)
{
    return {static_cast<std::int64_t>(n % 40), "receipt-" + std::to_string(n * 7919),
            "Customer " + std::to_string(n), "EUR", static_cast<double>(n) * 1.25, n % 2 == 0};
}

basket a_basket(std::uint64_t orders)
{
    basket b;
    for (std::uint64_t n = 0; n != orders; ++n) b.orders.push_back(an_order(n));
    for (std::uint64_t n = 0; n != orders; ++n) {
        b.notes["note " + std::to_string(n)] = "left at the door, \"ring\" twice";
    }
    b.first = an_order(0);
    return b;
}

imported an_import(std::uint64_t products)
{
    imported i;
    for (std::uint64_t n = 0; n != products; ++n) i.rows.push_back(n * 1'000'003 % 999'983);
    for (std::uint64_t n = 0; n != products; ++n) {
        i.stock["sku-" + std::to_string(n)] = static_cast<std::int64_t>(n * 31 % 500);
    }
    return i;
}

/// Nanoseconds of the processor, whoever else it works for meanwhile.
double used()
{
    timespec t{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e9 + static_cast<double>(t.tv_nsec);
}

template <class F>
double once(std::uint64_t times, F&& f)
{
    const double begin = used();
    for (std::uint64_t n = 0; n != times; ++n) f();
    return (used() - begin) / static_cast<double>(times);
}

int rounds = 101;

template <class A, class B>
void compare(const char* what, std::size_t bytes, A&& ours, B&& peer, double most)
{
    const double guess = once(3, peer);
    const auto times = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(1e6 / guess));
    std::vector<double> a, b;
    for (int n = 0; n != rounds; ++n) {
        b.push_back(once(times, peer));
        a.push_back(once(times, ours));
    }
    const double mine = *std::min_element(a.begin(), a.end());
    const double theirs = *std::min_element(b.begin(), b.end());
    const double ratio = mine / theirs;
    std::printf("%-34s %8zu %10.0f %10.0f %7.3f", what, bytes, mine, theirs, ratio);
    if (most > 0) std::printf("   %s %.2f", ratio <= most ? "<=" : "> ", most);
    std::printf("\n");
}

template <class T>
void measure(const char* name, const T& value, waybill::state_format format)
{
    using nlohmann::json;
    const bool cbor = format == waybill::state_format::cbor;
    const auto codec = *waybill::state_codec<T>::make({.budget = {.bytes = 4'000'000}, .format = format});
    auto state = codec.decode(std::nullopt);
    state.value = value;
    state.progress = {.done = 2, .total = 5,
                      .begun = waybill::wall_time::at(waybill::duration::seconds(1'709'208'000)),
                      .changed = waybill::wall_time::at(waybill::duration::seconds(1'709'208'031))};
    const std::string stored = *codec.encode(state);
    state = codec.decode(stored);
    const with_progress<T> full{value, {"2024-02-29T12:00:00Z", "2024-02-29T12:00:31Z", 2, 5}};

    const auto written = [cbor](const auto& v) {
        std::string bytes;
        if (cbor) json::to_cbor(json(v), bytes);
        else bytes = json(v).dump();
        return bytes;
    };
    const auto parsed = [cbor](const std::string& bytes) {
        return cbor ? json::from_cbor(bytes) : json::parse(bytes);
    };
    const std::string alone = written(value);
    const std::string same = written(full);
    if (stored.size() != same.size() + waybill::detail::envelope_bytes) std::abort();
    const auto row = [&](const char* what) { return std::string(name) + (cbor ? " cbor " : " ") + what; };
    const auto encode = [&] { benchmark::DoNotOptimize(codec.encode(state)); };
    const auto decode = [&] { benchmark::DoNotOptimize(codec.decode(stored)); };
    compare(row("encode, value").c_str(), alone.size(), encode, [&] {
        const std::string bytes = written(value);
        benchmark::DoNotOptimize(waybill::crc32c(bytes));
        benchmark::DoNotOptimize(bytes);
    }, 0);
    compare(row("encode, same bytes").c_str(), same.size(), encode, [&] {
        const std::string bytes = written(full);
        benchmark::DoNotOptimize(waybill::crc32c(bytes));
        benchmark::DoNotOptimize(bytes);
    }, 1.10);
    compare(row("decode, value").c_str(), alone.size(), decode, [&] {
        benchmark::DoNotOptimize(waybill::crc32c(alone));
        benchmark::DoNotOptimize(parsed(alone).template get<T>());
    }, 0);
    compare(row("decode, same bytes").c_str(), same.size(), decode, [&] {
        benchmark::DoNotOptimize(waybill::crc32c(same));
        benchmark::DoNotOptimize(parsed(same).template get<with_progress<T>>());
    }, 1.10);
    auto more = state;
    more.read.user["unknown"] = {1, 2, 3};
    compare(row("encode, a field unknown").c_str(), alone.size(),
            [&] { benchmark::DoNotOptimize(codec.encode(more)); }, encode, 0);
}

}  // namespace

}  // namespace session_json_bench

int main(int argc, char** argv)
{
    using namespace session_json_bench;
    if (argc > 1) rounds = std::max(3, std::atoi(argv[1]));
    std::printf("%-34s %8s %10s %10s %7s\n", "", "bytes", "ns", "peer ns", "ratio");
    for (const auto f : {waybill::state_format::json, waybill::state_format::cbor}) {
        measure("order", an_order(7), f);
        measure("basket", a_basket(20), f);
        measure("import", an_import(4'567), f);
    }
    return 0;
}
