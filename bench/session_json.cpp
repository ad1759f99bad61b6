// SPDX-License-Identifier: MIT
//
// bench/session_json: the cost of the state of a session in JSON or CBOR.
//
// One run reads a state into a type of the caller, or writes one. The peer uses nlohmann's library
// by hand: parse and get, or the JSON of the value and its dump, and CRC-32C of the bytes. There
// are three peers for each: `value` has the value alone. `same bytes` has the progress as one more
// field, so that it has the same bytes and the same information as the state of waybill, except the
// line of the envelope. `tree` also has the same bytes, but no types: it parses them, or dumps the
// tree that it has built before.
//
// The rows `later` are for a state that a later version of the program wrote, with one more field
// in each struct. The peer knows this field. `first` means the first write after reading a state
// whose version does not show that it is a later one. One operation is one byte of the stored
// state, also for the peers, and the table has the time and the instructions of a whole state.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include "measure.hpp"
#include <waybill/ext/json/state_codec.hpp>
#include <waybill/session/detail/sealed_state.hpp>

namespace session_json_bench {

struct order {
    std::int64_t lines = 0;
    std::string receipt, customer, currency;
    double total = 0;
    bool paid = false;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(order, lines, receipt, customer, currency, total,
                                                paid)

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

// The same types in a later version: each struct has one more field.

struct later_order {
    std::int64_t lines = 0;
    std::string receipt, customer, currency;
    double total = 0;
    bool paid = false;
    std::string voucher;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(later_order, lines, receipt, customer, currency,
                                                total, paid, voucher)

struct later_basket {
    std::vector<later_order> orders;
    std::map<std::string, std::string> notes;
    later_order first;
    std::string voucher;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(later_basket, orders, notes, first, voucher)

struct later_imported {
    std::vector<std::uint64_t> rows;
    std::map<std::string, std::int64_t> stock;
    std::string voucher;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(later_imported, rows, stock, voucher)

/// The progress of a session, by hand.
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
            "Customer " + std::to_string(n),   "EUR",
            static_cast<double>(n) * 1.25,     n % 2 == 0};
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

later_order later(const order& o)
{
    return {o.lines, o.receipt, o.customer, o.currency, o.total, o.paid, "spring"};
}

later_basket later(const basket& b)
{
    later_basket all{{}, b.notes, later(b.first), "spring"};
    for (const order& o : b.orders) all.orders.push_back(later(o));
    return all;
}

later_imported later(const imported& i)
{
    return {i.rows, i.stock, "spring"};
}

struct row {
    std::string name;
    std::size_t peer_bytes;
    std::size_t state_bytes;
    std::string ours;  // names of the benchmarks
    std::string peer;
    double highest;  // the goal for the ratio, 0 if there is none
};

template <class T>
using codec_state = typename waybill::state_codec<T>::state;

/// All that the benchmarks of one value need. It exists until the end of the program.
template <class T>
class subject {
public:
    using later_type = decltype(later(std::declval<T>()));

    subject(const T& v, waybill::state_format f)
        : cbor(f == waybill::state_format::cbor),
          codec(made<T>(f, 0)),
          full{v, by_hand_progress},
          full_later{later(v), by_hand_progress},
          stored(encoded(codec, v)),
          stored_later(encoded(made<later_type>(f, 1), full_later.value)),
          stored_unmarked(encoded(made<later_type>(f, 0), full_later.value)),
          state(codec.decode(stored)),
          state_later(codec.decode(stored_later)),
          state_unmarked(codec.decode(stored_unmarked)),
          tree(full),
          alone(written(full.value)),
          same(written(full)),
          same_later(written(full_later))
    {
    }

    template <class V>
    static waybill::state_codec<V> made(waybill::state_format f, std::uint16_t minor)
    {
        return *waybill::state_codec<V>::make(
            {.budget = {.bytes = 4'000'000}, .version = {1, minor}, .format = f});
    }
    /// The state as it is stored.
    template <class V>
    static std::string encoded(const waybill::state_codec<V>& c, const V& value)
    {
        auto s = c.decode(std::nullopt);
        s.value = value;
        s.progress = {.done = 2,
                      .total = 5,
                      .begun = waybill::wall_time::at(waybill::duration::seconds(1'709'208'000)),
                      .changed = waybill::wall_time::at(waybill::duration::seconds(1'709'208'031))};
        return *c.encode(s);
    }
    template <class V>
    std::string written(const V& v) const
    {
        std::string bytes;
        if (cbor) nlohmann::json::to_cbor(nlohmann::json(v), bytes);
        if (!cbor) bytes = nlohmann::json(v).dump();
        return bytes;
    }
    std::string written(const nlohmann::json& j) const
    {
        std::string bytes;
        if (cbor) nlohmann::json::to_cbor(j, bytes);
        if (!cbor) bytes = j.dump();
        return bytes;
    }
    nlohmann::json parsed(const std::string& bytes) const
    {
        return cbor ? nlohmann::json::from_cbor(bytes) : nlohmann::json::parse(bytes);
    }

    inline static const by_hand by_hand_progress{"2024-02-29T12:00:00Z", "2024-02-29T12:00:31Z", 2,
                                                 5};
    bool cbor;
    waybill::state_codec<T> codec;
    with_progress<T> full;
    with_progress<later_type> full_later;
    std::string stored, stored_later, stored_unmarked;
    codec_state<T> state, state_later;
    const codec_state<T> state_unmarked;
    nlohmann::json tree;
    std::string alone, same, same_later;
};

template <class F>
void add(bench::runner& all, const std::string& name, std::size_t bytes, F f)
{
    all.add(name, static_cast<double>(bytes), [f](benchmark::State& state) {
        for ([[maybe_unused]] auto r : state) f();
    });
}

template <class V, class S>
void write_by_hand(const S& s, const V& value)
{
    const std::string bytes = s->written(value);
    benchmark::DoNotOptimize(waybill::crc32c(bytes));
    benchmark::DoNotOptimize(bytes);
}

template <class V, class S>
void read_by_hand(const S& s, const std::string& bytes)
{
    benchmark::DoNotOptimize(waybill::crc32c(bytes));
    benchmark::DoNotOptimize(s->parsed(bytes).template get<V>());
}

/// Adds the benchmarks of a state that a later version of the program wrote.
template <class S>
void add_later(bench::runner& all, std::vector<row>& rows, const std::string& name, const S& s)
{
    using later_type = typename S::element_type::later_type;
    const std::size_t bytes = s->stored_later.size();
    const std::size_t peer_bytes = s->same_later.size();
    add(all, name + "encode later", bytes,
        [s] { benchmark::DoNotOptimize(s->codec.encode(s->state_later)); });
    add(all, name + "encode later, first", bytes,
        [s] { benchmark::DoNotOptimize(s->codec.encode(s->state_unmarked)); });
    add(all, name + "encode later, same bytes", bytes, [s] { write_by_hand(s, s->full_later); });
    add(all, name + "decode later", bytes,
        [s] { benchmark::DoNotOptimize(s->codec.decode(s->stored_later)); });
    add(all, name + "decode later, same bytes", bytes,
        [s] { read_by_hand<with_progress<later_type>>(s, s->same_later); });
    for (const char* verb : {"encode later", "decode later"}) {
        const double goal = verb[0] == 'e' ? 1.30 : 0;
        const std::string ours = name + verb;
        const std::string peer = ours + ", same bytes";
        rows.push_back({peer, peer_bytes, bytes, ours, peer, goal});
    }
    const std::string peer = name + "encode later, same bytes";
    rows.push_back(
        {name + "encode later, first", peer_bytes, bytes, name + "encode later, first", peer, 0});
}

/// Registers the benchmarks of a value. Returns false if its state and the peer have other sizes.
template <class T>
bool add_all(bench::runner& all, std::vector<row>& rows, const std::string& value_name,
             const T& value, waybill::state_format format)
{
    const auto s = std::make_shared<subject<T>>(value, format);
    const std::string name = value_name + (s->cbor ? " cbor " : " ");
    const std::size_t bytes = s->stored.size();
    add(all, name + "encode", bytes, [s] { benchmark::DoNotOptimize(s->codec.encode(s->state)); });
    add(all, name + "encode, value", bytes, [s] { write_by_hand(s, s->full.value); });
    add(all, name + "encode, same bytes", bytes, [s] { write_by_hand(s, s->full); });
    add(all, name + "encode, tree", bytes, [s] { write_by_hand(s, s->tree); });
    add(all, name + "decode", bytes, [s] { benchmark::DoNotOptimize(s->codec.decode(s->stored)); });
    add(all, name + "decode, value", bytes, [s] { read_by_hand<T>(s, s->alone); });
    add(all, name + "decode, same bytes", bytes,
        [s] { read_by_hand<with_progress<T>>(s, s->same); });
    add(all, name + "decode, tree", bytes, [s] {
        benchmark::DoNotOptimize(waybill::crc32c(s->same));
        benchmark::DoNotOptimize(s->parsed(s->same));
    });
    for (const char* verb : {"encode", "decode"}) {
        const std::string ours = name + verb;
        rows.push_back({ours + ", value", s->alone.size(), bytes, ours, ours + ", value", 0});
        rows.push_back(
            {ours + ", same bytes", s->same.size(), bytes, ours, ours + ", same bytes", 1.10});
        rows.push_back({ours + ", tree", s->same.size(), bytes, ours, ours + ", tree", 0});
    }
    add_later(all, rows, name, s);
    return bytes == s->same.size() + waybill::detail::envelope_bytes &&
           s->stored_later.size() == s->same_later.size() + waybill::detail::envelope_bytes &&
           *s->codec.encode(s->state_later) == s->stored_later &&
           *s->codec.encode(s->state_unmarked) == s->stored_unmarked;
}

void print(const bench::runner& all, const std::vector<row>& rows)
{
    std::printf("\n%-34s %8s %10s %10s %6s %7s %12s %12s %6s\n", "a state", "bytes", "ns",
                "peer ns", "ratio", "goal", "instructions", "of the peer", "ratio");
    for (const row& r : rows) {
        const bench::figures ours = all.at(r.ours);
        const bench::figures peer = all.at(r.peer);
        const auto size = static_cast<double>(r.state_bytes);
        const double ns = all.noisy() ? 0 : ours.ns * size;
        const double peer_ns = all.noisy() ? 0 : peer.ns * size;
        std::printf("%-34s %8zu %10s %10s %6s %7s %12s %12s %6s\n", r.name.c_str(), r.peer_bytes,
                    bench::cell(ns, 0).c_str(), bench::cell(peer_ns, 0).c_str(),
                    bench::cell(ns / peer_ns, 2).c_str(), bench::cell(r.highest, 2).c_str(),
                    bench::cell(ours.instructions * size, 0).c_str(),
                    bench::cell(peer.instructions * size, 0).c_str(),
                    bench::cell(ours.instructions / peer.instructions, 2).c_str());
    }
}

}  // namespace

}  // namespace session_json_bench

int main(int argc, char** argv)
{
    using namespace session_json_bench;
    bench::runner all(argc, argv);
    std::vector<row> rows;
    bool equal = true;
    for (const auto f : {waybill::state_format::json, waybill::state_format::cbor}) {
        equal = add_all(all, rows, "order", an_order(7), f) && equal;
        equal = add_all(all, rows, "basket", a_basket(20), f) && equal;
        equal = add_all(all, rows, "import", an_import(4'567), f) && equal;
    }
    if (!equal) {
        std::fprintf(stderr, "a state and its peer have different sizes\n");
        return 1;
    }
    if (!all.run("basket encode, same bytes")) return 2;
    all.print_spread();
    print(all, rows);
    return all.failed() ? 1 : 0;
}
