// SPDX-License-Identifier: MIT
//
// smtp: sends mails to a mail server, one after the other over one connection. The text protocol is
// spoken over a socket.
//
//     engines::smtp server("127.0.0.1", "25", 5s);
//     waybill::fault f = server.send({.from = "shop@example.org", .to = "me@example.net",
//                                     .text = "Subject: hello\r\n\r\nGood morning.\r\n"});
//
//   1. After a reply 250 to the end of a mail, the server is responsible for it (RFC 5321, 6.1).
//   2. Without that reply, the mail may have been accepted. A repetition has the same Message-ID,
//      by which receivers remove duplicates.
//   3. No reply is waited for longer than the given time.
//
// Reply to MAIL, RCPT, DATA             Fault
// 250, 251, 252                         none
// 450, any other 4yz                    transient
// 421, 451, 452                         infrastructure: the server has a problem
// 500, 502, 503, 530                    infrastructure: the server needs another dialogue
// 501, 550 to 554, any other 5yz        permanent: the address or the mail
// a refusal before the first mail       infrastructure
// no connection, no reply               infrastructure; the mail may have been accepted

#ifndef WAYBILL_EXAMPLES_ENGINES_SMTP_HPP
#define WAYBILL_EXAMPLES_ENGINES_SMTP_HPP

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "socket.hpp"
#include <waybill/core/fault.hpp>
#include <waybill/wire/error_codes.hpp>

namespace engines {

/// The meaning of replies to MAIL, RCPT and DATA (RFC 5321, 4.2.2 and 4.2.3). The first digit
/// decides for other codes, as required by 4.2.1. Before a mail, at the greeting and at EHLO, any
/// refusal is a fault of the server, not of the mail.
inline constexpr waybill::wire::error_code smtp_codes[]{
    {"250", waybill::wire::answer::accepted},
    {"251", waybill::wire::answer::accepted},        // it will be forwarded
    {"252", waybill::wire::answer::accepted},        // the mailbox is not verified
    {"421", waybill::wire::answer::infrastructure},  // the server closes the connection
    {"450", waybill::wire::answer::transient},       // this mailbox is busy
    {"451", waybill::wire::answer::infrastructure},  // an error in the server
    {"452", waybill::wire::answer::infrastructure},  // no storage left on the server
    {"500", waybill::wire::answer::infrastructure},  // the server needs another dialogue
    {"501", waybill::wire::answer::permanent},       // an invalid address
    {"502", waybill::wire::answer::infrastructure},  // the same: an unknown command
    {"503", waybill::wire::answer::infrastructure},
    {"530", waybill::wire::answer::infrastructure},  // authentication is required, RFC 4954
    {"550", waybill::wire::answer::permanent},       // no such mailbox, or no permission
    {"551", waybill::wire::answer::permanent},
    {"552", waybill::wire::answer::permanent},  // above the limit of the mailbox
    {"553", waybill::wire::answer::permanent},
    {"554", waybill::wire::answer::permanent},
};

/// The text has its headers, an empty line and the body; its lines end in \r\n.
struct mail {
    std::string from{};
    std::string to{};
    std::string text{};
};

class smtp {
public:
    smtp(std::string host, std::string port, socket::clock::duration patience)
        : host_(std::move(host)), port_(std::move(port)), patience_(patience)
    {
    }

    /// The fault has the server's text.
    [[nodiscard]] waybill::fault send(const mail& m)
    {
        const bool kept = connection_.has_value();
        waybill::fault f = attempt(m);
        // The end of an idle connection is no fault of the server.
        if (kept && !f.ok() && !answered_) f = attempt(m);
        return f;
    }

private:
    [[nodiscard]] waybill::fault attempt(const mail& m)
    {
        answered_ = false;
        try {
            if (!connection_ && !connect()) return waybill::infrastructure(said_);
            if (!accepts("MAIL FROM:<" + m.from + ">\r\n", '2')) return refusal();
            if (!accepts("RCPT TO:<" + m.to + ">\r\n", '2')) return refusal();
            if (!accepts("DATA\r\n", '3')) return refusal();
            if (!accepts(with_dots(m.text) + ".\r\n", '2')) return refusal();
            return {};
        } catch (const socket_error& e) {
            connection_.reset();
            return waybill::infrastructure(e.what());
        }
    }

    [[nodiscard]] bool connect()
    {
        connection_.emplace(host_, port_, patience_);
        said_ = reply();
        if (said_.starts_with("220") && accepts("EHLO localhost\r\n", '2')) {
            answered_ = false;  // the reply was not to the mail
            return true;
        }
        connection_.reset();
        return false;
    }

    [[nodiscard]] bool accepts(const std::string& what, char first_digit)
    {
        connection_->write(what);
        said_ = reply();
        answered_ = true;
        return said_.starts_with(first_digit);
    }

    /// The last line of a reply; the other lines have a dash after the code.
    [[nodiscard]] std::string reply()
    {
        for (;;) {
            std::string line = connection_->line();
            if (line.size() < 4 || line[3] != '-') return line;
        }
    }

    [[nodiscard]] waybill::fault refusal()
    {
        using waybill::wire::answer;
        waybill::fault f{waybill::fault_kind::infrastructure, said_};
        const auto code = std::string_view(said_).substr(0, 3);
        const answer other = said_.starts_with('4')   ? answer::transient
                             : said_.starts_with('5') ? answer::permanent
                                                      : answer::outcome_unknown;
        f.kind = fault_of(waybill::wire::find(smtp_codes, code).value_or(other));
        const bool usable = code != "421" && other != answer::outcome_unknown;
        if (!usable || !accepts("RSET\r\n", '2')) connection_.reset();
        return f;
    }

    /// A line that begins with a dot gets a second one, since a lone dot ends the mail.
    [[nodiscard]] static std::string with_dots(std::string_view text)
    {
        std::string out;
        for (std::size_t i = 0; i != text.size(); ++i) {
            if (text[i] == '.' && (i == 0 || text[i - 1] == '\n')) out += '.';
            out += text[i];
        }
        return out;
    }

    std::string host_;
    std::string port_;
    socket::clock::duration patience_;
    std::optional<socket> connection_{};
    std::string said_{};
    bool answered_ = false;  // the server has replied to this mail
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_SMTP_HPP
