// SPDX-License-Identifier: MIT
//
// free_port: a port for a server that a test starts.

#ifndef WAYBILL_TESTS_INTEGRATION_ENGINES_FREE_PORT_HPP
#define WAYBILL_TESTS_INTEGRATION_ENGINES_FREE_PORT_HPP

#include <cstdint>
#include <cstdio>
#include <random>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

namespace integration {

/// Prints a free port of 127.0.0.1. It is below the ports that the system assigns, so that no other
/// program gets it meanwhile. Returns the exit code.
inline int print_free_port()
{
    std::random_device dice;
    for (int tries = 0; tries != 1'000; ++tries) {
        const int s = ::socket(AF_INET, SOCK_STREAM, 0);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        at.sin_port = htons(static_cast<std::uint16_t>(20'000 + dice() % 12'000));
        const bool free = ::bind(s, reinterpret_cast<sockaddr*>(&at), sizeof at) == 0;
        ::close(s);
        if (!free) continue;
        std::printf("%d\n", ntohs(at.sin_port));
        return 0;
    }
    return 1;
}

}  // namespace integration

#endif  // WAYBILL_TESTS_INTEGRATION_ENGINES_FREE_PORT_HPP
