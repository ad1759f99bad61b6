// SPDX-License-Identifier: MIT
//
// depth_beanstalkd: the depth of a tube of beanstalkd, by the command stats-tube.
//
//     engines::beanstalkd_depth tube({.host = "127.0.0.1", .port = "11300"}, "orders");
//     engines::depth_reading r = tube.read();
//
//   1. `ready` is current-jobs-ready, `in_flight` current-jobs-reserved, and the age that of the
//      job at the head. Delayed and buried jobs do not wait for a worker and are not counted.
//   2. The server removes a tube without jobs, producers and workers. So an idle tube whose last
//      worker has ended is unknown, and not empty.
//
// Reply              Error
// NOT_FOUND          there is no tube of that name
// any other          the reply cannot be read
// no reply           the text of the socket

#ifndef WAYBILL_EXAMPLES_ENGINES_DEPTH_BEANSTALKD_HPP
#define WAYBILL_EXAMPLES_ENGINES_DEPTH_BEANSTALKD_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "depth.hpp"
#include "number.hpp"
#include "socket.hpp"
#include <waybill/core/result.hpp>

namespace engines {

class beanstalkd_depth {
public:
    beanstalkd_depth(server at, std::string tube) : at_(std::move(at)), tube_(std::move(tube)) {}

    [[nodiscard]] std::string name() const { return tube_; }

    [[nodiscard]] depth_reading read() const
    {
        try {
            socket s(at_.host, at_.port, at_.patience);
            s.write("stats-tube " + tube_ + "\r\n");
            const std::string said = s.line();
            if (said == "NOT_FOUND") return waybill::unexpected("there is no tube " + tube_);
            const std::string stats = yaml(s, said);
            const auto ready = number_in(stats, "\ncurrent-jobs-ready: ", "\n");
            const auto taken = number_in(stats, "\ncurrent-jobs-reserved: ", "\n");
            if (!ready || !taken) throw socket_error("stats-tube without numbers");
            depth d{.ready = *ready, .in_flight = *taken};
            d.age = d.ready == 0 ? 0 : age(s);
            return d;
        } catch (const socket_error& e) {
            return waybill::unexpected("beanstalkd, tube " + tube_ + ": " + e.what());
        }
    }

private:
    /// Of the job at the head; empty if a worker takes it before it is read.
    [[nodiscard]] std::optional<std::uint64_t> age(socket& s) const
    {
        s.write("use " + tube_ + "\r\npeek-ready\r\n");
        if (const std::string used = s.line(); used != "USING " + tube_) throw socket_error(used);
        const std::string found = s.line();  // FOUND 7 120
        if (found == "NOT_FOUND") return {};
        const auto size = number_in(std::string_view(found).substr(found.rfind(' ') + 1));
        const auto id = number_in(found, "FOUND ", " ");
        if (!size || !id) throw socket_error("peek-ready: " + found);
        static_cast<void>(s.bytes(*size + 2));
        s.write("stats-job " + std::to_string(*id) + "\r\n");
        const std::string said = s.line();
        if (said == "NOT_FOUND") return {};
        return number_in(yaml(s, said), "\nage: ", "\n");
    }

    [[nodiscard]] static std::string yaml(socket& s, std::string_view said)
    {
        const auto size = said.starts_with("OK ") ? number_in(said.substr(3)) : std::nullopt;
        if (!size) throw socket_error(std::string(said));
        return s.bytes(*size + 2);
    }

    server at_;
    std::string tube_;
};

static_assert(depth_source<beanstalkd_depth>);

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_DEPTH_BEANSTALKD_HPP
