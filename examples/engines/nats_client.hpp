// SPDX-License-Identifier: MIT
//
// nats_client: a connection to NATS and its JetStream context on nats.c, with destructors.
//
//     engines::nats_client client("nats://127.0.0.1:4222,nats://127.0.0.1:4223");
//     if (const natsStatus s = client.ready(std::chrono::seconds(1)); s != NATS_OK)
//         return waybill::infrastructure(engines::nats_text(s));
//     engines::nats_stream_info info;
//     const natsStatus s = js_GetStreamInfo(engines::out(info), client.jetstream(), "ORDERS",
//                                           nullptr, nullptr);
//
// The first call of `ready` connects. After that, nats.c reconnects without end, to each server of
// the list and to those that a server has announced. A request in progress fails when the
// connection breaks; messages that are published meanwhile are buffered and sent later. A server
// that does not reply to a PING for 2 s counts as lost.

#ifndef WAYBILL_EXAMPLES_ENGINES_NATS_CLIENT_HPP
#define WAYBILL_EXAMPLES_ENGINES_NATS_CLIENT_HPP

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <nats/nats.h>

namespace engines {

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
using nats_subscription = nats_ptr<natsSubscription, natsSubscription_Destroy>;
using nats_message = nats_ptr<natsMsg, natsMsg_Destroy>;
using nats_stream_info = nats_ptr<jsStreamInfo, jsStreamInfo_Destroy>;
using nats_consumer_info = nats_ptr<jsConsumerInfo, jsConsumerInfo_Destroy>;
using nats_account_info = nats_ptr<jsAccountInfo, jsAccountInfo_Destroy>;
using nats_metadata = nats_ptr<jsMsgMetaData, jsMsgMetaData_Destroy>;

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

/// The text of a failure of the last call in this thread: "Timeout", or with the server's own text
/// "Error (insufficient resources)".
[[nodiscard]] inline std::string nats_text(natsStatus s)
{
    const std::string status = natsStatus_GetText(s);
    natsStatus last = NATS_OK;
    const char* const text = nats_GetLastError(&last);
    if (last != s || text == nullptr) return status;
    // nats.c puts the line of its own source before the text: "(jsm.c:100): ".
    std::string_view detail = text;
    if (const std::size_t end = detail.find("): "); detail.starts_with('(') && end != detail.npos)
        detail.remove_prefix(end + 3);
    if (detail.empty() || detail == status) return status;
    return status + " (" + std::string(detail) + ')';
}

class nats_client {
public:
    using clock = std::chrono::steady_clock;

    /// `urls` are separated by commas. `request_wait` limits each JetStream request.
    explicit nats_client(std::string urls,
                         std::chrono::milliseconds request_wait = std::chrono::seconds(1))
        : urls_(std::move(urls)), request_wait_(request_wait)
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
    [[nodiscard]] const std::string& urls() const noexcept { return urls_; }

private:
    [[nodiscard]] std::vector<std::string> servers() const
    {
        std::vector<std::string> list;
        for (std::string_view rest = urls_; !rest.empty();) {
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
        set(natsOptions_SetTimeout(o.get(), 1'000));
        set(natsOptions_SetMaxReconnect(o.get(), -1));
        set(natsOptions_SetReconnectWait(o.get(), 20));
        set(natsOptions_SetReconnectJitter(o.get(), 10, 10));
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
        js.Wait = request_wait_.count();
        nats_jetstream context;
        if (s == NATS_OK) s = natsConnection_JetStream(out(context), c.get(), &js);
        if (s != NATS_OK) return s;
        jetstream_ = std::move(context);
        connection_ = std::move(c);
        return NATS_OK;
    }

    std::string urls_;
    std::chrono::milliseconds request_wait_;
    nats_connection connection_{};
    nats_jetstream jetstream_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_NATS_CLIENT_HPP
