// SPDX-License-Identifier: MIT
//
// live_engine: what the queue of --live is kept in.
//
//     nothing or sqlite                        FOLDER/live.sqlite
//     nats                                     a nats-server of our own, that keeps it in FOLDER
//     nats://USER:PASSWORD@HOST:4222/STREAM    one that runs already
//
//     if (auto flaw = autoscaler::live_flaw(where)) return complain(*flaw);    // asks nobody yet
//     autoscaler::live_engine engine(folder, where);
//     auto queue = autoscaler::live_work(engine.address());    // so does every process for itself
//     std::visit([](auto& q) { q->put("order 7"); }, queue);
//
// User, port and stream may be left out; the stream is WAYBILL_LIVE then. One run at a time uses a
// stream. NATS needs nats.c (WAYBILL_ENGINES_NATS); otherwise `live_flaw` names what is missing. It
// is made if need be, and what an earlier run has left there is still to be done; at the
// end it is removed if it is empty. A stream that is something else is never touched.

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

/// Whether it reads like one of them, and not like a trace. It may still have a flaw.
[[nodiscard]] constexpr bool is_live_form(std::string_view where) noexcept
{
    return where == "sqlite" || where == "nats" || where.starts_with("nats://");
}

/// As people call it.
[[nodiscard]] constexpr std::string_view live_name(std::string_view where) noexcept
{
    return where.starts_with("nats") ? "NATS JetStream" : "SQLite";
}

/// What is wrong with it, if anything. It is not repeated, as there may be a password in it.
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

/// The queue at an address that a live_engine has told.
[[nodiscard]] live_work_queue live_work(const std::string& address);

class live_engine {
public:
    /// Throws a complaint if it is not to be had.
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
