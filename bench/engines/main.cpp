// SPDX-License-Identifier: MIT
//
// bench/run engines: batches and consumers of waybill on real engines, relative to one event at a
// time, to the batches of the client library, and to a consumer by hand.
//
//     bench_engines                     all engines; prints the table
//     bench_engines nats sqlite         these engines
//     bench_engines --write README.md   also replaces the table between its marks in the file
//
// Each engine is a server of this program on 127.0.0.1, with its data in a temporary folder. An
// engine that is not installed is skipped. frame.hpp has the method.

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "../../examples/support/cleanup.hpp"
#include "frame.hpp"

namespace engines_bench {

namespace {

struct engine {
    std::string_view name;
    row (*run)(const std::string& folder);  ///< Null: built without its client library.
    std::string_view packages;
    std::string_view survived;  ///< Faults, with the script in tests/integration that proves it.
};

#ifdef WAYBILL_BENCH_NATS
constexpr auto run_nats = &nats;
#else
constexpr decltype(&nats) run_nats = nullptr;
#endif
#ifdef WAYBILL_BENCH_KAFKA
constexpr auto run_kafka = &kafka;
#else
constexpr decltype(&kafka) run_kafka = nullptr;
#endif
#ifdef WAYBILL_BENCH_RABBITMQ
constexpr auto run_rabbitmq = &rabbitmq;
#else
constexpr decltype(&rabbitmq) run_rabbitmq = nullptr;
#endif
#ifdef WAYBILL_BENCH_POSTGRESQL
constexpr auto run_postgresql = &postgresql;
#else
constexpr decltype(&postgresql) run_postgresql = nullptr;
#endif

constexpr std::array engines{
    engine{"nats", run_nats, "nats-server and libnats-dev",
           "nodes of a cluster are killed (nats_log.sh); the server stops responding "
           "(nats_publisher.sh)"},
    engine{"kafka", run_kafka, "librdkafka-dev",
           "brokers stop, leaders move, requests fail (kafka_log.sh)"},
    engine{"rabbitmq", run_rabbitmq, "rabbitmq-server and librabbitmq-dev",
           "each error code has its outcome (send_batches_rabbitmq.sh)"},
    engine{"postgresql", run_postgresql, "postgresql and libpq-dev",
           "primaries and their supervisor are killed (postgres_pair.sh)"},
    engine{"sqlite", &sqlite, "libsqlite3-dev",
           "processes are killed in the middle of a batch (reliable_consumer.sh)"},
};

/// 12,345.
std::string number(double n)
{
    std::string digits = std::to_string(static_cast<std::uint64_t>(n));
    for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
    return digits;
}

std::string ratio(const rate& ours, const rate& base)
{
    if (base.highest <= 0) return "-";
    char text[32];
    const double r = ours.highest / base.highest;
    std::snprintf(text, sizeof text, "%.*f", r < 9.95 ? 2 : 0, r);
    return std::string(text) + " (" + number(ours.highest) + " / " + number(base.highest) + ")";
}

std::string line_of(const engine& e, const row& r)
{
    std::ostringstream line;
    line << "| " << r.engine << " | ";
    std::istringstream names(r.adapters);
    const char* before = "";
    for (std::string name; names >> name; before = ", ")
        line << before << "[" << name << "](../examples/engines/" << name << ")";
    line << " | `bench/run engines " << e.name << "` | " << e.survived << " | "
         << ratio(r.ours, r.single) << " | "
         << ratio(r.unordered.highest > 0 ? r.unordered : r.ours, r.library) << " | "
         << ratio(r.consumer, r.by_hand) << " |\n";
    return line.str();
}

std::string percent(const rate& r)
{
    return r.highest > 0 ? std::to_string(static_cast<int>(r.spread() * 100 + 0.5)) + " %" : "-";
}

void print_spread(const engine& e, const row& r)
{
    std::printf(
        "%s: the highest rate is above the median by %s (one at a time), %s (library), "
        "%s (consumer by hand)\n",
        std::string(e.name).c_str(), percent(r.single).c_str(), percent(r.library).c_str(),
        percent(r.by_hand).c_str());
    if (r.unordered.highest > 0) {
        std::printf("%s: in the order of each key %s, without an order %s events per second\n",
                    std::string(e.name).c_str(), number(r.ours.highest).c_str(),
                    number(r.unordered.highest).c_str());
    }
    for (const rate& each : {r.single, r.library, r.by_hand}) {
        if (each.spread() <= 0.25) continue;
        std::printf("%s: the machine is noisy; a ratio can be wrong by this much\n",
                    std::string(e.name).c_str());
        return;
    }
}

/// Prints the reason if the engine is skipped.
void run(const engine& e, const std::string& folder, std::string& table)
{
    const std::string name(e.name);
    try {
        if (!e.run) throw missing("built without " + std::string(e.packages));
        std::filesystem::create_directory(folder);
        const row r = e.run(folder);
        table += line_of(e, r);
        print_spread(e, r);
    } catch (const std::exception& why) {
        std::printf("SKIP: %s: %s\n", name.c_str(), why.what());
    }
}

constexpr std::string_view head =
    "| engine | adapter | command | faults survived | (1) batches over one at a time | "
    "(2) batches over the library's | (3) consumer over a loop by hand |\n"
    "|---|---|---|---|---|---|---|\n";

/// Replaces the text between the two marks.
void write_into(const std::string& path, const std::string& table)
{
    constexpr std::string_view begin = "<!-- bench/run engines -->\n";
    constexpr std::string_view end = "<!-- end of bench/run engines -->";
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    const std::size_t first = text.find(begin);
    const std::size_t last = text.find(end);
    expect(first != text.npos && last != text.npos && first < last, "the file has no marks");
    text.replace(first + begin.size(), last - first - begin.size(), table);
    std::ofstream(path, std::ios::binary) << text;
}

}  // namespace

int main_of(const std::vector<std::string>& words)
{
    std::string file;
    std::vector<engine> chosen;
    for (std::size_t n = 0; n != words.size(); ++n) {
        if (words[n] == "--write" && n + 1 != words.size()) {
            file = words[++n];
            continue;
        }
        const auto found = std::find_if(engines.begin(), engines.end(),
                                        [&](const engine& e) { return e.name == words[n]; });
        if (found == engines.end()) {
            std::fprintf(stderr, "no engine is called %s\n", words[n].c_str());
            return 2;
        }
        chosen.push_back(*found);
    }
    if (!file.empty() && !chosen.empty()) {
        std::fprintf(stderr, "--write needs all engines: leave out the names\n");
        return 2;
    }
    if (chosen.empty()) chosen.assign(engines.begin(), engines.end());

    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    support::end_on_signals();
    const support::temporary_folder here("bench_engines");
    // PostgreSQL works as another user.
    std::filesystem::permissions(here.path(), std::filesystem::perms{0711});
    std::string table(head);
    for (const engine& e : chosen) run(e, here.path() + "/" + std::string(e.name), table);
    std::printf("\nEvents per second in parentheses.\n\n%s", table.c_str());
    if (!file.empty()) write_into(file, table);
    return 0;
}

}  // namespace engines_bench

int main(int argc, char** argv)
{
    return engines_bench::main_of({argv + 1, argv + argc});
}
