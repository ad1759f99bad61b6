// SPDX-License-Identifier: MIT
//
// depth: the number of messages that wait in a queue, read from outside of it.
//
//     engines::sqlite_depth queue("orders.sqlite");
//     engines::depth_reading r = queue.read();
//     if (r) plot(r->ready); else log(r.error());     // "there is no queue in orders.sqlite"
//
// Each depth_*.hpp reads one kind of queue. depth_any.hpp chooses one of them by its address.
//
//   1. A depth that cannot be read is an error, never 0. Otherwise an autoscaler would stop all
//      workers while a server is down.
//   2. Each reading opens a connection of its own, so no reading is stale after a restart.
//
// The error is a text: no server, no such queue, or a reply that cannot be read.

#ifndef WAYBILL_EXAMPLES_ENGINES_DEPTH_HPP
#define WAYBILL_EXAMPLES_ENGINES_DEPTH_HPP

#include <chrono>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>

#include <waybill/core/result.hpp>

namespace engines {

struct depth {
    std::uint64_t ready = 0;      ///< Messages that wait for a worker.
    std::uint64_t in_flight = 0;  ///< Messages that a worker has taken and not finished.
    /// Seconds since the next message was sent; 0 if none waits. Empty if this kind of queue, or
    /// this message, has no time.
    std::optional<std::uint64_t> age{};

    friend bool operator==(const depth&, const depth&) = default;
};

/// The depth, or the reason why it is unknown.
using depth_reading = waybill::result<depth, std::string>;

template <class Q>
concept depth_source = requires(const Q& q) {
    { q.read() } -> std::same_as<depth_reading>;
    { q.name() } -> std::convertible_to<std::string>;
};

/// The address of a server. Without a user, no credentials are sent.
struct server {
    std::string host{};
    std::string port{};
    std::string user{};
    std::string password{};
    std::chrono::milliseconds patience{5'000};
};

/// Seconds from a time of the wall clock to now; 0 for a time in the future.
[[nodiscard]] inline std::uint64_t age_at(std::int64_t sent_seconds) noexcept
{
    using namespace std::chrono;
    const auto now = duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
    if (sent_seconds < 0 || sent_seconds >= now) return 0;
    return static_cast<std::uint64_t>(now - sent_seconds);
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_DEPTH_HPP
