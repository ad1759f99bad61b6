// SPDX-License-Identifier: MIT

#include "destination.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "../engines/sqlite_queue.hpp"
#include "../support/cleanup.hpp"
#include "servers.hpp"
#ifdef WAYBILL_ENGINES_CURL
#include "../engines/sqs.hpp"
#endif
#ifdef WAYBILL_SEND_BATCHES_NATS
#include "../engines/nats.hpp"
#endif
#ifdef WAYBILL_SEND_BATCHES_PROTON
#include "../engines/proton_amqp.hpp"
#endif

namespace send_batches {

namespace {

/// scheme://host:port/name
struct address {
    std::string host{};
    std::string port{};
    std::string name{};
};

address address_in(std::string_view to, std::string_view after, std::string_view port,
                   std::string_view form)
{
    const std::string_view rest = to.substr(after.size());
    const std::size_t slash = rest.find('/');
    const std::string_view at = rest.substr(0, slash);
    const std::size_t colon = at.rfind(':');
    const bool ported = colon != std::string_view::npos && at.find(']', colon) == at.npos;
    address a{.host = std::string(ported ? at.substr(0, colon) : at),
              .port = std::string(ported ? at.substr(colon + 1) : port),
              .name = slash == rest.npos ? "" : std::string(rest.substr(slash + 1))};
    if (a.host.starts_with('[')) a.host = a.host.substr(1, a.host.size() - 2);
    if (a.host.empty() || a.port.empty() || a.name.empty() ||
        a.name.find_first_of(" \r\n") != a.name.npos) {
        throw complaint(fmt::format("--to {}: expected {}", to, form));
    }
    return a;
}

/// The queue of the mailroom, in a file. It reports no limits before the first batch.
destination into_sqlite(const std::string& file, std::uint64_t limit)
{
    static constexpr std::string_view header = "content-type: application/json";
    struct kept {
        std::unique_ptr<support::temporary_folder> folder{};
        engines::database db;
        engines::sqlite_queue queue;
        std::uint64_t before;
        std::vector<engines::message> batch{};

        kept(std::unique_ptr<support::temporary_folder> own, const std::string& path,
             std::uint64_t most)
            : folder(std::move(own)), db(path), queue(db, most), before(queue.last())
        {
        }
    };
    std::unique_ptr<support::temporary_folder> folder;
    if (file.empty()) folder = std::make_unique<support::temporary_folder>("send_batches");
    const std::string path = folder ? folder->path() + "/queue.sqlite" : file;
    const auto k = std::make_shared<kept>(std::move(folder), path, limit);
    destination d{.name = file.empty() ? "an SQLite queue" : "the SQLite queue " + file,
                  .limit = {.bytes = limit, .envelope = engines::sqlite_queue::envelope},
                  .limited = true};
    d.size_of = [](std::uint64_t body) {
        return engines::sqlite_queue::size_of(header.size(), body);
    };
    d.send = [k](std::span<const std::string_view> bodies, std::uint64_t) {
        k->batch.clear();
        for (const auto b : bodies) k->batch.push_back({std::string(header), std::string(b)});
        return k->queue.enqueue(k->batch, [] {});
    };
    d.said = [] { return std::string(); };
    d.read_back = [k](const std::function<void(std::string_view)>& take) {
        bool any = true;
        for (std::uint64_t last = k->before; any;) {
            any = false;
            const auto note = [&](std::uint64_t n, std::string_view, std::string_view body) {
                take(body);
                last = n;
                any = true;
            };
            k->queue.read(last, 1'000, note);
        }
    };
    return d;
}

using opener = destination (*)(const std::string& to, const address& a);

/// A kind of broker: the scheme and the form of --to, the default port, the adapter, the missing
/// package without an adapter, and a limitation of its guarantees.
struct place {
    std::string_view begins{};
    std::string_view form{};
    std::string_view port{};
    opener open{};
    std::string_view missing{};
    std::string_view caveat{};
};

/// A server of this program: no address, and --limit is its limit.
struct own_place {
    std::string_view form{};
    destination (*open)(const options& o) = nullptr;
    std::string_view missing{};
    std::string_view aside{};
};

template <class Engine>
destination opened(const std::string& to, const address& a)
{
    return into(to, std::make_shared<Engine>(a.host, a.port, a.name));
}

#ifdef WAYBILL_ENGINES_CURL
destination opened_sqs(const std::string& to, const address& a)
{
    const std::string_view scheme = to.starts_with("sqs:https:") ? "https" : "http";
    const auto at = engines::signed_by_environment(
        {.endpoint = engines::http_origin(scheme, a.host, a.port), .path = a.name});
    if (!at) throw complaint(fmt::format("--to {}: {}", to, at.error()));
    // The time distinguishes this run from earlier ones.
    const auto now = std::chrono::system_clock::now().time_since_epoch().count();
    return into(to, std::make_shared<engines::sqs>(*at, std::to_string(now)));
}
constexpr opener sqs = &opened_sqs;
#else
constexpr opener sqs = nullptr;
#endif

#ifdef WAYBILL_SEND_BATCHES_PROTON
template <engines::proton_amqp::style Style>
destination opened_amqp(const std::string& to, const address& a)
{
    engines::amqp_address at{.host = a.host, .port = a.port, .queue = a.name};
    if (const std::size_t user = a.host.rfind('@'); user != a.host.npos) {
        const std::size_t colon = std::min(a.host.find(':'), user);
        at.host = a.host.substr(user + 1);
        at.user = a.host.substr(0, colon);
        if (colon != user) at.password = a.host.substr(colon + 1, user - colon - 1);
    }
    // The name is shown, so it has no password.
    const std::string_view scheme = std::string_view(to).substr(0, to.find("://"));
    return into(fmt::format("{}://{}:{}/{}", scheme, at.host, at.port, a.name),
                std::make_shared<engines::proton_amqp>(at, Style));
}
constexpr opener amqp = &opened_amqp<engines::proton_amqp::style::batched>;
constexpr opener plain_amqp = &opened_amqp<engines::proton_amqp::style::plain>;
#else
constexpr opener amqp = nullptr;
constexpr opener plain_amqp = nullptr;
#endif
#ifdef WAYBILL_SEND_BATCHES_NATS
constexpr opener nats = &opened<engines::nats>;
#else
constexpr opener nats = nullptr;
#endif
#ifdef WAYBILL_SEND_BATCHES_KAFKA
destination opened_kafka(const std::string& to, const address& a)
{
    const bool six = a.host.find(':') != a.host.npos;
    return into_kafka(to, (six ? '[' + a.host + ']' : a.host) + ':' + a.port, a.name);
}
constexpr opener kafka = &opened_kafka;
constexpr auto mock_kafka = &into_mock_kafka;
#else
constexpr opener kafka = nullptr;
constexpr destination (*mock_kafka)(const options&) = nullptr;
#endif
#ifdef WAYBILL_SEND_BATCHES_RABBITMQ
constexpr std::string_view rabbitmq_scheme = "rabbitmq://";
destination opened_rabbitmq(const std::string& to, const address&)
{
    return into_rabbitmq(to, to.substr(rabbitmq_scheme.size()));
}
constexpr opener rabbitmq = &opened_rabbitmq;
constexpr auto own_rabbitmq = &into_own_rabbitmq;
#else
constexpr opener rabbitmq = nullptr;
constexpr destination (*own_rabbitmq)(const options&) = nullptr;
#endif
#ifdef WAYBILL_SEND_BATCHES_REDIS
constexpr std::string_view redis_scheme = "redis://";
destination opened_redis(const std::string& to, const address&)
{
    return into_redis(to, to.substr(redis_scheme.size()));
}
constexpr opener redis = &opened_redis;
constexpr auto own_redis = &into_own_redis;
#else
constexpr opener redis = nullptr;
constexpr destination (*own_redis)(const options&) = nullptr;
#endif
constexpr std::string_view hiredis =
    "this program was built without hiredis: install libhiredis-dev and build it again";
constexpr std::string_view libcurl =
    "this program was built without libcurl: install libcurl4-openssl-dev and build it again";
constexpr std::string_view librabbitmq =
    "this program was built without rabbitmq-c: install librabbitmq-dev and build it again";
constexpr std::string_view libnats =
    "this program was built without nats.c: install libnats-dev and build it again";
constexpr std::string_view librdkafka =
    "this program was built without librdkafka: install librdkafka-dev and build it again";
constexpr std::string_view proton =
    "this program was built without Qpid Proton: install libqpid-proton11-dev and build it again";

constexpr std::array known{
    place{"amqp://", "amqp://HOST:PORT/QUEUE", "5672", amqp, proton},
    place{"amqp+plain://", "amqp+plain://HOST:PORT/QUEUE", "5672", plain_amqp, proton},
    place{"nats://", "nats://HOST:PORT/SUBJECT", "4222", nats, libnats,
          "core NATS stores no message, only subscribers receive it"},
    place{"kafka://", "kafka://HOST:PORT/TOPIC", "9092", kafka, librdkafka},
    place{"rabbitmq://", "rabbitmq://USER:PASSWORD@HOST:PORT/QUEUE", "5672", rabbitmq, librabbitmq},
    place{"redis://", "redis://USER:PASSWORD@HOST:PORT/STREAM", "6379", redis, hiredis},
    place{"sqs:http://", "sqs:http://HOST:PORT/QUEUE-URL", "80", sqs, libcurl},
    place{"sqs:https://", "sqs:https://HOST:PORT/QUEUE-URL", "443", sqs, libcurl},
};

constexpr std::array own{
    own_place{"kafka:", mock_kafka, librdkafka, "librdkafka's mock cluster in this process"},
    own_place{"rabbitmq:", own_rabbitmq, librabbitmq, "a server that ends with this program"},
    own_place{"redis:", own_redis, hiredis, "a server that ends with this program"},
};

constexpr std::string_view sqlite = "sqlite:";

}  // namespace

std::string places()
{
    std::string all = "sqlite:FILE";
    for (const own_place& p : own)
        all += fmt::format("\n                     {} ({})", p.form, p.open ? p.aside : p.missing);
    for (const place& p : known) {
        all += fmt::format("\n                     {}", p.form);
        const std::string_view aside = p.open ? p.caveat : p.missing;
        if (!aside.empty()) all += fmt::format(" ({})", aside);
    }
    return all;
}

std::string queue_file(const options& o)
{
    return o.to.starts_with(sqlite) ? o.to.substr(sqlite.size()) : std::string();
}

destination open_destination(const options& o)
{
    if (o.to.empty() || !queue_file(o).empty()) {
        return into_sqlite(queue_file(o), o.limit.value_or(queue_limit));
    }
    try {
        for (const own_place& p : own) {
            if (o.to != p.form) continue;
            if (!p.open) throw complaint(fmt::format("--to {}: {}", o.to, p.missing));
            return p.open(o);
        }
        for (const place& p : known) {
            if (!o.to.starts_with(p.begins)) continue;
            const address a = address_in(o.to, p.begins, p.port, p.form);
            if (!p.open) throw complaint(fmt::format("--to {}: {}", o.to, p.missing));
            destination d = p.open(o.to, a);
            if (o.limit) d.reported.limit.bytes = *o.limit;
            d.caveat = p.caveat;
            return d;
        }
    } catch (const complaint&) {
        throw;
    } catch (const std::runtime_error& e) {  // of an engine
        throw complaint(fmt::format("--to {}: {}", o.to, e.what()));
    }
    throw complaint(
        fmt::format("--to {}: there is no such place; name one of\n{:21}{}", o.to, "", places()));
}

}  // namespace send_batches
