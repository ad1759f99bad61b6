// SPDX-License-Identifier: MIT
//
// bench/wire: what does it cost to know a size, and what to encode in order to find out?
//
// Each protocol has a part below, with a thousand messages as they are met in practice, no two
// alike. Its ways to a size are named protocol/way: `size` is ours, over views that are at hand;
// `build and size` makes the views from the caller's strings first. Peers are encoders that write
// the same messages, which must come to the same bytes; that is checked before anything is timed.
// `lengths` adds up nothing but lengths and says what the memory costs alone. One pass over all
// messages is a round, and the table at the end has medians for one message.
//
// A further protocol is a part like `amqp_part`, and a line in main.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>
#include <proton/codec.h>
#include <proton/message.h>

#include "support.hpp"

#include <waybill/wire/amqp_encoder.hpp>
#include <waybill/wire/amqp_message.hpp>
#include <waybill/wire/amqp_size.hpp>
#include <waybill/wire/amqp_value.hpp>

namespace wire_bench {

using bench::allocations;

constexpr std::size_t how_many = 1'000;

/// One way through all messages, which gives the sum of their bytes.
template <class Way>
void add(const char* protocol, const char* way, Way run)
{
    const std::string name = std::string(protocol) + "/" + way;
    benchmark::RegisterBenchmark(name.c_str(), [run](benchmark::State& state) {
        const std::uint64_t before = allocations;
        for ([[maybe_unused]] auto round : state) {
            auto sum = run();
            benchmark::DoNotOptimize(sum);
            benchmark::ClobberMemory();
        }
        state.counters["allocations"] = static_cast<double>(allocations - before);
    });
}

/// False, with a line, where a peer comes to other bytes.
bool equal(const char* what, std::uint64_t ours, std::uint64_t theirs)
{
    if (ours == theirs) return true;
    std::fprintf(stderr, "%s: %llu bytes here, %llu there\n", what,
                 static_cast<unsigned long long>(ours), static_cast<unsigned long long>(theirs));
    return false;
}

// AMQP 1.0 beside pn_message_encode: an id of 36 characters, a content type, a session, five
// properties and a body of 1 KB on average.
namespace amqp_part {

namespace amqp = waybill::wire::amqp;

struct letter {
    std::string id;
    std::string session;
    std::string tenant;
    std::string trace;
    std::int32_t tries = 0;
    std::int64_t order = 0;
    bool late = false;
    std::string body;
};

constexpr char content_type[] = "application/json";

std::vector<letter> letters()
{
    std::mt19937 dice(17);
    const auto text = [&](std::size_t least, std::size_t most) {
        return std::string(least + dice() % (most - least + 1), 'x');
    };
    std::vector<letter> all;
    for (std::size_t i = 0; i != how_many; ++i) {
        all.push_back({text(36, 36), text(6, 14), text(3, 20), text(55, 55),
                       static_cast<std::int32_t>(dice() % 200), static_cast<std::int64_t>(dice()),
                       dice() % 2 == 0, text(200, 1848)});
    }
    return all;
}

void name_and_value(amqp::property (&to)[5], const letter& l)
{
    to[0] = {"tenant", l.tenant};
    to[1] = {"traceparent", l.trace};
    to[2] = {"tries", l.tries};
    to[3] = {"order", l.order};
    to[4] = {"late", l.late};
}

amqp::message view(const letter& l, const amqp::property (&properties)[5])
{
    return {.body = l.body.size(),
            .message_id = l.id,
            .content_type = content_type,
            .group_id = l.session,
            .properties = properties};
}

void put(pn_data_t* to, const char* name, const std::string& text)
{
    pn_data_put_string(to, pn_bytes(std::char_traits<char>::length(name), name));
    pn_data_put_string(to, pn_bytes(text.size(), text.data()));
}

void fill(pn_message_t* m, const letter& l)
{
    pn_message_clear(m);
    pn_atom_t id{};
    id.type = PN_STRING;
    id.u.as_bytes = pn_bytes(l.id.size(), l.id.data());
    pn_message_set_id(m, id);
    pn_message_set_content_type(m, content_type);
    pn_message_set_group_id(m, l.session.c_str());
    pn_data_t* p = pn_message_properties(m);
    pn_data_put_map(p);
    pn_data_enter(p);
    put(p, "tenant", l.tenant);
    put(p, "traceparent", l.trace);
    pn_data_put_string(p, pn_bytes(5, "tries"));
    pn_data_put_int(p, l.tries);
    pn_data_put_string(p, pn_bytes(5, "order"));
    pn_data_put_long(p, l.order);
    pn_data_put_string(p, pn_bytes(4, "late"));
    pn_data_put_bool(p, l.late);
    pn_data_exit(p);
    pn_message_set_inferred(m, true);
    pn_data_put_binary(pn_message_body(m), pn_bytes(l.body.size(), l.body.data()));
}

std::uint64_t encoded(pn_message_t* m)
{
    static char buffer[8192];
    std::size_t n = sizeof buffer;
    return pn_message_encode(m, buffer, &n) == 0 ? n : 0;
}

struct mail {
    struct properties {
        amqp::property all[5];
    };

    std::vector<letter> letters = amqp_part::letters();
    std::vector<properties> props = std::vector<properties>(how_many);
    std::vector<amqp::message> views;
    std::vector<pn_message_t*> filled;

    mail()
    {
        for (std::size_t i = 0; i != how_many; ++i) {
            name_and_value(props[i].all, letters[i]);
            views.push_back(view(letters[i], props[i].all));
            filled.push_back(pn_message());
            fill(filled.back(), letters[i]);
        }
    }
    ~mail()
    {
        for (pn_message_t* m : filled) pn_message_free(m);
    }
    mail(const mail&) = delete;
    mail& operator=(const mail&) = delete;
};

template <class P>
[[gnu::noinline]] std::uint64_t sizes(const mail& m)
{
    std::uint64_t sum = 0;
    for (const auto& each : m.views) sum += amqp::size<P>(each);
    return sum;
}

[[gnu::noinline]] std::uint64_t built_sizes(const mail& m)
{
    std::uint64_t sum = 0;
    for (const auto& each : m.letters) {
        amqp::property properties[5];
        name_and_value(properties, each);
        sum += amqp::size<amqp::proton>(view(each, properties));
    }
    return sum;
}

[[gnu::noinline]] std::uint64_t lengths(const mail& m)
{
    std::uint64_t sum = 0;
    for (const auto& each : m.views) {
        sum += each.body.as_value().length() + each.message_id.as_value().length() +
               each.content_type.size() + each.group_id.size();
        for (const auto& p : each.properties) sum += p.name.size() + p.value.length();
    }
    return sum;
}

[[gnu::noinline]] std::uint64_t all_encoded(const mail& m)
{
    std::uint64_t sum = 0;
    for (pn_message_t* each : m.filled) sum += encoded(each);
    return sum;
}

[[gnu::noinline]] std::uint64_t all_filled_and_encoded(const mail& m)
{
    std::uint64_t sum = 0;
    pn_message_t* one = pn_message();
    for (const auto& each : m.letters) {
        fill(one, each);
        sum += encoded(one);
    }
    pn_message_free(one);
    return sum;
}

bool add_all(const mail& m)
{
    add("amqp", "lengths", [&m] { return lengths(m); });
    add("amqp", "size", [&m] { return sizes<amqp::proton>(m); });
    add("amqp", "size of bound", [&m] { return sizes<amqp::bound>(m); });
    add("amqp", "size of rhea", [&m] { return sizes<amqp::rhea>(m); });
    add("amqp", "build and size", [&m] { return built_sizes(m); });
    add("amqp", "pn_message_encode", [&m] { return all_encoded(m); });
    add("amqp", "fill and encode", [&m] { return all_filled_and_encoded(m); });
    const std::uint64_t theirs = all_encoded(m);
    return equal("amqp/size", sizes<amqp::proton>(m), theirs) &&
           equal("amqp/build and size", built_sizes(m), theirs) &&
           equal("amqp/fill and encode", all_filled_and_encoded(m), theirs);
}

}  // namespace amqp_part

// Prints the medians as usual, and keeps every single run for the table.
class table : public benchmark::ConsoleReporter {
public:
    void ReportRuns(const std::vector<Run>& runs) override
    {
        std::vector<Run> shown;
        for (const Run& r : runs) {
            if (r.run_type == Run::RT_Iteration) note(r);
            else if (r.aggregate_name == "median") shown.push_back(r);
        }
        ConsoleReporter::ReportRuns(shown.empty() ? runs : shown);
    }

    // False if a size has allocated.
    bool print()
    {
        std::printf("\n%-28s %12s %14s %12s\n", "way", "ns/message", "over `size`", "allocations");
        bool none = true;
        for (const auto& [name, w] : ways_) {
            const double ns = bench::median(w.times);
            const auto ours = ways_.find(name.substr(0, name.find('/')) + "/size");
            const double ratio = ours == ways_.end() ? 0 : ns / bench::median(ours->second.times);
            std::printf("%-28s %12.2f %14.2f %12llu\n", name.c_str(), ns, ratio,
                        static_cast<unsigned long long>(w.allocated));
            if (name.find("size") != name.npos && w.allocated != 0) none = false;
        }
        return none;
    }

private:
    struct way {
        std::vector<double> times;
        std::uint64_t allocated = 0;
    };

    void note(const Run& r)
    {
        way& w = ways_[r.run_name.function_name];
        w.times.push_back(r.cpu_accumulated_time * 1e9 / static_cast<double>(r.iterations) /
                          static_cast<double>(how_many));
        w.allocated += static_cast<std::uint64_t>(r.counters.at("allocations").value);
    }

    std::map<std::string, way> ways_;
};

}  // namespace wire_bench

int main(int argc, char** argv)
{
    if (!bench::start({"--benchmark_repetitions=15",
                       "--benchmark_min_time=0.02",
                       "--benchmark_enable_random_interleaving=true"},
                      argc, argv)) {
        return 2;
    }

    using namespace wire_bench;
    const amqp_part::mail mail;
    if (!amqp_part::add_all(mail)) return 1;

    table out;
    benchmark::RunSpecifiedBenchmarks(&out);
    const bool none = out.print();
    benchmark::Shutdown();
    return none ? 0 : 1;
}
