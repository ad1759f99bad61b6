// SPDX-License-Identifier: MIT
//
// beanstalkd_work_queue: a tube of beanstalkd as a waybill::message_queue.
//
//     engines::beanstalkd_work_queue queue({.host = "127.0.0.1", .port = "11300"}, "orders");
//     queue.put("order 7", 60s);                    // locked for 60 s at each delivery
//     waybill::run_queue(queue, handle, {.lock = 60s}, env);
//
// 1. The lock is the job's time-to-run, which its producer has chosen. Messages report it in
//    `locked_for`. Times are whole seconds.
// 2. A reservation belongs to a connection. If that breaks, the job is visible at once, and an older
//    message is `ownership_lost`. Its number could be that of a newer job: a server that starts with
//    an empty binlog counts from 1.
// 3. The server (1.12) may notice the end of a lock only at the next command of that connection, or
//    when it is closed. A handler that hangs keeps its message.
// 4. Deliveries are the server's `reserves`. All of them count. A server that restarts knows only
//    those before the last release of the job.
// 5. A dead letter is a job of the tube NAME.dead: the reason, a line feed, the body. If it is too
//    large for the server, the job is buried without the reason.
// 6. Without the binlog (-b) all jobs are lost when the server ends. With it, a server (1.12) that is
//    killed while it compacts the binlog can lose one job, because it removes the old file before it
//    has written the job to the new one.
//
// NOT_FOUND is `ownership_lost`. BAD_FORMAT and UNKNOWN_COMMAND, as for an invalid name of a tube,
// are `permanent`. All other errors and a lost connection are `infrastructure`.

#ifndef WAYBILL_EXAMPLES_ENGINES_BEANSTALKD_WORK_QUEUE_HPP
#define WAYBILL_EXAMPLES_ENGINES_BEANSTALKD_WORK_QUEUE_HPP

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "depth.hpp"
#include "number.hpp"
#include "socket.hpp"
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/ext/chrono.hpp>

namespace engines {

class beanstalkd_work_queue {
public:
    using clock = std::chrono::steady_clock;
    using seconds = std::chrono::seconds;

    struct message {
        std::uint64_t number = 0;
        std::uint64_t deliveries = 0;
        std::string body{};
        waybill::duration locked_for{};
        std::uint64_t priority = 0;
        std::uint64_t connection = 0;  ///< The reservation belongs to it.
        clock::time_point until{};     ///< The reservation lasts at least until then.
    };

    /// `receive` waits for a message for `wait`.
    beanstalkd_work_queue(server at, std::string tube, seconds wait = seconds(1))
        : at_(std::move(at)), tube_(std::move(tube)), wait_(wait)
    {
    }

    /// The server has the job when this returns. Throws socket_error.
    void put(std::string_view body, seconds time_to_run)
    {
        with_server([&](socket& s) { put_into(s, tube_, body, time_to_run); });
    }

    // The calls of a waybill::message_queue.

    [[nodiscard]] waybill::result<std::optional<message>> receive(waybill::duration)
    {
        std::optional<message> m;
        waybill::fault f = guarded([&](socket& s) {
            const auto requested = clock::now();
            const std::string reserve = "reserve-with-timeout " + std::to_string(wait_.count());
            std::string said = ask(s, reserve);
            // A message that was left to its lock: it ends soon, or has ended and this command has
            // made the server notice.
            if (said == "DEADLINE_SOON") said = ask(s, reserve);
            if (said == "TIMED_OUT" || said == "DEADLINE_SOON") return;
            const auto number = number_in(said, "RESERVED ", " ");
            if (!number) throw refused(said);
            message got{.number = *number, .body = body_after(s, said), .connection = connection_};
            const std::string job = stats(s, "stats-job " + std::to_string(*number));
            got.deliveries = number_of(job, "reserves");
            got.priority = number_of(job, "pri");
            const seconds time_to_run(number_of(job, "ttr"));
            got.locked_for = time_to_run;
            got.until = requested + time_to_run;
            m = std::move(got);
        });
        if (!f.ok()) return waybill::unexpected(std::move(f));
        return m;
    }

    [[nodiscard]] waybill::fault complete(const message& m)
    {
        return settle(m, "delete " + std::to_string(m.number), "DELETED");
    }

    [[nodiscard]] waybill::fault abandon(const message& m) { return release(m, 0); }

    [[nodiscard]] waybill::fault defer(const message& m, waybill::wall_time until)
    {
        const waybill::wall_time now = std::chrono::system_clock::now();
        const auto pause = std::chrono::ceil<seconds>((until - now).to_chrono());
        return release(m, std::max<std::int64_t>(0, pause.count()));
    }

    /// First the dead letter, then the deletion: a crash between them repeats both.
    [[nodiscard]] waybill::fault dead_letter(const message& m, std::string_view reason)
    {
        std::string letter(reason);
        std::replace(letter.begin(), letter.end(), '\n', ' ');
        letter.append("\n") += m.body;
        const std::string id = std::to_string(m.number);
        return guarded([&](socket& s) {
            check(s, m);
            try {
                put_into(s, tube_ + ".dead", letter, seconds(60));
            } catch (const refused& e) {
                if (e.what() != std::string_view("JOB_TOO_BIG")) throw;
                return expect(s, "bury " + id + " " + std::to_string(m.priority), "BURIED");
            }
            expect(s, "delete " + id, "DELETED");
        });
    }

    [[nodiscard]] waybill::fault renew(message& m, waybill::duration)
    {
        const auto requested = clock::now();
        waybill::fault f = settle(m, "touch " + std::to_string(m.number), "TOUCHED");
        if (f.ok()) m.until = requested + m.locked_for.to_chrono();
        return f;
    }

    /// Buried jobs do not count.
    [[nodiscard]] waybill::result<bool> empty()
    {
        std::uint64_t jobs = 0;
        waybill::fault f = guarded([&](socket& s) {
            const std::string tube = stats(s, "stats-tube " + tube_);
            for (const char* state : {"ready", "reserved", "delayed"})
                jobs += number_of(tube, std::string("current-jobs-") + state);
        });
        if (!f.ok()) return waybill::unexpected(std::move(f));
        return jobs == 0;
    }

private:
    /// A reply of the server. The connection can still be used.
    struct refused : socket_error {
        using socket_error::socket_error;
    };

    [[nodiscard]] waybill::fault release(const message& m, std::int64_t delay)
    {
        return settle(m,
                      "release " + std::to_string(m.number) + " " + std::to_string(m.priority) +
                          " " + std::to_string(delay),
                      "RELEASED");
    }

    [[nodiscard]] waybill::fault settle(const message& m, const std::string& command,
                                        std::string_view reply)
    {
        return guarded([&](socket& s) {
            check(s, m);
            expect(s, command, reply);
        });
    }

    /// A visible job can be deleted by any client. So after the end of the lock, this connection may
    /// settle the message only if it was not reserved again.
    void check(socket& s, const message& m) const
    {
        if (m.connection != connection_) throw refused("NOT_FOUND");
        if (clock::now() < m.until) return;
        const std::string job = stats(s, "stats-job " + std::to_string(m.number));
        if (number_of(job, "reserves") != m.deliveries) throw refused("NOT_FOUND");
    }

    template <class F>
    [[nodiscard]] waybill::fault guarded(F&& call)
    {
        try {
            with_server(call);
            return {};
        } catch (const refused& e) {
            const std::string_view said = e.what();
            if (said == "NOT_FOUND") return waybill::ownership_lost("the lock is lost");
            if (said == "BAD_FORMAT" || said == "UNKNOWN_COMMAND")
                return waybill::permanent(text(e));
            return waybill::infrastructure(text(e));
        } catch (const socket_error& e) {
            return waybill::infrastructure(text(e));
        }
    }

    [[nodiscard]] std::string text(const socket_error& e) const
    {
        return "beanstalkd, tube " + tube_ + ": " + e.what();
    }

    template <class F>
    void with_server(F&& call)
    {
        try {
            if (!socket_) connect();
            call(*socket_);
        } catch (const refused&) {
            throw;
        } catch (const socket_error&) {
            socket_.reset();
            throw;
        }
    }

    void connect()
    {
        auto s = std::make_unique<socket>(at_.host, at_.port, at_.patience + wait_);
        expect(*s, "watch " + tube_, "WATCHING");
        if (tube_ != "default") expect(*s, "ignore default", "WATCHING");
        ++connection_;
        socket_ = std::move(s);
    }

    [[nodiscard]] static std::string ask(socket& s, const std::string& command)
    {
        s.write(command + "\r\n");
        return s.line();
    }

    static void expect(socket& s, const std::string& command, std::string_view reply)
    {
        const std::string said = ask(s, command);
        if (!said.starts_with(reply)) throw refused(said);
    }

    static void put_into(socket& s, const std::string& tube, std::string_view body,
                         seconds time_to_run)
    {
        expect(s, "use " + tube, "USING");
        std::string put = "put 65536 0 " + std::to_string(time_to_run.count()) + " " +
                          std::to_string(body.size()) + "\r\n";
        expect(s, put.append(body), "INSERTED");
    }

    /// Lines such as "reserves: 7".
    [[nodiscard]] static std::string stats(socket& s, const std::string& command)
    {
        const std::string said = ask(s, command);
        if (!said.starts_with("OK ")) throw refused(said);
        return body_after(s, said);
    }

    [[nodiscard]] static std::uint64_t number_of(const std::string& stats, const std::string& name)
    {
        const auto n = number_in(stats, "\n" + name + ": ", "\n");
        if (!n) throw socket_error("statistics without " + name);
        return *n;
    }

    /// The bytes after a line such as "RESERVED 7 120" or "OK 142".
    [[nodiscard]] static std::string body_after(socket& s, const std::string& line)
    {
        const auto size = number_in(std::string_view(line).substr(line.rfind(' ') + 1));
        if (!size) throw socket_error(line);
        std::string body = s.bytes(*size + 2);
        body.resize(*size);
        return body;
    }

    server at_;
    std::string tube_;
    seconds wait_;
    std::unique_ptr<socket> socket_{};
    std::uint64_t connection_ = 0;
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_BEANSTALKD_WORK_QUEUE_HPP
