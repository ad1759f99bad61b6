// SPDX-License-Identifier: MIT

#include "scenario.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../support/program.hpp"
#include "child.hpp"

namespace outbox {

namespace {

using scene_clock = std::chrono::steady_clock;

/// A reserved port without a listener: while the server is down, no other program can take it and
/// no client can connect to itself by accident.
class own_port {
public:
    own_port() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
    {
        const int on = 1;
        setsockopt(fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        sockaddr_in a{};
        a.sin_family = AF_INET;
        a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        sockaddr generic{};
        socklen_t size = sizeof generic;
        std::memcpy(&generic, &a, sizeof a);
        if (bind(fd_, &generic, size) != 0 || getsockname(fd_, &generic, &size) != 0) {
            throw support::complaint(
                fmt::format("the mail server has no port on 127.0.0.1: {}", std::strerror(errno)));
        }
        std::memcpy(&a, &generic, sizeof a);
        number_ = ntohs(a.sin_port);
    }
    own_port(const own_port&) = delete;
    own_port& operator=(const own_port&) = delete;
    ~own_port() { close(fd_); }

    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

private:
    int fd_;
    std::uint64_t number_ = 0;
};

/// The times of the events, in seconds.
struct timetable {
    double server_dies = 1;
    double server_comes = 0;
    double busy_for = 0;
    double last_order = 0;
    std::vector<double> sender_dies{};  // also once while it sends its backlog
};

timetable timetable_for(const options& o, role sender)
{
    timetable t;
    const auto outage = static_cast<double>(o.outage);
    t.server_comes = t.server_dies + outage;
    t.busy_for = outage / 2;
    t.last_order = t.server_comes + t.busy_for + 0.5;
    t.sender_dies = {t.server_dies + outage / 2};
    if (sender == role::naive) t.sender_dies.push_back(t.server_comes + t.busy_for + 0.4);
    if (!o.kill || sender == role::naive) return t;
    std::mt19937_64 dice(o.seed);
    std::uniform_real_distribution<double> pause(0.1, 0.4);
    t.sender_dies.clear();
    for (double at = 0.3; at < t.last_order + 3; at += pause(dice)) t.sender_dies.push_back(at);
    return t;
}

class scenario {
public:
    scenario(const options& o, role sender, const std::vector<order>& orders, event_log& log)
        : o_(o),
          sender_role_(sender),
          table_(timetable_for(o, sender)),
          log_(log),
          orders_(orders.size()),
          shop_(o.db, orders),
          at_start_(shop_.taken())
    {
        const std::chrono::nanoseconds wall = std::chrono::system_clock::now().time_since_epoch();
        o_.begun = static_cast<std::uint64_t>(wall.count());
        o_.port = port_.number();
    }

    outcome run()
    {
        start_server();
        start_sender();
        while (!over_) {
            take_orders();
            run_server();
            run_sender();
            listen();
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
        }
        log_.close_chapter();
        result_.seconds = now();
        return result_;
    }

private:
    [[nodiscard]] double now() const
    {
        return std::chrono::duration<double>(scene_clock::now() - begun_).count();
    }

    [[nodiscard]] static std::int64_t nanoseconds()
    {
        const std::chrono::nanoseconds since = scene_clock::now().time_since_epoch();
        return since.count();
    }

    void take_orders()
    {
        const double share = std::min(1.0, now() / table_.last_order);
        const std::uint64_t new_ones = orders_ - at_start_;
        const double due_ones = share * static_cast<double>(new_ones);
        const std::uint64_t due = at_start_ + static_cast<std::uint64_t>(due_ones);
        while (shop_.taken() < due) shop_.take_next();
        if (closed_ || !shop_.all_taken()) return;
        // The relay ends after that, so the kills of the timetable come first.
        const bool more_kills = died_ < table_.sender_dies.size() || !breaker_closed_;
        if (expects_breaker() && !o_.kill && more_kills) return;
        closed_ = true;
        shop_.close();
        log_.event(fmt::format("the shop ends: {} stored", support::counted(orders_, "order")));
    }

    void start_server(double busy = 0)
    {
        options o = o_;
        o.as = role::server;
        o.busy = static_cast<std::uint64_t>(busy * 1'000);
        up_ = nanoseconds();
        server_.emplace(o);
        bool ready = false;
        for (int tries = 0; !ready; ++tries) {
            server_->hear([&](std::string_view) { ready = true; });
            if (server_->ended() || tries == 20'000) {
                throw support::complaint(
                    "the mail server does not start: it ended, or did not listen within 20 s");
            }
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }

    void run_server()
    {
        if (!was_down_ && now() >= table_.server_dies) {
            was_down_ = true;
            server_->kill();
            down_ = nanoseconds();
            up_ = 0;
            log_.event(fmt::format("THE MAIL SERVER IS DOWN for {} s, killed with -9", o_.outage));
        }
        if (was_down_ && up_ == 0 && now() >= table_.server_comes && outage_is_met()) {
            start_server(table_.busy_for);
            result_.seconds_down = static_cast<double>(up_ - down_) / 1e9;
            log_.event(fmt::format("the mail server is started, and refuses all mails for {:.2f} s",
                                   table_.busy_for));
        }
        if (up_ != 0 && server_->ended())
            throw support::complaint("the process of the mail server ended before the run did");
    }

    [[nodiscard]] bool expects_breaker() const
    {
        return sender_role_ == role::relay && orders_ - at_start_ >= enough_orders;
    }

    /// On a slow machine the circuit breaker may open only after the planned end of the outage. So
    /// that is awaited, but for a minute at most.
    [[nodiscard]] bool outage_is_met() const
    {
        if (!expects_breaker()) return true;
        const bool met = o_.kill ? result_.opened != 0 : !breaker_closed_;
        return met || now() >= table_.server_comes + 60;
    }

    void start_sender()
    {
        options o = o_;
        o.as = sender_role_;
        o.seed += ++result_.starts;
        sender_.emplace(o);
    }

    void run_sender()
    {
        if (died_ < table_.sender_dies.size() && now() >= table_.sender_dies[died_]) {
            ++died_;
            sender_->kill();
            listen();
            log_.event("the relay is killed with -9, and started again");
            ++result_.kills;
            if (!breaker_closed_) ++result_.kills_open;
            breaker_closed_ = true;
            start_sender();
        }
        const auto code = sender_->ended();
        if (!code) return;
        listen();
        if (*code != 0)
            throw support::complaint(fmt::format("the relay ended with code {}, and not 0", *code));
        over_ = true;
    }

    void listen()
    {
        sender_->hear([&](std::string_view line) {
            const std::size_t blank = std::min(line.find(' '), line.size());
            take(std::string(line.substr(0, blank)), line.substr(std::min(blank + 1, line.size())));
        });
    }

    void take(const std::string& word, std::string_view text)
    {
        if (word == "call") return count(text);
        if (word == "pass") return pass_over(text);
        if (word == "restored") return log_.event(fmt::format("the relay has {}", text));
        if (word != "breaker") return log_.decision(word, text);
        log_.event(fmt::format("the circuit breaker {}", text));
        if (text.starts_with("is open")) ++result_.opened;
        breaker_closed_ = text.starts_with("is closed");
        if (!breaker_closed_) return;
        if (++result_.closed == 1 && !o_.kill) table_.sender_dies.push_back(now() + 0.1);
    }

    void count(std::string_view text)
    {
        const auto at = support::number_in(text.substr(0, text.find(' ')));
        if (!at) {
            throw support::complaint("a process reported a call without its time: " +
                                     std::string(text));
        }
        const auto t = static_cast<std::int64_t>(*at);
        ++result_.calls;
        if (was_down_ && t > down_ && (up_ == 0 || t < up_)) ++result_.calls_down;
    }

    /// Ends the naive sender after three rounds without a sent mail while the server is available.
    void pass_over(std::string_view sent)
    {
        const double well = table_.server_comes + table_.busy_for;
        const bool quiet = closed_ && up_ != 0 && was_down_ && now() > well;
        barren_ = quiet && sent == "0" ? barren_ + 1 : 0;
        if (barren_ == 3) over_ = true;
    }

    options o_;
    role sender_role_;
    timetable table_;
    event_log& log_;
    std::uint64_t orders_;
    shop shop_;
    std::uint64_t at_start_;
    own_port port_{};
    scene_clock::time_point begun_ = scene_clock::now();
    std::optional<child> server_{};
    std::optional<child> sender_{};
    bool was_down_ = false;
    std::int64_t down_ = 0;  // the start of the outage
    std::int64_t up_ = 0;    // the end of the outage; 0 before it
    std::size_t died_ = 0;
    bool closed_ = false;
    bool over_ = false;
    bool breaker_closed_ = true;
    int barren_ = 0;
    outcome result_{};
};

}  // namespace

outcome play(const options& o, role sender, const std::vector<order>& orders, event_log& log)
{
    return scenario(o, sender, orders, log).run();
}

}  // namespace outbox
