// SPDX-License-Identifier: MIT
//
// redis_streams: sends batches of lines to a stream of Redis, on hiredis.
//
//     engines::redis_stream stream("redis://127.0.0.1:6379", "mails");
//     engines::manual m = stream.about();                    // at most 1,000 lines and 16 MiB
//     waybill::send_outcome o = stream.send(lines, attempt);  // a span of string_views
//
// Each line is an entry with the field `body`. A batch is one pipeline: MULTI, an XADD for each
// line, SET of a marker, EXEC. It needs Redis 6.2.
//
//   1. A batch is stored in one transaction: all lines in their order, without other entries
//      between them, or no line. Lines that are too long are left out. After EXEC each line has a
//      reply of its own.
//   2. The marker NAME:sent:RUN is the number of the last stored batch. It is set in the same
//      transaction. If the reply is lost, a new connection reads the marker, so a repeated attempt
//      is stored once. A late transaction of the lost connection is discarded, because it has
//      watched the marker (WATCH), which each new connection changes.
//   3. An attempt number identifies one batch. Only an attempt with an unknown outcome is compared
//      with earlier ones.
//   4. The marker expires one day after the last batch. A later repetition is stored again. An
//      object deletes its marker at its end.
//   5. With `appendonly yes` and `appendfsync always`, an accepted line is on the disk. A failover
//      to a replica may lose it, because replication is asynchronous. A server that is killed while
//      it writes a batch needs `aof-load-truncated no` and redis-check-aof: see redis_server.hpp.
//      Otherwise the lines of this batch can be stored twice after a further restart.
//   6. An object belongs to one thread at a time.
//
// Explicit ids (XADD NAME 1700000000000-7) are not used to recognise repetitions. The server
// refuses an id that is not above the last one. So a second sender would block the first one, and a
// refusal is no proof that the line was stored: an earlier one may have failed alone, and consumers
// delete entries. SET NX for each line would cost a key for each line, and MULTI cannot make an
// XADD depend on it.
//
// The policy for maxmemory must be noeviction. Other policies may remove markers or streams.
//
// Reply                                Outcome
// EXEC with ids                        accepted
// OOM                                  throttled; nothing is stored
// LOADING, BUSY, TRYAGAIN, CLUSTERDOWN, MASTERDOWN, NOREPLICAS, MISCONF, READONLY
//                                      failed, transient; nothing is stored
// NOAUTH, WRONGPASS, NOPERM, WRONGTYPE, MOVED, ASK, CROSSSLOT, unknown command
//                                      the sender stops; nothing is stored
// a line longer than proto-max-bulk-len
//                                      permanent; the other lines are stored
// EXEC without ids (nil)               failed, transient: the marker was changed or has expired
// connection lost, or no reply in 10 s, after the batch was sent
//                                      unknown
// no connection                        failed, infrastructure; nothing was sent
// All other error replies: failed, transient. See redis_client.hpp.

#ifndef WAYBILL_EXAMPLES_ENGINES_REDIS_STREAMS_HPP
#define WAYBILL_EXAMPLES_ENGINES_REDIS_STREAMS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "number.hpp"
#include "redis_client.hpp"
#include "verdict.hpp"
#include <waybill/batch.hpp>

namespace engines {

class redis_stream {
public:
    /// Other clients wait during EXEC, so a batch is limited.
    static constexpr std::uint64_t max_items = 1'000;
    static constexpr std::uint64_t max_bytes = 16'777'216;

    /// Does not connect. Throws redis_error if `url` is malformed.
    redis_stream(std::string_view url, std::string name,
                 std::chrono::milliseconds patience = redis_client::default_patience)
        : redis_stream(redis_address_in(url), std::move(name), patience)
    {
    }
    redis_stream(redis_address at, std::string name,
                 std::chrono::milliseconds patience = redis_client::default_patience)
        : at_(std::move(at)),
          name_(std::move(name)),
          marker_(name_ + ":sent:" + redis_random_name()),
          patience_(patience)
    {
    }
    redis_stream(const redis_stream&) = delete;
    redis_stream& operator=(const redis_stream&) = delete;
    ~redis_stream()
    {
        try {
            if (client_) (void)client_->ask({"DEL", marker_});
        } catch (const redis_error&) {  // it expires
        }
    }

    /// Throws redis_error if there is no connection.
    [[nodiscard]] manual about()
    {
        connect();
        return {{.bytes = max_bytes, .items = max_items}, true};
    }

    /// Redis's limit counts the body.
    [[nodiscard]] static std::uint64_t size_of(std::uint64_t body) { return body; }

    [[nodiscard]] waybill::send_outcome send(std::span<const std::string_view> bodies,
                                             std::uint64_t attempt)
    {
        said_.clear();
        try {
            connect();
        } catch (const redis_error& e) {
            fail(e);
            // After an error reply, the connection works, and the code decides.
            return e.refused ? outcome_of(e.meaning, said_) : not_connected(said_);
        }
        if (const auto earlier = arrived_.find(attempt); earlier != arrived_.end()) {
            found_ = std::move(earlier->second);
            arrived_.erase(earlier);
            return outcome();
        }
        found_.assign(bodies.size(), {});
        try {
            transmit(bodies);
        } catch (const redis_error& e) {
            fail(e);
            unknown_ = {attempt, number_, found_};
            return waybill::batch_sender::outcome_unknown{};
        }
        return outcome();
    }

    /// The text of the last error, of the server.
    [[nodiscard]] const std::string& said() const noexcept { return said_; }

    /// Passes on all bodies of the stream, in order. Throws redis_error.
    void read_all(const std::function<void(std::string_view)>& take)
    {
        connect();
        for (std::string from = "-";;) {
            const redis_reply page = client_->ask({"XRANGE", name_, from, "+", "COUNT", "1000"});
            if (page.array().empty()) return;
            for (const redisReply* const entry : page.array()) {
                const auto parts = redis_reply::array(*entry);
                const auto fields = redis_reply::array(*parts[1]);
                from = '(' + std::string(redis_reply::text(*parts[0]));
                take(fields.size() < 2 ? std::string_view() : redis_reply::text(*fields[1]));
            }
        }
    }

private:
    using answers = std::vector<std::optional<answer>>;

    static constexpr std::string_view day = "86400000";  // milliseconds

    /// An attempt without a reply.
    struct lost_attempt {
        std::uint64_t attempt = 0;
        std::uint64_t number = 0;  ///< The marker, if it was stored.
        answers found{};           ///< Of lines that were not sent.
    };

    void fail(const redis_error& e)
    {
        said_ = "Redis, stream " + name_ + ": " + e.what();
        client_.reset();
    }

    void connect()
    {
        if (client_) return;
        auto c = std::make_unique<redis_client>(at_, patience_);
        ask_limit(*c);
        const std::uint64_t stored = fence(*c);
        if (unknown_) {
            if (stored == unknown_->number) {
                for (std::optional<answer>& f : unknown_->found)
                    if (!f) f = answer::accepted;
                arrived_[unknown_->attempt] = std::move(unknown_->found);
            }
            unknown_.reset();
        }
        client_ = std::move(c);
    }

    /// Without permission for CONFIG, the default of Redis.
    void ask_limit(redis_client& c)
    {
        constexpr std::uint64_t default_limit = 536'870'912;
        max_body_ = default_limit;
        c.append({"CONFIG", "GET", "proto-max-bulk-len"});
        c.flush();
        const redis_reply r = c.read();
        const auto pair = r.array();
        if (pair.size() == 2)
            max_body_ = number_in(redis_reply::text(*pair[1])).value_or(default_limit);
    }

    /// Returns the number of the last stored batch. Earlier connections store nothing after it.
    [[nodiscard]] std::uint64_t fence(redis_client& c)
    {
        // An empty transaction: without permission for it, XADD would be executed at once.
        (void)c.ask({"MULTI"});
        (void)c.ask({"EXEC"});
        (void)c.ask({"PEXPIRE", marker_, day});  // a change, for WATCH
        const redis_reply last = c.ask({"GET", marker_});
        std::uint64_t stored = number_in(last.text()).value_or(0);
        if (last.is_nil()) (void)c.ask({"SET", marker_, "0", "PX", day});
        const redis_reply type = c.ask({"TYPE", name_});
        // XADD has failed then, and SET has not.
        if (type.text() != "stream" && type.text() != "none") stored = 0;
        (void)c.ask({"WATCH", marker_});
        return stored;
    }

    /// Fills in `found_`. Throws redis_error if it is not known whether the lines are stored.
    void transmit(std::span<const std::string_view> bodies)
    {
        redis_client& c = *client_;
        const std::string number = std::to_string(++number_);
        c.append({"MULTI"});
        for (std::size_t i = 0; i != bodies.size(); ++i) {
            if (bodies[i].size() > max_body_) refuse_size(i, bodies[i].size());
            else c.append({"XADD", name_, "*", "body", bodies[i]});
        }
        c.append({"SET", marker_, number, "PX", day});
        c.append({"EXEC"});
        c.append({"WATCH", marker_});
        std::string refused;  // the first error reply: the transaction is discarded
        try {
            flush_or_read(c);
            read_queued(bodies.size(), refused);
            const redis_reply executed = c.read();
            read_executed(executed, refused);
        } catch (const redis_error&) {
            if (refused.empty()) throw;
            client_.reset();
            return discard(refused);
        }
        // After EXEC, the outcome is known.
        try {
            if (const redis_reply r = c.read(); r.is_error()) client_.reset();
        } catch (const redis_error&) {
            client_.reset();
        }
        if (reconnect_) client_.reset();
        reconnect_ = false;
    }

    /// The server may have sent the reason before it closed the connection.
    static void flush_or_read(redis_client& c)
    {
        try {
            c.flush();
        } catch (const redis_error&) {  // a reply is missing, so `read` throws, too
        }
    }

    void refuse_size(std::size_t index, std::size_t size)
    {
        found_[index] = answer::permanent;
        said_ = "a line of " + std::to_string(size) + " bytes exceeds proto-max-bulk-len of " +
                std::to_string(max_body_);
    }

    /// MULTI, the lines, and SET.
    void read_queued(std::size_t lines, std::string& refused)
    {
        std::size_t replies = 2;
        for (std::size_t i = 0; i != lines; ++i) replies += found_[i] ? 0U : 1U;
        for (; replies != 0; --replies) {
            const redis_reply r = client_->read();
            if (r.is_error() && refused.empty()) refused = r.text();
        }
    }

    void read_executed(const redis_reply& executed, const std::string& refused)
    {
        if (executed.is_error())
            return discard(refused.empty() ? std::string(executed.text()) : refused);
        if (executed.is_nil()) {
            reconnect_ = true;
            said_ = "Redis, stream " + name_ + ": another connection has changed " + marker_;
            return put(answer::transient);
        }
        auto reply = executed.array().begin();
        for (std::optional<answer>& f : found_) {
            if (f) continue;
            const redisReply& r = **reply++;
            f = answer::accepted;
            if (r.type != REDIS_REPLY_ERROR) continue;
            said_ = redis_reply::text(r);
            f = redis_meaning(said_);
        }
    }

    /// Nothing of the transaction was executed.
    void discard(const std::string& text)
    {
        said_ = text;
        // A replica that was the primary server before.
        reconnect_ = redis_code(text) == "READONLY";
        put(redis_meaning(text));
    }

    void put(answer a)
    {
        for (std::optional<answer>& f : found_)
            if (!f) f = a;
    }

    [[nodiscard]] waybill::send_outcome outcome()
    {
        faults_.clear();
        bool differ = false;
        for (std::size_t i = 0; i != found_.size(); ++i) {
            differ = differ || found_[i] != found_[0];
            if (found_[i] != answer::accepted)
                faults_.push_back({i, outcome_of(*found_[i], said_)});
        }
        if (differ) return waybill::batch_sender::partial{.failed = faults_};
        return outcome_of(found_.empty() ? answer::accepted : *found_[0], said_);
    }

    redis_address at_;
    std::string name_;
    std::string marker_;
    std::chrono::milliseconds patience_;
    std::unique_ptr<redis_client> client_{};
    std::uint64_t max_body_ = 0;                  // proto-max-bulk-len
    std::uint64_t number_ = 0;                    // of the last batch
    std::optional<lost_attempt> unknown_{};       // until the next connection
    std::map<std::uint64_t, answers> arrived_{};  // attempts that were unknown, and are stored
    bool reconnect_ = false;
    answers found_{};  // of each line
    std::vector<waybill::batch_sender::entry_fault> faults_{};
    std::string said_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_REDIS_STREAMS_HPP
