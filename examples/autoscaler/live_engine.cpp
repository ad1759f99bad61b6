// SPDX-License-Identifier: MIT

#include "live_engine.hpp"

#include <chrono>
#include <exception>
#include <utility>

#include <fmt/format.h>

#include "../engines/address.hpp"
#include "../support/program.hpp"

namespace autoscaler {

namespace {

constexpr std::string_view sqlite = "sqlite:";
constexpr std::string_view nats = "nats://";
constexpr std::string_view usual_stream = "WAYBILL_LIVE";

/// Server and stream, after nats://.
std::optional<engines::address> nats_in(std::string_view where)
{
    if (!where.starts_with(nats)) return {};
    std::string rest(where.substr(nats.size()));
    if (rest.find('/') == rest.npos) rest.append("/").append(usual_stream);
    auto a = engines::address_in(rest, "4222");
    if (!a || a->path.size() != 1) return {};
    return a;
}

}  // namespace

std::optional<std::string> live_flaw(std::string_view where)
{
    if (where.empty() || where == "sqlite") return {};
#ifdef WAYBILL_ENGINES_NATS
    if (where == "nats" || nats_in(where)) return {};
#else
    if (where == "nats" || nats_in(where))
        return "nats: this program was built without nats.c: install libnats-dev and build it "
               "again";
#endif
    return fmt::format("{}: {} is expected", where, live_forms);
}

live_work_queue live_work(const std::string& address)
{
    if (address.starts_with(sqlite)) {
        return std::make_unique<sqlite_file>(address.substr(sqlite.size()));
    }
#ifdef WAYBILL_ENGINES_NATS
    if (auto a = nats_in(address)) {
        constexpr std::chrono::seconds shortest_lock{10};  // each worker may make it longer
        return std::make_unique<engines::nats_work_queue>(std::move(a->at), a->path.front(),
                                                          shortest_lock);
    }
#endif
    throw support::complaint(fmt::format("the queue {}: {} is expected", address, live_forms));
}

live_engine::live_engine(const std::string& folder, const std::string& where)
{
    if (const auto flaw = live_flaw(where)) throw support::complaint("the queue " + *flaw);
    try {
        if (where == "nats") {
            own_.emplace(folder + "/live.nats");
            address_ = fmt::format("{}{}:{}", nats, own_->at().host, own_->at().port);
        } else {
            const bool is_nats = where.starts_with(nats);
            address_ = is_nats ? where : fmt::format("{}{}/live.sqlite", sqlite, folder);
        }
        queue_ = live_work(address_);
    } catch (const engines::server_error& e) {
        throw support::complaint(e.what());
#ifdef WAYBILL_ENGINES_NATS
    } catch (const engines::nats_error& e) {
        throw support::complaint(e.what());
#endif
    }
}

/// Removes the stream from a server of others unless it still has messages.
live_engine::~live_engine()
{
#ifdef WAYBILL_ENGINES_NATS
    auto* const there = std::get_if<std::unique_ptr<engines::nats_work_queue>>(&queue_);
    if (!there || own_) return;
    try {
        static_cast<void>((*there)->remove_if_empty());
    } catch (const std::exception& e) {
        support::say(fmt::format("{}\n", e.what()));
    }
#endif
}

engines::depth_reading live_engine::depth()
{
    try {
        return std::visit([](auto& q) { return q->depth(); }, queue_);
    } catch (const std::exception& e) {
        return waybill::unexpected(std::string(e.what()));
    }
}

std::uint64_t live_engine::sent()
{
    return std::visit([](auto& q) { return q->sent(); }, queue_);
}

std::uint64_t live_engine::finished()
{
    return std::visit([](auto& q) { return q->finished(); }, queue_);
}

}  // namespace autoscaler
