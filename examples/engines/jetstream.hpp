// SPDX-License-Identifier: MIT
//
// jetstream: questions to NATS JetStream, each with its answer, over a plain socket.
//
//     engines::jetstream js({.host = "127.0.0.1", .port = "4222"});
//     const auto info = js.ask("$JS.API.STREAM.INFO.ORDERS", {});          // what it says, as JSON
//     const auto m = js.request("$JS.API.CONSUMER.MSG.NEXT.ORDERS.workers", "1");
//
// A question is a publish that names our inbox, and the answer is what comes there next: one
// question at a time. After an exception, an answer may still be on its way, and would be taken for
// that to the next question: who catches one takes another connection.

#ifndef WAYBILL_EXAMPLES_ENGINES_JETSTREAM_HPP
#define WAYBILL_EXAMPLES_ENGINES_JETSTREAM_HPP

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "depth.hpp"
#include "number.hpp"
#include "socket.hpp"

namespace engines {

class jetstream {
public:
    using json = nlohmann::json;

    /// What came to our inbox.
    struct message {
        std::string reply{};   ///< Where a message of a stream is acknowledged.
        std::string status{};  ///< "404 No Messages", for what is no message; else empty.
        std::string body{};
    };

    /// Throws socket_error, as all here, if nobody is there or he does not want us.
    explicit jetstream(const server& at) : socket_(at.host, at.port, at.patience)
    {
        const std::string info = socket_.line();
        if (!info.starts_with("INFO ")) throw socket_error("no NATS server: " + info);
        json c{{"verbose", false}, {"pedantic", false}, {"name", "waybill"}, {"lang", "c++"},
               {"version", "0"},   {"protocol", 1},     {"headers", true},
               {"no_responders", true}};
        if (!at.user.empty()) c.update({{"user", at.user}, {"pass", at.password}});
        std::random_device dice;
        inbox_ += std::to_string(dice()) + std::to_string(dice());
        socket_.write("CONNECT " + text(c) + "\r\nSUB " + inbox_ + " 1\r\nPING\r\n");
        for (std::string said; said != "PONG";) said = line();
    }

    [[nodiscard]] message request(std::string_view subject, std::string_view body)
    {
        std::string all = "PUB ";
        all.append(subject) += ' ' + inbox_ + ' ' + std::to_string(body.size()) + "\r\n";
        socket_.write(all.append(body) += "\r\n");
        for (;;) {
            const std::string said = line();
            if (said.starts_with("MSG ") || said.starts_with("HMSG ")) return received(said);
        }
    }

    /// What it says, which may be an error with a code and a description.
    [[nodiscard]] json answer(std::string_view subject, std::string_view body)
    {
        const message m = request(subject, body);
        if (m.status.starts_with("503")) throw socket_error("the server has no JetStream");
        json j = json::parse(m.body, nullptr, false);
        if (!j.is_object()) throw socket_error("an answer that is no JSON");
        return j;
    }

    /// As `ask`, but nothing if what is asked for does not exist.
    [[nodiscard]] std::optional<json> find(std::string_view subject)
    {
        json said = answer(subject, {});
        const auto error = said.find("error");
        if (error == said.end()) return std::optional<json>(std::move(said));
        if (error->is_object() && error->value("code", json()) == 404) return {};
        fail(*error);
    }

    /// An error that the server has answered is thrown, in its words.
    [[nodiscard]] json ask(std::string_view subject, std::string_view body)
    {
        json said = answer(subject, body);
        if (const auto error = said.find("error"); error != said.end()) fail(*error);
        return said;
    }

    /// The number at the end of a path such as "/state/messages".
    [[nodiscard]] static std::uint64_t number_at(const json& j, const char* path)
    {
        const json::json_pointer at(path);
        if (!j.contains(at) || !j[at].is_number_unsigned()) {
            throw socket_error(std::string("an answer without ") + (path + 1));
        }
        return j[at].get<std::uint64_t>();
    }

    /// Whatever is no UTF-8 in it is replaced.
    [[nodiscard]] static std::string text(const json& j)
    {
        return j.dump(-1, ' ', false, json::error_handler_t::replace);
    }

private:
    [[noreturn]] static void fail(const json& error)
    {
        if (!error.is_object() || !error.contains("description") ||
            !error["description"].is_string()) {
            throw socket_error("an error without words");
        }
        throw socket_error(error["description"].get<std::string>());
    }

    static constexpr std::uint64_t largest = 1U << 26U;  // more than that no server can be told

    [[nodiscard]] std::string line()
    {
        std::string said = socket_.line();
        if (said == "PING") socket_.write("PONG\r\n");
        if (said.starts_with("-ERR ")) throw socket_error(said.substr(5));
        return said;
    }

    /// MSG subject 1 [reply] 16, or HMSG subject 1 [reply] 12 28, where the first 12 are headers.
    [[nodiscard]] message received(const std::string& said)
    {
        std::vector<std::string_view> words;
        for (std::string_view rest = said; !rest.empty();) {
            const std::size_t end = rest.find(' ');
            if (end != 0) words.push_back(rest.substr(0, end));
            rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
        }
        const std::size_t sizes = said.starts_with('H') ? 2 : 1;
        const bool whole = words.size() >= 3 + sizes;
        const auto all = whole ? number_in(words.back()) : std::nullopt;
        const auto headers = whole && sizes == 2 ? number_in(words[words.size() - 2]) : 0;
        if (!all || *all > largest || !headers || *headers > *all) {
            throw socket_error("no NATS server: " + said);
        }
        message m{.body = socket_.bytes(*all + 2)};
        m.body.resize(*all);
        if (words.size() > 3 + sizes) m.reply = words[3];
        constexpr std::string_view version = "NATS/1.0 ";
        if (*headers != 0 && m.body.starts_with(version)) {
            m.status = m.body.substr(version.size(), m.body.find("\r\n") - version.size());
        }
        m.body.erase(0, *headers);
        return m;
    }

    socket socket_;
    std::string inbox_ = "_INBOX.waybill.";
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_JETSTREAM_HPP
