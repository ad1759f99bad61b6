// SPDX-License-Identifier: MIT
//
// live_engine: the engine of the queue of --live.
//
//     nothing or sqlite                        FOLDER/live.sqlite
//     nats                                     a private nats-server with its files in FOLDER
//     nats://USER:PASSWORD@HOST:4222/STREAM    a running nats-server
//
//     if (auto flaw = autoscaler::live_flaw(where)) return complain(*flaw);    // does not connect
//     autoscaler::live_engine engine(folder, where);
//     auto queue = autoscaler::live_work(engine.address());    // each process opens its own
//     std::visit([](auto& q) { q->put("order 7"); }, queue);
//
// User, port and stream are optional; the default stream is WAYBILL_LIVE. One run at a time uses a
// stream. NATS needs nats.c (WAYBILL_ENGINES_NATS); without it `live_flaw` reports this. The stream
// is created if it does not exist. Messages of an earlier run are processed, too. At the end
// an empty stream is removed. A stream with another purpose is never touched.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_LIVE_ENGINE_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_LIVE_ENGINE_HPP

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "../engines/depth.hpp"
#include "../engines/nats_server.hpp"
#include "../engines/sqlite.hpp"
#include "../engines/sqlite_work_queue.hpp"
#ifdef WAYBILL_ENGINES_NATS
#include "../engines/nats_work_queue.hpp"
#endif

namespace autoscaler {

inline constexpr std::string_view live_forms =
    "sqlite, nats or nats://USER:PASSWORD@HOST:PORT/STREAM";

/// True if `where` is an engine and not a trace. The address may still be invalid.
[[nodiscard]] constexpr bool is_live_form(std::string_view where) noexcept
{
    return where == "sqlite" || where == "nats" || where.starts_with("nats://");
}

/// The product name, for messages.
[[nodiscard]] constexpr std::string_view live_name(std::string_view where) noexcept
{
    return where.starts_with("nats") ? "NATS JetStream" : "SQLite";
}

/// The error in `where`, if any. The text does not repeat it, as it may contain a password.
[[nodiscard]] std::optional<std::string> live_flaw(std::string_view where);

/// A queue in a file of its own.
class sqlite_file : private engines::database, public engines::sqlite_work_queue {
public:
    explicit sqlite_file(const std::string& path)
        : database(path), sqlite_work_queue(static_cast<engines::database&>(*this))
    {
    }
};

#ifdef WAYBILL_ENGINES_NATS
using live_work_queue =
    std::variant<std::unique_ptr<sqlite_file>, std::unique_ptr<engines::nats_work_queue>>;
#else
using live_work_queue = std::variant<std::unique_ptr<sqlite_file>>;
#endif

/// The queue at the address of a live_engine.
[[nodiscard]] live_work_queue live_work(const std::string& address);

class live_engine {
public:
    /// Throws a complaint if the engine is not available.
    live_engine(const std::string& folder, const std::string& where);
    live_engine(const live_engine&) = delete;
    live_engine& operator=(const live_engine&) = delete;
    ~live_engine();

    [[nodiscard]] const std::string& address() const noexcept { return address_; }

    [[nodiscard]] engines::depth_reading depth();
    [[nodiscard]] std::uint64_t sent();
    [[nodiscard]] std::uint64_t finished();

private:
    std::optional<engines::nats_server> own_{};
    std::string address_{};
    live_work_queue queue_{};
};

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_LIVE_ENGINE_HPP
