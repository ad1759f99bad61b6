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
// 4. `complete` also reserves the next job, in the same request, for the next call of `receive`.
//    If none follows, this job is locked until its time-to-run or the connection ends.
// 5. Deliveries are the server's `reserves`. All of them count. A server that restarts knows only
//    those before the last release of the job.
// 6. A dead letter is a job of the tube NAME.dead: the reason, a line feed, the body. If it is too
//    large for the server, the job is buried without the reason.
// 7. Without the binlog (-b) all jobs are lost when the server ends. With it, a server (1.12) that is
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
        seconds time_to_run{};
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
            m = next(s);
            if (m) return;
            const auto requested = clock::now();
            const std::string reserve = "reserve-with-timeout " + std::to_string(wait_.count());
            std::string said = ask(s, reserve);
            // A message that was left to its lock: it ends soon, or has ended and this command has
            // made the server notice.
            if (said == "DEADLINE_SOON") said = ask(s, reserve);
            auto got = reserved(s, said, requested);
            if (got) add_statistics(s, *got);
            m = std::move(got);
        });
        if (!f.ok()) return waybill::unexpected(std::move(f));
        return m;
    }

    /// Reserves the next job, too, unless one is reserved already.
    [[nodiscard]] waybill::fault complete(const message& m)
    {
        const std::string remove = "delete " + std::to_string(m.number);
        if (next_ && next_->connection == connection_) return settle(m, remove, "DELETED");
        std::string removed;
        waybill::fault f = guarded([&](socket& s) {
            check(s, m);
            const auto requested = clock::now();
            s.write(remove + "\r\nreserve-with-timeout 0\r\n");
            removed = s.line();
            next_ = reserved(s, s.line(), requested);
        });
        if (removed == "DELETED") return {};  // also if the reservation has failed
        if (!removed.empty() && f.ok()) return fault_of(removed);
        return f;
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
        if (!f.ok()) return f;
        m.locked_for = m.time_to_run;
        m.until = requested + m.time_to_run;
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
    static constexpr std::string_view not_found = "NOT_FOUND";

    /// A reply of the server. The connection can still be used.
    struct refused : socket_error {
        using socket_error::socket_error;
    };

    /// The job of a reply to a reservation; none if the server has no job. Throws `refused`.
    [[nodiscard]] std::optional<message> reserved(socket& s, const std::string& said,
                                                  clock::time_point requested) const
    {
        if (said == "TIMED_OUT" || said == "DEADLINE_SOON") return {};
        const auto number = number_in(said, "RESERVED ", " ");
        if (!number) throw refused(said);
        return message{.number = *number,
                       .body = body_after(s, said),
                       .connection = connection_,
                       .until = requested};
    }

    static void add_statistics(socket& s, message& m)
    {
        const std::string job = stats(s, "stats-job " + std::to_string(m.number));
        m.deliveries = number_of(job, "reserves");
        m.priority = number_of(job, "pri");
        m.time_to_run = seconds(number_of(job, "ttr"));
        m.locked_for = m.time_to_run;
        m.until += m.time_to_run;
    }

    /// The job that `complete` has reserved, if it is still locked.
    [[nodiscard]] std::optional<message> next(socket& s)
    {
        const auto called = clock::now();
        auto m = std::exchange(next_, {});
        if (!m || m->connection != connection_) return {};
        try {
            add_statistics(s, *m);
        } catch (const refused& e) {
            if (e.what() != not_found) throw;
            return {};
        }
        m->locked_for = m->until - called;
        if (clock::now() >= m->until) return {};
        return m;
    }

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
        if (m.connection != connection_) throw refused(std::string(not_found));
        if (clock::now() < m.until) return;
        const std::string job = stats(s, "stats-job " + std::to_string(m.number));
        if (number_of(job, "reserves") != m.deliveries) throw refused(std::string(not_found));
    }

    template <class F>
    [[nodiscard]] waybill::fault guarded(F&& call)
    {
        try {
            with_server(call);
            return {};
        } catch (const refused& e) {
            return fault_of(e.what());
        } catch (const socket_error& e) {
            return waybill::infrastructure(text(e.what()));
        }
    }

    [[nodiscard]] waybill::fault fault_of(std::string_view reply) const
    {
        if (reply == not_found) return waybill::ownership_lost("the lock of the job is lost");
        if (reply == "BAD_FORMAT" || reply == "UNKNOWN_COMMAND")
            return waybill::permanent(text(reply));
        return waybill::infrastructure(text(reply));
    }

    [[nodiscard]] std::string text(std::string_view error) const
    {
        return "beanstalkd, tube " + tube_ + ": " + std::string(error);
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
    /// Reserved by `complete`. Until `receive` asks for its statistics, `until` is the time of the
    /// request.
    std::optional<message> next_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_BEANSTALKD_WORK_QUEUE_HPP
