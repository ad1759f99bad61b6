// SPDX-License-Identifier: MIT
//
// The outcome of each error of a NATS server: by the library's table, and by the adapter's own list
// that precedes it. The server is scripted, because no real one sends all of these errors.

#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include <engines/nats.hpp>

#include "scripted.hpp"

namespace {

using engines::error_code;
using scripted::in_words;
using scripted::read_until;
using scripted::say;

// A row of the adapter that equals a row of the library's table is not needed.
constexpr bool differs(std::span<const error_code> own)
{
    for (const error_code& row : own) {
        if (waybill::wire::find(waybill::wire::nats_errors, row.code) == row.means) return false;
    }
    return true;
}
static_assert(differs(engines::nats_own));

constexpr std::array<std::string_view, 2> bodies{"{\"a\":1}", "{\"b\":22}"};

struct row {
    std::string_view said{};
    std::string_view expected{};
};

constexpr row replies[]{
    {"PONG", "accepted"},
    {"-ERR 'Maximum Payload Violation'", "refused 17 of 64"},
    {"-ERR 'Unknown Protocol Operation'", "failed, cancelled"},
    {"-ERR 'Invalid Publish Subject'", "failed, cancelled"},
    {"-ERR 'Permissions Violation for Publish to \"mails\"'\r\nPONG", "failed, cancelled"},
    {"-ERR 'Permissions Violation for Publish with Reply of \"_INBOX.1\"'\r\nPONG",
     "failed, cancelled"},
    {"-ERR 'Permissions Violation for Subscription to \"_INBOX.1\"'\r\nPONG", "accepted"},
    {"-ERR 'Authorization Violation'", "failed, cancelled"},
    {"-ERR 'maximum control line exceeded'", "failed, cancelled"},
    {"-ERR 'Stale Connection'", "unknown"},
    {"-ERR 'Slow Consumer'", "unknown"},
    {"-ERR 'Server Shutdown'", "unknown"},
    {"-ERR 'User Authentication Expired'", "unknown"},
    {"-ERR 'User Authentication Revoked'", "unknown"},
    {"-ERR 'Account Authentication Expired'", "unknown"},
    {"-ERR 'Maximum Payload Violation, or so'", "unknown"},
    {"-ERR 'Nobody Knows'", "unknown"},
    {"-ERR", "unknown"},
    {"", "unknown"},
};
constexpr row greetings[]{
    {"-ERR 'maximum connections exceeded'", "failed, infrastructure"},
    {"-ERR 'maximum account active connections exceeded'", "failed, infrastructure"},
    {"-ERR 'Authorization Violation'", "failed, cancelled"},
    {"-ERR 'Nobody Knows'", "failed, infrastructure"},
    {"", "failed, infrastructure"},
};

std::string outcome_after(std::string_view greeting, std::string_view reply,
                          std::span<const std::string_view> lines = bodies)
{
    const scripted::peer p([&](int fd) {
        say(fd,
            "INFO {\"server_name\":\"\\\"max_payload\\\":7,\",\"headers\":true,"
            "\"max_payload\":64}\r\n");
        if (!read_until(fd, "PING\r\n")) return;
        say(fd, std::string(greeting) + "\r\n");
        if (!read_until(fd, "PING\r\n")) return;
        say(fd, std::string(reply) + "\r\n");
        // After other replies, the server closes the connection.
        if (reply.ends_with("PONG"))
            static_cast<void>(read_until(fd, "until the client closes it"));
    });
    engines::nats subject("127.0.0.1", p.port(), "mails");
    return in_words(subject.send(lines));
}

}  // namespace

int main()
{
    scripted::score s;
    for (const row& r : replies)
        s.expect("NATS", r.said, outcome_after("PONG", r.said), r.expected);
    for (const row& r : greetings)
        s.expect("NATS when connecting", r.said, outcome_after(r.said, "PONG"), r.expected);
    // nats.c compares the size itself. The limit is 64 bytes, newline included.
    const std::string longest(63, 'x');
    const std::string longer(64, 'x');
    s.expect("NATS", "64 bytes",
             outcome_after("PONG", "PONG", std::array{std::string_view(longest)}), "accepted");
    s.expect("NATS", "65 bytes",
             outcome_after("PONG", "PONG", std::array{std::string_view(longer)}),
             "refused 65 of 64");
    std::printf("%d replies of NATS, %d with another outcome\n", s.asked(), s.wrong());
    return s.wrong() == 0 && s.asked() > 20 ? 0 : 1;
}
