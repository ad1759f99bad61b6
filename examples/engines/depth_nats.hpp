// SPDX-License-Identifier: MIT
//
// depth_nats: what waits for a consumer of NATS JetStream, by the API on $JS.API.
//
//     engines::nats_depth orders({.host = "127.0.0.1", .port = "4222"}, "ORDERS", "workers");
//     engines::depth_reading r = orders.read();
//
// A stream by itself says nothing of what is left to do, as messages may stay in it when all have
// read them. A durable consumer knows: what it has not handed out is ready, and what it has handed
// out and nobody has acknowledged is in flight. The age is the server's time of the message that it
// will hand out next, against our clock.

#ifndef WAYBILL_EXAMPLES_ENGINES_DEPTH_NATS_HPP
#define WAYBILL_EXAMPLES_ENGINES_DEPTH_NATS_HPP

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "depth.hpp"
#include "jetstream.hpp"
#include "socket.hpp"
#include <waybill/core/result.hpp>

namespace engines {

class nats_depth {
public:
    nats_depth(server at, std::string stream, std::string consumer)
        : at_(std::move(at)), stream_(std::move(stream)), consumer_(std::move(consumer))
    {
    }

    [[nodiscard]] std::string name() const { return consumer_; }

    [[nodiscard]] depth_reading read() const
    {
        try {
            jetstream js(at_);
            const auto info = js.ask("$JS.API.CONSUMER.INFO." + stream_ + "." + consumer_, {});
            const auto ready = number_at(info, "num_pending");
            const auto taken = number_at(info, "num_ack_pending");
            if (!ready || !taken) throw socket_error("an answer without numbers");
            depth d{.ready = *ready, .in_flight = *taken};
            d.age = d.ready == 0 ? 0 : age(js, info);
            return d;
        } catch (const socket_error& e) {
            return waybill::unexpected("NATS, consumer " + consumer_ + " of stream " + stream_ +
                                       ": " + e.what());
        } catch (const nlohmann::json::exception&) {
            return waybill::unexpected("NATS, consumer " + consumer_ + " of stream " + stream_ +
                                       ": an answer of another form");
        }
    }

private:
    using json = nlohmann::json;

    [[nodiscard]] static std::optional<std::uint64_t> number_at(const json& j, const char* field)
    {
        const auto found = j.find(field);
        if (found == j.end() || !found->is_number_unsigned()) return {};
        return found->get<std::uint64_t>();
    }

    [[nodiscard]] std::optional<std::uint64_t> age(jetstream& js, const json& info) const
    {
        const auto delivered = info.find("delivered");
        if (delivered == info.end() || !delivered->is_object()) return {};
        const auto last = number_at(*delivered, "stream_seq");
        if (!last) return {};
        std::string subject = ">";
        if (const auto config = info.find("config"); config != info.end() && config->is_object()) {
            const std::string filter = config->value("filter_subject", "");
            if (!filter.empty()) subject = filter;
            if (config->contains("filter_subjects")) return {};  // it cannot be asked for several
        }
        const auto next =
            js.answer("$JS.API.STREAM.MSG.GET." + stream_,
                      jetstream::text(json{{"seq", *last + 1}, {"next_by_subj", subject}}));
        const auto message = next.find("message");
        if (message == next.end() || !message->is_object()) return {};
        const auto sent = seconds_in(message->value("time", ""));
        if (!sent) return {};
        return age_at(*sent);
    }

    /// 2026-11-22T04:10:07.123456789Z, as the server writes all times.
    [[nodiscard]] static std::optional<std::int64_t> seconds_in(const std::string& time)
    {
        std::tm t{};
        const char* const rest = strptime(time.c_str(), "%Y-%m-%dT%H:%M:%S", &t);
        if (!rest || !time.ends_with('Z')) return {};
        const std::int64_t seconds = timegm(&t);
        return seconds;
    }

    server at_;
    std::string stream_;
    std::string consumer_;
};

static_assert(depth_source<nats_depth>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_DEPTH_NATS_HPP
