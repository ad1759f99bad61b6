// SPDX-License-Identifier: MIT
//
// session_message: a message of a queue of sessions, the stored form of its properties, and the
// settings of such a queue.
//
//     engines::session_message m{.session = "order-17", .id = "order-17/1", .body = body};
//     m.properties["waybill-step"] = "1";
//     m.find("waybill-step")                           // "1", or nothing
//
// Stored, a property is two texts, each after its length: "5:colour3:red". Any bytes are allowed.

#ifndef WAYBILL_EXAMPLES_ENGINES_SESSION_MESSAGE_HPP
#define WAYBILL_EXAMPLES_ENGINES_SESSION_MESSAGE_HPP

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "number.hpp"

namespace engines {

struct session_message {
    std::string session{};
    std::string id{};  ///< A second message with the same id is dropped. Empty: no id.
    std::map<std::string, std::string, std::less<>> properties{};
    std::string body{};

    // Set by the broker.
    std::uint64_t sequence = 0;
    std::uint64_t deliveries = 1;  ///< Including this one.
    std::int64_t enqueued = 0;     ///< Milliseconds of the wall clock.
    std::string dead_for{};        ///< The broker's reason for dead-lettering it.

    [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const
    {
        const auto found = properties.find(name);
        if (found == properties.end()) return {};
        return found->second;
    }
};

[[nodiscard]] inline std::int64_t wall_milliseconds()
{
    using namespace std::chrono;
    return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

struct session_options {
    std::chrono::milliseconds lock{30'000};
    std::uint64_t deliveries = 10;                 ///< Of one message, before it is dead-lettered.
    std::chrono::milliseconds remembers{600'000};  ///< The time of duplicate detection.
    std::uint64_t batch_bytes = 262'144;
    std::uint64_t state_bytes = 262'144;
    std::uint64_t partitions = 0;  ///< At most 32,768; 0: there are none.
    std::int64_t (*clock)() = wall_milliseconds;
};

/// The proof of the holder, for each call.
struct session_lock {
    std::string session{};
    std::uint64_t token = 0;
};

[[nodiscard]] inline std::string stored_properties(const session_message& m)
{
    std::string all;
    const auto put = [&](const std::string& s) { all += std::to_string(s.size()) + ':' + s; };
    for (const auto& [name, value] : m.properties) {
        put(name);
        put(value);
    }
    return all;
}

/// Returns false if `stored` is not what `stored_properties` returns.
[[nodiscard]] inline bool read_properties(std::string_view stored, session_message& to)
{
    const auto take = [&]() -> std::optional<std::string> {
        const auto colon = stored.find(':');
        const auto size = number_in(stored.substr(0, colon));
        if (colon == stored.npos || !size || *size > stored.size() - colon - 1) return {};
        std::string text(stored.substr(colon + 1, *size));
        stored.remove_prefix(colon + 1 + *size);
        return text;
    };
    while (!stored.empty()) {
        auto name = take();
        auto value = take();
        if (!name || !value) return false;
        to.properties[*std::move(name)] = *std::move(value);
    }
    return true;
}

/// The bytes of a message in a batch. A batch without messages has `session_batch_envelope` bytes.
[[nodiscard]] inline std::uint64_t size_in_batch(const session_message& m)
{
    return m.session.size() + m.id.size() + m.body.size() + stored_properties(m).size() + 32;
}
inline constexpr std::uint64_t session_batch_envelope = 64;

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SESSION_MESSAGE_HPP
