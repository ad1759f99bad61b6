// SPDX-License-Identifier: MIT
//
// scripted: a broker with one reply, and an HTTP service, to test the outcomes of an adapter.

#ifndef WAYBILL_TESTS_INTEGRATION_ENGINES_SCRIPTED_HPP
#define WAYBILL_TESTS_INTEGRATION_ENGINES_SCRIPTED_HPP

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <engines/number.hpp>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <waybill/batch.hpp>

namespace scripted {

/// Listens on a free port of this machine, and talks to each client, one after the other.
class peer {
public:
    explicit peer(std::function<void(int)> talk) : listener_(::socket(AF_INET, SOCK_STREAM, 0))
    {
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof at;
        auto* const any = reinterpret_cast<sockaddr*>(&at);
        if (::bind(listener_, any, size) != 0 || ::listen(listener_, 4) != 0 ||
            ::getsockname(listener_, any, &size) != 0) {
            std::perror("a peer");
            std::exit(2);
        }
        port_ = std::to_string(ntohs(at.sin_port));
        thread_ = std::thread([this, talk = std::move(talk)] {
            for (int fd = 0; (fd = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(fd)) {
                talk(fd);
                ::shutdown(fd, SHUT_WR);
                char rest[256];
                // reads the rest, so that the connection is not reset
                while (::recv(fd, rest, sizeof rest, 0) > 0) continue;
            }
        });
    }
    peer(const peer&) = delete;
    peer& operator=(const peer&) = delete;
    ~peer()
    {
        ::shutdown(listener_, SHUT_RDWR);
        thread_.join();
        ::close(listener_);
    }

    [[nodiscard]] const std::string& port() const { return port_; }

private:
    int listener_;
    std::string port_{};
    std::thread thread_{};
};

inline void say(int fd, std::string_view all)
{
    while (!all.empty()) {
        const ssize_t n = ::send(fd, all.data(), all.size(), MSG_NOSIGNAL);
        if (n <= 0) return;
        all.remove_prefix(static_cast<std::size_t>(n));
    }
}

/// Reads until the received bytes end with `end`. Returns false if the connection ends first.
inline bool read_until(int fd, std::string_view end)
{
    std::string all;
    char c = 0;
    while (!all.ends_with(end)) {
        if (::recv(fd, &c, 1, 0) != 1) return false;
        all += c;
    }
    return true;
}

/// Reads the request of a NATS client, and returns its inbox. Empty if there is none.
inline std::string nats_inbox(int fd)
{
    std::string all;
    char c = 0;
    // PUB $JS.API.STREAM.INFO.ORDERS _INBOX.a.b 0, or HPUB with the length of the headers.
    while (!all.ends_with("\r\n") || all.find("PUB ") == all.npos) {
        if (::recv(fd, &c, 1, 0) != 1) return {};
        all += c;
    }
    const std::size_t inbox = all.find(" _INBOX.", all.find("PUB "));
    if (inbox == all.npos) return {};
    return all.substr(inbox + 1, all.find(' ', inbox + 1) - inbox - 1);
}

/// "refused 70000 of 65536", "failed, permanent", "partial 1 transient"
inline std::string in_words(const waybill::send_outcome& o)
{
    const auto number = [](const std::optional<std::uint64_t>& n) {
        return n ? std::to_string(*n) : std::string("?");
    };
    return waybill::match(
        o, [](const waybill::batch_sender::accepted&) { return std::string("accepted"); },
        [&](const waybill::batch_sender::too_large& r) {
            return "refused " + number(r.actual) + " of " + number(r.limit);
        },
        [](const waybill::batch_sender::partial& p) {
            std::string all = "partial";
            for (const waybill::batch_sender::entry_fault& f : p.failed) {
                const std::string answer = waybill::match(
                    f.answer,
                    [](const waybill::batch_sender::failed& x) {
                        return std::string(name(x.kind));
                    },
                    [](const waybill::batch_sender::throttled&) {
                        return std::string("throttled");
                    },
                    [](const waybill::batch_sender::too_large&) {
                        return std::string("too large");
                    },
                    [](const auto&) { return std::string("unknown"); });
                all += " " + std::to_string(f.index) + " " + answer;
            }
            return all;
        },
        [](const waybill::batch_sender::throttled&) { return std::string("throttled"); },
        [](const waybill::batch_sender::failed& f) {
            return "failed, " + std::string(name(f.kind));
        },
        [](const waybill::batch_sender::outcome_unknown&) { return std::string("unknown"); });
}

/// Counts the checks, and prints each unexpected result.
class score {
public:
    void expect(std::string_view broker, std::string_view said, const std::string& became,
                std::string_view expected)
    {
        ++asked_;
        if (became == expected) return;
        ++wrong_;
        std::printf("%.*s, %.*s: %s, not %.*s\n", static_cast<int>(broker.size()), broker.data(),
                    static_cast<int>(said.size()), said.data(), became.c_str(),
                    static_cast<int>(expected.size()), expected.data());
    }
    [[nodiscard]] int asked() const { return asked_; }
    [[nodiscard]] int wrong() const { return wrong_; }

private:
    int asked_ = 0;
    int wrong_ = 0;
};

/// An HTTP service. Sends the responses in their order, one for each request, and stores the heads
/// of the requests. An empty response closes the connection.
class http_service {
public:
    explicit http_service(std::vector<std::string> responses)
        : responses_(std::move(responses)), peer_([this](int fd) { talk(fd); })
    {
    }

    [[nodiscard]] const std::string& port() const { return peer_.port(); }
    [[nodiscard]] const std::vector<std::string>& requests() const { return requests_; }
    /// "POST GET PUT"
    [[nodiscard]] std::string methods() const
    {
        std::string all;
        for (const std::string& r : requests_)
            all += (all.empty() ? "" : " ") + r.substr(0, r.find(' '));
        return all;
    }

private:
    void talk(int fd)
    {
        while (requests_.size() != responses_.size()) {
            std::string head;
            char c = 0;
            while (!head.ends_with("\r\n\r\n")) {
                if (::recv(fd, &c, 1, 0) != 1) return;
                head += c;
            }
            const auto size = engines::number_in(head, "Content-Length: ", "\r");
            for (std::uint64_t n = 0; n != size.value_or(0); ++n) {
                if (::recv(fd, &c, 1, 0) != 1) return;
            }
            const std::string& response = responses_[requests_.size()];
            requests_.push_back(std::move(head));
            if (response.empty()) return;
            say(fd, response);
        }
    }

    std::vector<std::string> responses_;
    std::vector<std::string> requests_{};
    peer peer_;
};

/// `headers` are lines that end with \r\n.
inline std::string http_response(int status, const std::string& body,
                                 const std::string& headers = {})
{
    return "HTTP/1.1 " + std::to_string(status) + " Text\r\n" + headers +
           "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

}  // namespace scripted

#endif  // WAYBILL_TESTS_INTEGRATION_ENGINES_SCRIPTED_HPP
