// SPDX-License-Identifier: MIT
//
// bench/wire: what does it cost to know a size, and what to encode in order to find out?
//
// Each protocol has a part in wire/, with a thousand messages as they are met in practice, no two
// alike, and where it matters with a million, which no cache holds. Its ways to a size are named
// protocol/way: `size` is ours, over views that are at hand; `build and size` makes the views from
// the caller's strings first. Peers are encoders that write the same messages, which must come to
// the same bytes; that is checked before anything is timed. `lengths` adds up nothing but lengths
// and says what the memory costs alone. One pass over all messages is a round, and the table at
// the end has medians for one message.
//
// A further protocol is a part like wire/amqp.hpp, and a line in main.

#include <benchmark/benchmark.h>

#include "support.hpp"
#include "wire/amqp.hpp"
#include "wire/kafka.hpp"
#include "wire/ways.hpp"

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
    const kafka_part::records few(how_many, false);
    const kafka_part::records few_with_headers(how_many, true);
    const kafka_part::records many(1'000 * how_many, false);
    const kafka_part::records many_with_headers(1'000 * how_many, true);
    if (!amqp_part::add_all(mail) || !kafka_part::add_all("kafka", few) ||
        !kafka_part::add_all("kafka, headers", few_with_headers) ||
        !kafka_part::add_all("kafka, a million", many) ||
        !kafka_part::add_all("kafka, headers, a million", many_with_headers)) {
        return 1;
    }

    table out;
    benchmark::RunSpecifiedBenchmarks(&out);
    const bool none = out.print();
    benchmark::Shutdown();
    return none ? 0 : 1;
}
