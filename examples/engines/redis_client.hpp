// SPDX-License-Identifier: MIT
//
// redis_client: one connection to a Redis server, on hiredis, and the meaning of its errors.
//
//     engines::redis_client c(engines::redis_address_in("redis://127.0.0.1:6379"));
//     engines::redis_reply id = c.ask({"XADD", "mails", "*", "body", "first"});
//
//     c.append({"XADD", "mails", "*", "body", "second"});        // a pipeline
//     c.append({"XADD", "mails", "*", "body", "third"});
//     c.flush();
//     engines::redis_reply second = c.read(), third = c.read();  // may be error replies
//
//   1. A call waits at most 10 s for the server. Then it throws redis_error, and the object is of
//      no further use.
//   2. A connection that the server has closed raises no SIGPIPE.
//   3. An address is redis://[USER:PASSWORD@]HOST:PORT[/DATABASE]. There is no TLS.
//
// First word of an error reply         Meaning (`redis_meaning`)
// OOM                                  throttled: maxmemory is reached, with the policy noeviction
// LOADING, BUSY, TRYAGAIN, CLUSTERDOWN, MASTERDOWN, NOREPLICAS
//                                      transient: the server cannot execute it at present
// MISCONF                              transient: the server cannot write its files (disk full)
// READONLY                             transient, with a new connection: it is a replica now
// NOAUTH, WRONGPASS, NOPERM            infrastructure: a wrong password, or no permission
// WRONGTYPE                            infrastructure: the key is no stream
// MOVED, ASK, CROSSSLOT                infrastructure: a cluster. Use the node of the key, and a
//                                      name with a hash tag, such as {mails}.
// ERR Protocol error: invalid bulk length
//                                      too large: an argument exceeds proto-max-bulk-len
// ERR max number of clients reached    transient
// ERR, any other text                  infrastructure: the server does not know the command
// any other                            transient
// In all cases the command is not executed. An error without a code is that of the connection.

#ifndef WAYBILL_EXAMPLES_ENGINES_REDIS_CLIENT_HPP
#define WAYBILL_EXAMPLES_ENGINES_REDIS_CLIENT_HPP

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hiredis/hiredis.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "address.hpp"
#include "depth.hpp"
#include "number.hpp"
#include "verdict.hpp"
#include <waybill/wire/error_codes.hpp>

namespace engines {

inline constexpr error_code redis_errors[]{
    {"OOM", answer::throttled},
    {"LOADING", answer::transient},
    {"BUSY", answer::transient},  // a script is running
    {"TRYAGAIN", answer::transient},
    {"CLUSTERDOWN", answer::transient},
    {"MASTERDOWN", answer::transient},
    {"NOREPLICAS", answer::transient},
    {"MISCONF", answer::transient},
    {"READONLY", answer::transient},
    {"NOAUTH", answer::infrastructure},
    {"WRONGPASS", answer::infrastructure},
    {"NOPERM", answer::infrastructure},
    {"WRONGTYPE", answer::infrastructure},
    {"MOVED", answer::infrastructure},
    {"ASK", answer::infrastructure},
    {"CROSSSLOT", answer::infrastructure},
    {"ERR", answer::infrastructure},
};

/// The first word of the text of an error reply. For a discarded transaction, that of its reason.
[[nodiscard]] inline std::string_view redis_code(std::string_view text)
{
    constexpr std::string_view reason = "because of: ";
    if (const std::size_t at = text.find(reason); text.starts_with("EXECABORT") && at != text.npos)
        text.remove_prefix(at + reason.size());
    if (text.starts_with('-')) text.remove_prefix(1);
    return text.substr(0, text.find(' '));
}

/// The meaning of an error reply.
[[nodiscard]] inline answer redis_meaning(std::string_view text)
{
    if (text.starts_with("ERR Protocol error: invalid bulk length")) return answer::too_large;
    if (text.starts_with("ERR max number of clients reached")) return answer::transient;
    return waybill::wire::find(redis_errors, redis_code(text)).value_or(answer::transient);
}

/// A failed call. `refused` is true for an error reply, and `meaning` is then that of its code. It
/// is outcome_unknown for a fault of the connection.
struct redis_error : std::runtime_error {
    redis_error(const std::string& text, answer meaning_, bool refused_)
        : std::runtime_error(text), meaning(meaning_), refused(refused_)
    {
    }
    answer meaning;
    bool refused;
};

struct redis_address {
    server at{};
    std::uint64_t database = 0;
};

/// redis://[USER:PASSWORD@]HOST:PORT[/DATABASE]. Throws redis_error. The text has no password.
[[nodiscard]] inline redis_address redis_address_in(std::string_view url)
{
    constexpr std::string_view scheme = "redis://";
    const auto wrong = [] {
        return redis_error("expected redis://[USER:PASSWORD@]HOST:PORT[/DATABASE]",
                           answer::infrastructure, false);
    };
    if (!url.starts_with(scheme)) throw wrong();
    std::string rest(url.substr(scheme.size()));
    if (rest.starts_with(':')) rest.insert(0, "default");  // a password without a user
    if (rest.find('/') == rest.npos) rest += "/0";
    if (rest.ends_with('/')) rest += '0';
    const auto a = address_in(rest, "6379");
    const auto database = a && a->path.size() == 1 ? number_in(a->path.front()) : std::nullopt;
    if (!database) throw wrong();
    return {.at = a->at, .database = *database};
}

/// 16 random hexadecimal digits, for names of runs and consumers.
[[nodiscard]] inline std::string redis_random_name()
{
    std::random_device dice;
    std::string name;
    for (int i = 0; i != 16; ++i) name += "0123456789abcdef"[dice() % 16];
    return name;
}

class redis_reply {
public:
    explicit redis_reply(void* r) noexcept : r_(static_cast<redisReply*>(r)) {}

    [[nodiscard]] bool is_error() const noexcept { return r_->type == REDIS_REPLY_ERROR; }
    [[nodiscard]] bool is_nil() const noexcept { return r_->type == REDIS_REPLY_NIL; }
    /// Of a string, a status or an error.
    [[nodiscard]] std::string_view text() const noexcept { return text(*r_); }
    [[nodiscard]] long long number() const noexcept { return r_->integer; }
    /// Of an array; otherwise empty.
    [[nodiscard]] std::span<redisReply* const> array() const noexcept { return array(*r_); }

    [[nodiscard]] static std::string_view text(const redisReply& r) noexcept
    {
        const bool has_text = r.type == REDIS_REPLY_STRING || r.type == REDIS_REPLY_STATUS ||
                              r.type == REDIS_REPLY_ERROR;
        return has_text ? std::string_view(r.str, static_cast<std::size_t>(r.len))
                        : std::string_view();
    }
    [[nodiscard]] static std::span<redisReply* const> array(const redisReply& r) noexcept
    {
        if (r.type != REDIS_REPLY_ARRAY) return {};
        return {r.element, static_cast<std::size_t>(r.elements)};
    }

private:
    struct free_reply {
        void operator()(redisReply* r) const noexcept { freeReplyObject(r); }
    };
    std::unique_ptr<redisReply, free_reply> r_;
};

class redis_client {
public:
    static constexpr std::chrono::seconds default_patience{10};

    /// Connects, logs in and selects the database. Throws redis_error.
    explicit redis_client(const redis_address& a,
                          std::chrono::milliseconds patience = default_patience)
        : patience_(patience)
    {
        const auto port = number_in(a.at.port);
        if (!port || *port > 65'535)
            throw redis_error("the port is not a number from 1 to 65535: " + a.at.port,
                              answer::infrastructure, false);
        const timeval wait{.tv_sec = patience.count() / 1'000,
                           .tv_usec = patience.count() % 1'000 * 1'000};
        c_.reset(redisConnectWithTimeout(a.at.host.c_str(), static_cast<int>(*port), wait));
        if (!c_) throw lost("no memory for a connection");
        if (c_->err != 0) throw lost(a.at.host + ':' + a.at.port + ": " + c_->errstr);
        redisSetTimeout(c_.get(), wait);
        if (!a.at.user.empty()) (void)ask({"AUTH", a.at.user, a.at.password});
        if (a.database != 0) (void)ask({"SELECT", std::to_string(a.database)});
    }

    /// Adds a command to the pipeline.
    void append(std::span<const std::string_view> words)
    {
        std::vector<const char*> texts;
        std::vector<std::size_t> sizes;
        for (const std::string_view w : words) {
            texts.push_back(w.data());
            sizes.push_back(w.size());
        }
        char* command = nullptr;
        const auto size = redisFormatCommandArgv(&command, static_cast<int>(words.size()),
                                                 texts.data(), sizes.data());
        if (size < 0) throw lost("no memory for a command");
        struct free_command {
            void operator()(char* text) const noexcept { redisFreeCommand(text); }
        };
        const std::unique_ptr<char, free_command> owner(command);
        out_.append(command, static_cast<std::size_t>(size));
    }
    void append(std::initializer_list<std::string_view> words)
    {
        append(std::span(words.begin(), words.size()));
    }

    /// Sends the pipeline. hiredis would write without MSG_NOSIGNAL.
    void flush()
    {
        std::string_view rest = out_;
        while (!rest.empty()) {
            const ssize_t n = ::send(c_->fd, rest.data(), rest.size(), MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR) continue;
            if (n < 0) {
                const std::string text =
                    errno == EAGAIN ? "the server does not read from it" : std::strerror(errno);
                out_.clear();
                throw lost(text);
            }
            rest.remove_prefix(static_cast<std::size_t>(n));
        }
        out_.clear();
    }

    /// The next reply. It may be an error reply.
    [[nodiscard]] redis_reply read()
    {
        void* r = nullptr;
        if (redisGetReply(c_.get(), &r) == REDIS_OK) return redis_reply(r);
        if (c_->err == REDIS_ERR_IO && errno == EAGAIN)
            throw lost("no reply within " + std::to_string(patience_.count()) + " ms");
        throw lost(c_->errstr);
    }

    /// One command. An error reply is thrown.
    [[nodiscard]] redis_reply ask(std::initializer_list<std::string_view> words)
    {
        return ask(std::span(words.begin(), words.size()));
    }
    [[nodiscard]] redis_reply ask(std::span<const std::string_view> words)
    {
        append(words);
        flush();
        redis_reply r = read();
        if (r.is_error()) throw redis_error(std::string(r.text()), redis_meaning(r.text()), true);
        return r;
    }

private:
    struct free_context {
        void operator()(redisContext* c) const noexcept { redisFree(c); }
    };

    [[nodiscard]] static redis_error lost(const std::string& text)
    {
        return {"the connection is lost: " + text, answer::outcome_unknown, false};
    }

    std::chrono::milliseconds patience_;
    std::unique_ptr<redisContext, free_context> c_{};
    std::string out_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_REDIS_CLIENT_HPP
