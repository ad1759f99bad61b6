// SPDX-License-Identifier: MIT
//
// A stream of Redis. That of a server of this program is read back at the end. From any other
// stream, consumers may have removed entries.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../engines/address.hpp"
#include "../engines/redis_server.hpp"
#include "../engines/redis_streams.hpp"
#include "../support/cleanup.hpp"
#include "servers.hpp"

namespace send_batches {

namespace {

std::vector<std::string> server_options(const options& o)
{
    constexpr std::uint64_t lowest_limit = 1'048'576;  // of proto-max-bulk-len
    if (!o.limit) return {};
    if (*o.limit < lowest_limit) {
        throw complaint(fmt::format("--to redis: --limit {}: Redis accepts at least {} bytes",
                                    *o.limit, lowest_limit));
    }
    return {"--proto-max-bulk-len", std::to_string(*o.limit)};
}

/// A server in a temporary folder. A signal ends it together with this program.
class own_redis_server {
public:
    explicit own_redis_server(const std::vector<std::string>& words)
        : server_(folder_.path(), words)
    {
        const support::cleaning::signals_held held;
        support::cleaning::replace(0, server_.pid());
    }
    own_redis_server(const own_redis_server&) = delete;
    own_redis_server& operator=(const own_redis_server&) = delete;
    ~own_redis_server()
    {
        const support::cleaning::signals_held held;
        support::cleaning::replace(server_.pid(), 0);
        server_.kill();
    }

    [[nodiscard]] std::string url() const { return server_.url(); }

private:
    support::temporary_folder folder_{"send_batches"};
    engines::redis_server server_;
};

}  // namespace

destination into_redis(const std::string& to, const std::string& address)
{
    const bool no_user = address.starts_with(':');  // a password of the default user
    const auto a = engines::address_in(no_user ? "default" + address : address, "6379");
    if (!a || a->path.size() != 1) {
        throw complaint(
            "--to redis://...: expected redis://HOST:PORT/STREAM or "
            "redis://USER:PASSWORD@HOST:PORT/STREAM");
    }
    // The name is shown, so it has no password.
    const std::size_t sign = to.rfind('@');
    const std::string shown = sign == to.npos ? address : to.substr(sign + 1);
    return into("redis://" + shown, std::make_shared<engines::redis_stream>(
                                        engines::redis_address{.at = a->at}, a->path.front()));
}

destination into_own_redis(const options& o)
{
    const auto own = std::make_shared<own_redis_server>(server_options(o));
    const auto stream = std::make_shared<engines::redis_stream>(own->url(), "lines");
    destination d = into("a stream of Redis", stream);
    d.limited = true;
    if (o.limit) d.limit.single = *o.limit;
    d.read_back = [own, stream](const auto& take) { stream->read_all(take); };
    return d;
}

}  // namespace send_batches
