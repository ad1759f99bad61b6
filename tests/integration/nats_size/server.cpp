// SPDX-License-Identifier: MIT
//
// server: a server accepts messages of exactly the computed maximum of wire/nats, and refuses one
// more byte. Speaks the protocol itself, over a socket. Arguments: port, max_payload.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <waybill/wire/nats.hpp>

namespace {

namespace nats = waybill::wire::nats;

class connection {
public:
    explicit connection(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0))
    {
        const timeval patience{10, 0};
        ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
        sockaddr_in at{};
        at.sin_family = AF_INET;
        at.sin_port = htons(port);
        at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        if (::connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0) {
            std::perror("connect");
            std::exit(1);
        }
        line();  // INFO
        say("CONNECT {\"verbose\":true,\"headers\":true}\r\n");
        line();
    }
    ~connection() { ::close(socket_); }
    connection(const connection&) = delete;
    connection& operator=(const connection&) = delete;

    // A server that refuses may close before it has read all bytes. Its reply is read anyway.
    void say(std::string_view all)
    {
        while (!all.empty()) {
            const auto n = ::send(socket_, all.data(), all.size(), MSG_NOSIGNAL);
            if (n <= 0) return;
            all.remove_prefix(static_cast<std::size_t>(n));
        }
    }
    std::string line()
    {
        std::string out;
        for (char c = 0; c != '\n' && ::recv(socket_, &c, 1, 0) == 1;) out.push_back(c);
        return out;
    }

private:
    int socket_;
};

std::string frame(const nats::message& m, nats::header_style style)
{
    std::string head;
    if (!m.headers.empty()) {
        head = "NATS/1.0\r\n";
        for (const auto& h : m.headers) {
            head += h.key;
            head += style == nats::header_style::spaced ? ": " : ":";
            head += h.value;
            head += "\r\n";
        }
        head += "\r\n";
    }
    std::string out = head.empty() ? "PUB " : "HPUB ";
    out += m.subject;
    out += ' ';
    if (m.reply) (out += *m.reply) += ' ';
    if (!head.empty()) out += std::to_string(head.size()) + ' ';
    out += std::to_string(head.size() + m.body.size()) + "\r\n" + head;
    out += m.body;
    return out + "\r\n";
}

}  // namespace

int main(int, char** argv)
{
    const auto port = static_cast<std::uint16_t>(std::atoi(argv[1]));
    const auto max_payload = static_cast<std::uint64_t>(std::atoll(argv[2]));
    const std::string long_value(3'000, 'v');
    const std::vector<std::vector<nats::header>> all_headers{
        {},
        {{"K", "V"}},
        {{"K", ""}, {"K", "two"}, {"traceparent", "00-0123456789abcdef0123456789abcdef-01"}},
        {{"Long", long_value}},
    };
    int wrong = 0;
    int tried = 0;
    for (const auto& headers : all_headers) {
        for (const auto style : {nats::header_style::spaced, nats::header_style::compact}) {
            for (const std::uint64_t over : {0U, 1U}) {
                nats::message m{.subject = "size.of", .headers = headers};
                if (headers.size() == 1) m.reply = "answers";
                const std::string body(max_payload - nats::payload_size(m, style) + over, 'b');
                m.body = body;
                const std::string bytes = frame(m, style);
                connection c(port);
                c.say(bytes);
                const std::string answer = c.line();
                const bool taken = answer == "+OK\r\n";
                const bool refused = answer.find("Maximum Payload Violation") != answer.npos;
                ++tried;
                const bool sized = nats::frame_size(m, style) == bytes.size() &&
                                   nats::payload_size(m, style) == max_payload + over;
                if (sized && (over == 0 ? taken : refused)) continue;
                ++wrong;
                std::fprintf(stderr, "%zu headers, %llu over: %s", headers.size(),
                             static_cast<unsigned long long>(over), answer.c_str());
            }
        }
    }
    std::printf("a server with max_payload %llu: %d messages, %d wrong\n",
                static_cast<unsigned long long>(max_payload), tried, wrong);
    return wrong == 0 && tried == 16 ? 0 : 1;
}
