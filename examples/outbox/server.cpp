// SPDX-License-Identifier: MIT

#include "server.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "../engines/sqlite.hpp"
#include "../support/program.hpp"
#include "progress_pipe.hpp"
#include "tables.hpp"
#include "wire_line.hpp"

namespace outbox {

namespace {

using clock = std::chrono::steady_clock;

enum class nature { plain, unknown, busy_at_first, busy_for_ever, forgetful, slow };

nature nature_of(std::string_view recipient, std::uint64_t seed)
{
    std::uint64_t sum = 14'695'981'039'346'656'037U ^ seed;  // FNV-1a
    for (const char c : recipient) sum = (sum ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
    const std::uint64_t n = (sum ^ (sum >> 32U)) % 1'000;
    if (n < 20) return nature::unknown;
    if (n < 50) return nature::busy_at_first;
    if (n < 55) return nature::busy_for_ever;
    if (n < 75) return nature::forgetful;
    return n < 85 ? nature::slow : nature::plain;
}

/// The stored mails and refusals of the server.
class mailboxes {
public:
    explicit mailboxes(engines::database& db) : db_(db) {}

    void store(std::string_view id, std::string_view recipient, std::string_view text)
    {
        put_.run(id, recipient, text);
    }
    void refused(std::string_view recipient, int code) { refused_.run(recipient, code); }

private:
    engines::database& db_;
    engines::statement put_{db_,
                            "INSERT INTO mails VALUES (?, ?, ?, 1) ON CONFLICT (message_id)"
                            " DO UPDATE SET copies = copies + 1"};
    engines::statement refused_{db_,
                                "INSERT INTO refusals VALUES (?, ?, 1)"
                                " ON CONFLICT DO UPDATE SET times = times + 1"};
};

class mail_server {
public:
    mail_server(const options& o, engines::database& db)
        : seed_(o.seed),
          busy_at_first_(o.busy != 0),
          busy_until_(clock::now() + std::chrono::milliseconds(o.busy)),
          boxes_(db)
    {
    }

    /// Serves one client, from the greeting to the end of the connection.
    void serve(int fd)
    {
        wire_line client(fd);
        if (is_busy() && ++turned_away_ % 2 == 1) {
            client.say("421 4.3.2 localhost is busy, closing");
            return;
        }
        bool open = client.say("220 localhost ESMTP");
        from_ = to_ = false;
        while (open) {
            const auto line = client.line();
            if (!line) return;
            open = answer(client, *line);
        }
    }

private:
    /// For a time, and for the first client at least.
    [[nodiscard]] bool is_busy() const
    {
        return (busy_at_first_ && turned_away_ == 0) || clock::now() < busy_until_;
    }

    /// Returns false if the connection ends.
    bool answer(wire_line& client, std::string_view line)
    {
        std::string verb(line.substr(0, line.find_first_of(" :")));
        for (char& c : verb) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
        if (verb == "EHLO") return client.say("250-localhost\r\n250 ENHANCEDSTATUSCODES");
        if (verb == "HELO") return client.say("250 localhost");
        if (verb == "MAIL") return mail_from(client);
        if (verb == "RCPT") return recipient_is(client, line);
        if (verb == "DATA") return data(client);
        if (verb == "NOOP") return client.say("250 2.0.0 OK");
        if (verb == "VRFY") return client.say("252 2.5.0 the address is not verified");
        if (verb == "RSET") {
            from_ = to_ = false;
            return client.say("250 2.0.0 reset");
        }
        if (verb == "QUIT") return client.say("221 2.0.0 localhost, closing") && false;
        return client.say("500 5.5.1 no such command");
    }

    bool mail_from(wire_line& client)
    {
        if (is_busy()) return client.say("451 4.3.0 local error, try later");
        if (from_) return client.say("503 5.5.1 one mail after the other");
        from_ = true;
        return client.say("250 2.1.0 ok");
    }

    bool recipient_is(wire_line& client, std::string_view line)
    {
        const std::size_t begin = line.find('<');
        const std::size_t end = line.find('>');
        if (!from_ || to_) return client.say("503 5.5.1 first MAIL, then one RCPT");
        if (begin == line.npos || end == line.npos || end < begin + 2) {
            return client.say("501 5.1.3 no address");
        }
        recipient_ = line.substr(begin + 1, end - begin - 1);
        const nature n = nature_of(recipient_, seed_);
        const bool busy = n == nature::busy_at_first && ++tries_[recipient_] <= 2;
        if (n == nature::unknown) return refuse(client, 550, "5.1.1 no such mailbox");
        if (busy) return refuse(client, 450, "4.2.1 mailbox is busy");
        if (n == nature::busy_for_ever) return refuse(client, 450, "4.2.2 mailbox is full");
        to_ = true;
        return client.say("250 2.1.5 ok");
    }

    bool refuse(wire_line& client, int code, std::string_view why)
    {
        boxes_.refused(recipient_, code);
        return client.say(fmt::format("{} {}", code, why));
    }

    bool data(wire_line& client)
    {
        if (!from_ || !to_) return client.say("503 5.5.1 first MAIL and RCPT");
        if (!client.say("354 go on, and end with a dot")) return false;
        const auto text = whole_text(client);
        if (!text) return false;
        from_ = to_ = false;
        const std::string_view id = message_id(*text);
        if (id.empty()) return client.say("554 5.6.0 no Message-ID");
        boxes_.store(id, recipient_, *text);
        const nature n = nature_of(recipient_, seed_);
        if (n == nature::forgetful && forgotten_.insert(recipient_).second) return false;
        if (n == nature::slow) std::this_thread::sleep_for(std::chrono::milliseconds(60));
        return client.say("250 2.0.0 taken");
    }

    /// The text up to the line with a single dot; doubled dots are undone.
    static std::optional<std::string> whole_text(wire_line& client)
    {
        constexpr std::size_t most = 1'048'576;
        std::string text;
        while (const auto line = client.line()) {
            if (*line == ".") return text;
            text.append(line->starts_with('.') ? line->substr(1) : *line) += "\r\n";
            if (text.size() > most) break;
        }
        return {};
    }

    static std::string_view message_id(std::string_view text)
    {
        constexpr std::string_view header = "\r\nMessage-ID: <";
        const std::size_t at = text.find(header);
        if (at == text.npos || at > text.find("\r\n\r\n")) return {};
        text.remove_prefix(at + header.size());
        return text.substr(0, text.find('>'));
    }

    std::uint64_t seed_;
    bool busy_at_first_;
    clock::time_point busy_until_;
    mailboxes boxes_;
    std::uint64_t turned_away_ = 0;
    std::map<std::string, int> tries_{};  // of mailboxes that are busy at first
    std::set<std::string> forgotten_{};   // recipients whose connection was closed once
    bool from_ = false;
    bool to_ = false;
    std::string recipient_{};
};

int listening(std::uint64_t port)
{
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_port = htons(static_cast<std::uint16_t>(port));
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    sockaddr generic{};
    std::memcpy(&generic, &a, sizeof a);
    if (fd < 0 || bind(fd, &generic, sizeof a) != 0 || listen(fd, 64) != 0) {
        throw support::complaint(fmt::format("the mail server cannot listen on port {}: {}", port,
                                             std::strerror(errno)));
    }
    return fd;
}

}  // namespace

void run_server(const options& o)
{
    const progress_pipe progress(o.progress);
    engines::database db(server_in(o.db));
    make_server_tables(db);
    mail_server server(o, db);
    const int listener = listening(o.port);
    progress("ready", std::to_string(o.port));
    for (;;) {
        const int client = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        if (client < 0) continue;
        const int on = 1;
        setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        server.serve(client);
    }
}

}  // namespace outbox
