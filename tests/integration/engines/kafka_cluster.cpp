// SPDX-License-Identifier: MIT
//
// A mock cluster of Kafka with the topic "lines" of two partitions. Prints its address, and waits
// for a signal.

#include <cstdio>

#include <engines/kafka.hpp>
#include <unistd.h>

int main()
{
    engines::kafka_mock cluster(1);
    cluster.topic("lines", 2);
    std::printf("%s\n", cluster.address().c_str());
    std::fflush(stdout);
    pause();
}
