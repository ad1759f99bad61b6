// SPDX-License-Identifier: MIT
//
// nats_client: a connection to NATS, its JetStream context and a stream on nats.c, with destructors.
//
//     engines::nats_client client("nats://127.0.0.1:4222,nats://127.0.0.1:4223");
//     if (const natsStatus s = client.ready(std::chrono::seconds(1)); s != NATS_OK)
//         return waybill::infrastructure(engines::nats_text(s));
//     engines::nats_stream_info info;
//     const natsStatus s = js_GetStreamInfo(engines::out(info), client.jetstream(), "ORDERS",
//                                           nullptr, nullptr);
//
//   1. The first call of `ready` connects. After that, nats.c reconnects without end, to each server
//      of the list and to those that a server has announced.
//   2. A request in progress fails when the connection breaks. Messages that are published meanwhile
//      are buffered and sent later.
//   3. With `.reconnect = false`, a broken connection is closed and nothing is sent later. The next
//      call of `ready` makes another connection.
//   4. A server that does not reply to a PING for 2 s counts as lost.
//   5. A subscription may end while messages for it arrive. nats.c frees it too early before 3.6.0
//      (its issue 637), so the client keeps it until nothing uses it any more.
//
// Status of `ready`             Meaning                                     Outcome
//   NATS_NO_SERVER, NATS_TIMEOUT  no server of the list can be reached      infrastructure
//   NATS_CONNECTION_AUTH_FAILED   the server refuses the user               infrastructure
//   NATS_ERR, NATS_PROTOCOL_ERROR the reply is an error or not of NATS      infrastructure
//   NATS_CONNECTION_DISCONNECTED  no reconnection within the time           infrastructure
//
// `open_stream` returns a text, and the caller makes a fault of the kind infrastructure:
//   not connected to URL (...)    a status of `ready`
//   stream info (...)             the stream has no leader at present, or JetStream is disabled
//   create stream (...)           too few nodes for the replicas, or no permission
//   the stream has ...            another program created it with another configuration

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_CLIENT_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_CLIENT_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <nats/nats.h>

#include "depth.hpp"

namespace engines {

/// A failure of the server or of the connection, from calls that do not return a fault.
struct nats_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Calls the destructor of nats.c.
template <auto Destroy>
struct nats_destroy {
    template <class T>
    void operator()(T* object) const noexcept
    {
        Destroy(object);
    }
};

template <class T, auto Destroy>
using nats_ptr = std::unique_ptr<T, nats_destroy<Destroy>>;

using nats_options = nats_ptr<natsOptions, natsOptions_Destroy>;
using nats_connection = nats_ptr<natsConnection, natsConnection_Destroy>;
using nats_jetstream = nats_ptr<jsCtx, jsCtx_Destroy>;
using nats_message = nats_ptr<natsMsg, natsMsg_Destroy>;
using nats_stream_info = nats_ptr<jsStreamInfo, jsStreamInfo_Destroy>;
using nats_consumer_info = nats_ptr<jsConsumerInfo, jsConsumerInfo_Destroy>;
using nats_account_info = nats_ptr<jsAccountInfo, jsAccountInfo_Destroy>;
using nats_ack = nats_ptr<jsPubAck, jsPubAck_Destroy>;
using nats_metadata = nats_ptr<jsMsgMetaData, jsMsgMetaData_Destroy>;

class nats_client;

/// Leaves a subscription to the client of its connection.
struct nats_end {
    nats_client* client;
    void operator()(natsSubscription* s) const noexcept;
};

/// `nats_subscription s{nullptr, {&client}}`. It must end before the client does.
using nats_subscription = std::unique_ptr<natsSubscription, nats_end>;

/// The T** of a call that creates an object; the smart pointer owns it after the call.
template <class P>
class nats_out {
public:
    explicit nats_out(P& owner) noexcept : owner_(owner) {}
    nats_out(const nats_out&) = delete;
    nats_out& operator=(const nats_out&) = delete;
    ~nats_out() { owner_.reset(object_); }
    operator typename P::pointer *() noexcept { return &object_; }

private:
    P& owner_;
    typename P::pointer object_ = nullptr;
};

template <class P>
[[nodiscard]] nats_out<P> out(P& owner) noexcept
{
    return nats_out<P>(owner);
}

/// The messages of one fetch.
class nats_messages {
public:
    nats_messages() = default;
    nats_messages(const nats_messages&) = delete;
    nats_messages& operator=(const nats_messages&) = delete;
    ~nats_messages() { natsMsgList_Destroy(&list_); }

    [[nodiscard]] natsMsgList* list() noexcept { return &list_; }
    [[nodiscard]] natsMsg** begin() const noexcept { return list_.Msgs; }
    [[nodiscard]] natsMsg** end() const noexcept { return list_.Msgs + list_.Count; }

private:
    natsMsgList list_{};
};

/// The detail of a failure of the last call in this thread, as the server or nats.c has written it:
/// "insufficient resources". Empty if there is none.
[[nodiscard]] inline std::string nats_detail(natsStatus s)
{
    natsStatus last = NATS_OK;
    const char* const text = nats_GetLastError(&last);
    if (last != s || text == nullptr) return {};
    // nats.c puts the line of its own source before the text: "(jsm.c:100): ".
    std::string_view detail = text;
    if (const std::size_t end = detail.find("): "); detail.starts_with('(') && end != detail.npos)
        detail.remove_prefix(end + 3);
    return std::string(detail);
}

/// "Timeout", or with its detail "Error (insufficient resources)".
[[nodiscard]] inline std::string nats_text(natsStatus s)
{
    const std::string status = natsStatus_GetText(s);
    const std::string detail = nats_detail(s);
    return detail.empty() || detail == status ? status : status + " (" + detail + ')';
}

/// "nats://HOST:PORT"
[[nodiscard]] inline std::string nats_url(const std::string& host, const std::string& port)
{
    const bool is_v6 = host.find(':') != host.npos;
    return "nats://" + (is_v6 ? '[' + host + ']' : host) + ':' + port;
}

struct nats_settings {
    std::string urls{};  ///< Separated by commas.
    std::string user{};  ///< Empty: that of the URL, if any.
    std::string password{};
    std::chrono::milliseconds connect_wait{1'000};  ///< For each server.
    std::chrono::milliseconds request_wait{1'000};  ///< For each JetStream request, and each write.
    bool reconnect = true;
};

/// For calls that must not be sent after their failure: without reconnection.
[[nodiscard]] inline nats_settings nats_settings_of(const server& at)
{
    return {.urls = nats_url(at.host, at.port),
            .user = at.user,
            .password = at.password,
            .connect_wait = at.patience,
            .request_wait = at.patience,
            .reconnect = false};
}

class nats_client {
public:
    using clock = std::chrono::steady_clock;

    /// Does not connect.
    explicit nats_client(nats_settings settings) : settings_(std::move(settings)) {}
    explicit nats_client(std::string urls,
                         std::chrono::milliseconds request_wait = std::chrono::seconds(1))
        : nats_client(nats_settings{.urls = std::move(urls), .request_wait = request_wait})
    {
    }

    /// NATS_OK if there is a connection. Connects at the first call; later it waits at most
    /// `patience` for a reconnection.
    [[nodiscard]] natsStatus ready(std::chrono::milliseconds patience)
    {
        if (!connection_) return connect();
        for (const auto deadline = clock::now() + patience;;) {
            const natsConnStatus s = natsConnection_Status(connection_.get());
            if (s == NATS_CONN_STATUS_CONNECTED) return NATS_OK;
            if (s == NATS_CONN_STATUS_CLOSED) return connect();
            if (clock::now() >= deadline) return NATS_CONNECTION_DISCONNECTED;
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    }

    /// Valid after `ready` has returned NATS_OK once.
    [[nodiscard]] natsConnection* connection() const noexcept { return connection_.get(); }
    [[nodiscard]] jsCtx* jetstream() const noexcept { return jetstream_.get(); }
    [[nodiscard]] const std::string& urls() const noexcept { return settings_.urls; }

    /// The error of the server or of nats.c that the connection has reported last; empty if there
    /// is none. "Maximum Payload Violation"
    [[nodiscard]] std::string last_error() const
    {
        const char* text = nullptr;
        const natsStatus s = natsConnection_GetLastError(connection_.get(), &text);
        if (s == NATS_OK) return {};
        return text != nullptr && *text != '\0' ? text : natsStatus_GetText(s);
    }

    void close()
    {
        jetstream_.reset();
        connection_.reset();
        ended_.clear();
    }

    /// Ends a subscription. Its memory is freed after a later round trip: then the thread that reads
    /// the connection has left it.
    void end(natsSubscription* s)
    {
        natsSubscription_Unsubscribe(s);
        ended_.emplace_back(s);
        if (ended_.size() >= many_ended &&
            natsConnection_FlushTimeout(connection_.get(), flush_wait) == NATS_OK)
            ended_.clear();
    }

private:
    static constexpr std::size_t many_ended = 64;
    static constexpr std::int64_t flush_wait = 100;  ///< Milliseconds.

    [[nodiscard]] std::vector<std::string> servers() const
    {
        std::vector<std::string> list;
        for (std::string_view rest = settings_.urls; !rest.empty();) {
            const std::size_t comma = rest.find(',');
            list.emplace_back(rest.substr(0, comma));
            rest.remove_prefix(comma == rest.npos ? rest.size() : comma + 1);
        }
        return list;
    }

    [[nodiscard]] natsStatus connect()
    {
        const std::vector<std::string> list = servers();
        std::vector<const char*> pointers;
        for (const std::string& url : list) pointers.push_back(url.c_str());
        nats_options o;
        natsStatus s = natsOptions_Create(out(o));
        const auto set = [&](natsStatus next) { s = s == NATS_OK ? next : s; };
        if (s != NATS_OK) return s;
        set(natsOptions_SetServers(o.get(), pointers.data(), static_cast<int>(pointers.size())));
        if (!settings_.user.empty())
            set(natsOptions_SetUserInfo(o.get(), settings_.user.c_str(),
                                        settings_.password.c_str()));
        set(natsOptions_SetTimeout(o.get(), settings_.connect_wait.count()));
        set(natsOptions_SetAllowReconnect(o.get(), settings_.reconnect));
        set(natsOptions_SetMaxReconnect(o.get(), -1));
        set(natsOptions_SetReconnectWait(o.get(), 20));
        set(natsOptions_SetReconnectJitter(o.get(), 10, 10));
        // Without a deadline, a write to a server that has stopped waits until it continues.
        set(natsOptions_SetWriteDeadline(o.get(), settings_.request_wait.count()));
        set(natsOptions_SetPingInterval(o.get(), 1'000));
        set(natsOptions_SetMaxPingsOut(o.get(), 2));
        set(natsOptions_SetFailRequestsOnDisconnect(o.get(), true));
        // Without a handler, nats.c prints such errors. The calls return them, too.
        set(natsOptions_SetErrorHandler(
            o.get(), [](natsConnection*, natsSubscription*, natsStatus, void*) {}, nullptr));
        nats_connection c;
        if (s == NATS_OK) s = natsConnection_Connect(out(c), o.get());
        if (s != NATS_OK) return s;
        jsOptions js{};
        s = jsOptions_Init(&js);
        js.Wait = settings_.request_wait.count();
        nats_jetstream context;
        if (s == NATS_OK) s = natsConnection_JetStream(out(context), c.get(), &js);
        if (s != NATS_OK) return s;
        jetstream_ = std::move(context);
        connection_ = std::move(c);
        return NATS_OK;
    }

    nats_settings settings_;
    /// Destroyed after the connection.
    std::vector<nats_ptr<natsSubscription, natsSubscription_Destroy>> ended_{};
    nats_connection connection_{};
    nats_jetstream jetstream_{};
};

inline void nats_end::operator()(natsSubscription* s) const noexcept
{
    client->end(s);
}

/// A stream in files that discards repeated ids.
struct nats_stream {
    std::string name{};
    std::vector<std::string> subjects{};
    int replicas = 1;
    std::chrono::seconds duplicate_window{120};
    bool has_limits_only = false;  ///< The retention must be that of limits.
};

[[nodiscard]] inline natsStatus create_stream(nats_client& client, const nats_stream& stream,
                                              nats_stream_info& info)
{
    std::vector<const char*> subjects;
    for (const std::string& subject : stream.subjects) subjects.push_back(subject.c_str());
    jsStreamConfig c{};
    if (const natsStatus s = jsStreamConfig_Init(&c); s != NATS_OK) return s;
    c.Name = stream.name.c_str();
    c.Subjects = subjects.data();
    c.SubjectsLen = static_cast<int>(subjects.size());
    c.Storage = js_FileStorage;
    c.Replicas = stream.replicas;
    c.Duplicates = std::chrono::nanoseconds(stream.duplicate_window).count();
    // The creation on a cluster takes an election.
    jsOptions o{};
    if (const natsStatus s = jsOptions_Init(&o); s != NATS_OK) return s;
    o.Wait = 5'000;
    return js_AddStream(out(info), client.jetstream(), &c, &o, nullptr);
}

/// The first difference: "3 replicas instead of 1". Empty if there is none.
[[nodiscard]] inline std::string difference_of(const jsStreamConfig& c, const nats_stream& stream)
{
    std::vector<std::string> found(c.Subjects, c.Subjects + c.SubjectsLen);
    std::vector<std::string> expected = stream.subjects;
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    if (found != expected) {
        const std::string& last = stream.subjects.back();
        return "other subjects than " + stream.subjects.front() +
               (expected.size() == 1 ? "" : " to " + last);
    }
    if (c.Replicas != stream.replicas)
        return std::to_string(c.Replicas) + " replicas instead of " +
               std::to_string(stream.replicas);
    if (c.Storage != js_FileStorage) return "no file storage";
    if (stream.has_limits_only && c.Retention != js_LimitsPolicy)
        return "another retention than limits";
    if (c.Duplicates < std::chrono::nanoseconds(stream.duplicate_window).count())
        return "a duplicate window below " + std::to_string(stream.duplicate_window.count()) + " s";
    return {};
}

/// Connects, and creates or checks the stream until `is_checked`. Returns the problem; empty if
/// there is none.
[[nodiscard]] inline std::string open_stream(nats_client& client, const nats_stream& stream,
                                             bool& is_checked)
{
    if (const natsStatus s = client.ready(std::chrono::milliseconds(500)); s != NATS_OK)
        return "not connected to " + client.urls() + " (" + nats_text(s) + ')';
    if (is_checked) return {};
    nats_stream_info info;
    natsStatus s =
        js_GetStreamInfo(out(info), client.jetstream(), stream.name.c_str(), nullptr, nullptr);
    if (s == NATS_NOT_FOUND) {
        s = create_stream(client, stream, info);
        if (s != NATS_OK) return "create stream (" + nats_text(s) + ')';
    } else if (s != NATS_OK) {
        return "stream info (" + nats_text(s) + ')';
    }
    const std::string difference = difference_of(*info->Config, stream);
    if (!difference.empty())
        return "the stream has " + difference + "; use another name or remove it";
    is_checked = true;
    return {};
}

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_CLIENT_HPP
