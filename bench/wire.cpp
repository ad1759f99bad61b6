// SPDX-License-Identifier: MIT
//
// bench/wire: the cost of the size of a message, compared with encoding the message.
//
// Each protocol has a part in wire/, with a thousand typical messages, all different. Kafka also
// has a million, which are larger than the cache. A benchmark is named protocol/way. `size` is the
// size from existing views. `build and size` first makes the views from the strings of the caller.
// Peers are encoders of the same messages; their sizes are checked to be equal. `lengths`, the raw
// loop, only adds up the lengths, and shows the cost of the memory alone. One iteration is a pass
// over all messages, and one operation is one message.
//
// A new protocol needs a part like wire/amqp.hpp, and its calls in main.

#include <cstdio>

#include <benchmark/benchmark.h>

#include "measure.hpp"
#include "wire/amqp.hpp"
#include "wire/kafka.hpp"
#include "wire/ways.hpp"

int main(int argc, char** argv)
{
    using namespace wire_bench;
    bench::runner all(argc, argv);
    const amqp_part::mail mail;
    const kafka_part::records few(cached, false);
    const kafka_part::records few_with_headers(cached, true);
    const kafka_part::records many(1'000 * cached, false);
    const kafka_part::records many_with_headers(1'000 * cached, true);
    amqp_part::add_all(all, mail);
    kafka_part::add_all(all, "kafka", few);
    kafka_part::add_all(all, "kafka, headers", few_with_headers);
    kafka_part::add_all(all, "kafka, a million", many);
    kafka_part::add_all(all, "kafka, headers, a million", many_with_headers);
    if (!all.run("kafka, headers/lengths")) return 2;
    if (!amqp_part::equal_all(mail) || !kafka_part::equal_all("kafka", few) ||
        !kafka_part::equal_all("kafka, headers", few_with_headers) ||
        !kafka_part::equal_all("kafka, a million", many) ||
        !kafka_part::equal_all("kafka, headers, a million", many_with_headers)) {
        return 1;
    }
    all.print_spread();
    const bool none = print(all);
    if (!none) std::fprintf(stderr, "the computation of a size has allocated\n");
    return none && !all.failed() ? 0 : 1;
}
