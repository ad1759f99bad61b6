// SPDX-License-Identifier: MIT
//
// A queue of RabbitMQ. That of a server of this program is read back at the end; from any other
// queue, reading would remove the messages.

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "../engines/address.hpp"
#include "../engines/rabbitmq.hpp"
#include "../engines/rabbitmq_server.hpp"
#include "../support/cleanup.hpp"
#include "servers.hpp"

namespace send_batches {

namespace {

/// Different for each run.
std::string run_name()
{
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

/// A server in a temporary folder. A signal ends it together with this program.
class own_server {
public:
    explicit own_server(std::optional<std::uint64_t> limit) : server_(folder_.path(), limit)
    {
        const support::cleaning::signals_held held;
        support::cleaning::replace(0, server_.pid());
        support::cleaning::replace(0, server_.epmd_pid());
    }
    own_server(const own_server&) = delete;
    own_server& operator=(const own_server&) = delete;
    ~own_server()
    {
        const support::cleaning::signals_held held;
        support::cleaning::replace(server_.pid(), 0);
        support::cleaning::replace(server_.epmd_pid(), 0);
        server_.kill();
    }

    [[nodiscard]] const engines::server& at() const noexcept { return server_.at(); }

private:
    support::temporary_folder folder_{"send_batches"};
    engines::rabbitmq_server server_;
};

}  // namespace

destination into_rabbitmq(const std::string& to, const std::string& address)
{
    const auto a = engines::address_in(address, "5672");
    if (!a || a->path.size() > 2) {
        throw complaint(
            "--to rabbitmq://...: expected rabbitmq://USER:PASSWORD@HOST:PORT/QUEUE or "
            "rabbitmq://USER:PASSWORD@HOST:PORT/VIRTUAL-HOST/QUEUE");
    }
    engines::rabbitmq_address at{.at = a->at, .queue = a->path.back()};
    if (a->path.size() == 2) at.vhost = a->path.front();
    if (at.at.user.empty()) at.at.user = at.at.password = "guest";
    // The name is shown, so it has no password.
    const std::size_t sign = to.rfind('@');
    const std::string shown = sign == to.npos ? address : to.substr(sign + 1);
    return into("rabbitmq://" + shown, std::make_shared<engines::rabbitmq>(at, run_name()));
}

destination into_own_rabbitmq(const options& o)
{
    const auto own = std::make_shared<own_server>(o.limit);
    const auto queue = std::make_shared<engines::rabbitmq>(
        engines::rabbitmq_address{.at = own->at(), .queue = "lines"}, run_name());
    destination d = into("a quorum queue of RabbitMQ", queue);
    d.limited = true;
    if (o.limit) d.limit.single = *o.limit;
    d.read_back = [own, queue](const auto& take) { queue->take_all(take); };
    return d;
}

}  // namespace send_batches
