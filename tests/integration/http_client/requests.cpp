// SPDX-License-Identifier: MIT
//
// examples/engines/http_client.hpp against scripted peers and a server with TLS:
//
//     requests outcomes                   the table of http_client.hpp
//     requests tls HTTPS_PORT CA_FILE     certificates are checked

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include <engines/azure_table.hpp>
#include <engines/depth_rabbitmq.hpp>
#include <engines/http_client.hpp>

#include "../engines/scripted.hpp"

namespace {

using engines::http_client;
using engines::http_options;
using scripted::read_until;
using scripted::say;
using namespace std::chrono_literals;

scripted::score score;

const std::string done = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
const std::string head_end = "\r\n\r\n";

/// "200 hi", "not sent: TEXT" or "sent: TEXT"
std::string asked(http_client& http, std::string_view body = "")
{
    try {
        const engines::http_answer a = http.ask(body.empty() ? "GET" : "POST", "/", {}, body);
        return std::to_string(a.status) + " " + a.body;
    } catch (const engines::http_error& e) {
        return std::string(e.sent ? "sent: " : "not sent: ") + e.what();
    }
}

/// The part of `text` that begins with the expected words, for a readable report.
void begins(const char* what, const std::string& text, std::string_view expected)
{
    score.expect("http_client", what, text.substr(0, expected.size()), expected);
}
void contains(const char* what, const std::string& text, std::string_view expected)
{
    if (text.find(expected) == text.npos) score.expect("http_client", what, text, expected);
    else score.expect("http_client", what, "", "");
}

/// The outcome of one request with a response, in an own connection.
std::string after(const std::string& response, http_options o = {})
{
    const scripted::peer p([&](int fd) {
        if (read_until(fd, head_end)) say(fd, response);
    });
    http_client http(engines::http_origin("http", "127.0.0.1", p.port()), std::move(o));
    return asked(http);
}

void not_sent()
{
    http_client refused("http://127.0.0.1:1");
    begins("refused", asked(refused), "not sent: 127.0.0.1:1: Connection refused");
    http_client unknown("http://no.such.host.invalid:80");
    begins("no address", asked(unknown), "not sent: no.such.host.invalid:80: ");
    http_client malformed("http://127.0.0.1:1:1");
    begins("URL", asked(malformed), "not sent: ");
    const scripted::peer plain([](int fd) { say(fd, "220 smtp ready\r\n"); });
    http_client tls("https://127.0.0.1:" + plain.port());
    begins("no TLS", asked(tls), "not sent: ");
    // The peer accepts the connection and never begins TLS.
    const scripted::peer silent([](int fd) { read_until(fd, "never"); });
    http_client slow("https://127.0.0.1:" + silent.port(), {.patience = 300ms});
    contains("no handshake", asked(slow), "no connection within 300 ms");
    begins("no handshake", asked(slow), "not sent: ");
}

void outcome_unknown()
{
    begins("a response", after(done), "200 hi");
    begins("closed", after(""), "sent: ");
    begins("incomplete", after("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"), "sent: ");
    begins("half a head", after("HTTP/1.1 200 OK\r\nContent-"), "sent: ");
    begins("no HTTP", after("220 smtp ready\r\n\r\n"), "sent: ");
    contains("no length", after("HTTP/1.1 200 OK\r\n\r\nhi"), "without a length may be incomplete");
    begins("no content", after("HTTP/1.1 204 No Content\r\n\r\n"), "204 ");
    begins("continue", after("HTTP/1.1 100 Continue\r\n\r\n" + done), "200 hi");
    begins("an error", after("HTTP/1.1 500 No\r\nContent-Length: 1\r\n\r\n!"), "500 !");
    begins("a redirect",
           after("HTTP/1.1 302 So\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
           "302 ");
    std::string many = "HTTP/1.1 200 OK\r\n";
    for (int n = 0; n != 201; ++n) many += "A: b\r\n";
    contains("headers", after(many + head_end), "more than 200 headers");
    begins("headers", after(many + head_end), "sent: ");
    contains("a large body",
             after("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4000001\r\n" +
                   std::string(0x4000001, 'a') + "\r\n0\r\n\r\n"),
             "more than 64 MiB");

    const scripted::peer silent([](int fd) { read_until(fd, "never"); });
    http_client slow("http://127.0.0.1:" + silent.port(), {.patience = 300ms});
    contains("no response", asked(slow), "no response within 300 ms");
    begins("no response", asked(slow), "sent: ");
}

/// The first connection ends with its second request; a further one has a response.
void kept_connections()
{
    for (const bool repeatable : {false, true}) {
        for (const std::string_view body : {"", "a body"}) {
            std::atomic<int> requests{0};
            std::atomic<int> connections{0};
            const scripted::peer p([&](int fd) {
                ++connections;
                const std::string end = body.empty() ? head_end : head_end + std::string(body);
                while (read_until(fd, end)) {
                    if (++requests == 2) return;
                    say(fd, done);
                }
            });
            http_client http("http://127.0.0.1:" + p.port(), {.repeatable = repeatable});
            begins("the first", asked(http, body), "200 hi");
            begins("the second", asked(http, body), repeatable ? "200 hi" : "sent: 127.0.0.1:");
            score.expect("http_client", "requests", std::to_string(requests),
                         repeatable ? "3" : "2");
            begins("the next", asked(http, body), "200 hi");
            score.expect("http_client", "connections", std::to_string(connections),
                         repeatable ? "2" : "3");  // libcurl opens one before the abort
        }
    }
    // The second connection is refused, but the first had carried the request.
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    auto* const any = reinterpret_cast<sockaddr*>(&at);
    const bool listens = ::bind(listener, any, size) == 0 && ::listen(listener, 1) == 0 &&
                         ::getsockname(listener, any, &size) == 0;
    score.expect("http_client", "a listener", listens ? "yes" : "no", "yes");
    std::thread once([&] {
        const int fd = ::accept(listener, nullptr, nullptr);
        ::close(listener);
        if (read_until(fd, head_end)) say(fd, done);
        read_until(fd, head_end);
        ::close(fd);
    });
    const std::string origin = "http://127.0.0.1:" + std::to_string(ntohs(at.sin_port));
    http_client http(origin, {.repeatable = true});
    begins("kept", asked(http), "200 hi");
    const std::string broken = asked(http);
    begins("refused after it broke", broken, "sent: ");
    contains("refused after it broke", broken, "Connection refused");
    once.join();
    begins("refused at once", asked(http), "not sent: ");
    // A connection that is closed before the request is replaced, also if it must not be repeated.
    std::atomic<int> n{0};
    const scripted::peer closing([&](int fd) {
        if (read_until(fd, head_end)) say(fd, done);
        ++n;
    });
    http_client again("http://127.0.0.1:" + closing.port());
    begins("before it is closed", asked(again), "200 hi");
    while (n != 1) continue;
    std::this_thread::sleep_for(100ms);
    begins("after it was closed", asked(again), "200 hi");
}

void outcomes()
{
    not_sent();
    outcome_unknown();
    kept_connections();
}

void with_tls(const std::string& port, const std::string& ca)
{
    const std::string origin = "https://127.0.0.1:" + port;
    http_client trusted(origin, {.ca_file = ca});
    const std::string first = asked(trusted);
    begins("the CA is known", first, "200 ");
    begins("the connection is kept", asked(trusted), first);  // it is the number of connections
    http_client stranger(origin);
    begins("the CA is unknown", asked(stranger),
           "not sent: 127.0.0.1:" + port + ": the server's certificate is refused: ");
    contains("the CA is unknown", asked(stranger), "CURL_CA_BUNDLE");
    http_client other("https://localhost:" + port, {.ca_file = ca});
    contains("another host name", asked(other), "the server's certificate is refused: ");
    begins("another host name", asked(other), "not sent: ");
    http_client no_file(origin, {.ca_file = ca + ".none"});
    contains("no CA file", asked(no_file),
             "the file of CA certificates " + ca + ".none cannot be read");
    begins("no CA file", asked(no_file), "not sent: ");

    auto at = *engines::azure_table_at(origin + "/devstoreaccount1/letters");
    const auto refused = engines::azure_table(at).list();
    contains("a table", refused ? "accepted" : refused.error().text,
             "the server's certificate is refused");
    at.ca_file = ca;
    const auto accepted = engines::azure_table(at).list();
    begins("a table", accepted ? "accepted" : accepted.error().text, "accepted");

    const engines::server management{.host = "127.0.0.1", .port = port};
    const auto depth = [&] {
        return engines::rabbitmq_depth(management, "/", "q", "https").read();
    };
    contains("a depth", depth() ? "accepted" : depth().error(),
             "the server's certificate is refused");
    setenv("CURL_CA_BUNDLE", ca.c_str(), 1);
    begins("a depth", depth() ? "accepted" : depth().error(), "accepted");
    begins("the CA of the environment", asked(stranger), "200 ");
}

}  // namespace

int main(int count, char** argv)
{
    if (count == 2) outcomes();
    else if (count == 4) with_tls(argv[2], argv[3]);
    std::printf("http_client: %d outcomes, %d wrong\n", score.asked(), score.wrong());
    return score.wrong() == 0 && score.asked() > 10 ? 0 : 1;
}
