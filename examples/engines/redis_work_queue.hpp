// SPDX-License-Identifier: MIT
//
// redis_work_queue: a stream of Redis as a waybill::message_queue, on hiredis.
//
//     engines::redis_work_queue queue("redis://127.0.0.1:6379", "orders");
//     queue.put("order 7");
//     waybill::run_queue(queue, handle, {.lock = 90s}, env);
//
// The stream NAME has the consumer group `workers`, created if it is missing. Each object is one
// consumer with a random name. A message is pending (XPENDING) from its first delivery to its
// settlement. It needs Redis 7.
//
//   1. `receive` is one script: the first message whose lock has ended (XCLAIM), or else the next
//      new message (XREADGROUP). So a message never has two holders of the lock. It does not wait.
//   2. The end of each lock, by the clock of the server, is in the sorted set NAME:locks. A lock of
//      another worker counts as that worker has chosen it. A deferred message is locked until its
//      time.
//   3. A settlement is one script. It compares the consumer and the delivery count of the pending
//      entry with those of the message. If they differ, it changes nothing and returns
//      ownership_lost. After the end of the lock, it succeeds if no other worker has the message.
//   4. `complete` is XACK and XDEL. `dead_letter` adds an entry with the fields reason, body and
//      deliveries to the stream NAME:dead, in the same script.
//   5. A pending message without an entry in NAME:locks, such as one that another program has read,
//      is delivered if it has been idle for a minute when an object connects.
//   6. `put` may store a message twice if it is repeated after a lost reply. redis_stream does not.
//   7. A server without the append-only file forgets settlements and messages when it ends.
//   8. An object belongs to one thread at a time. In a cluster, NAME has a hash tag: {orders}.
//
// XAUTOCLAIM would compare with the lock of the worker that claims, and not with that of the
// holder. It scans all pending messages, deferred ones included. The sorted set needs O(log n).
//
// Reply                                              Fault
// pending entry missing, or of another delivery      ownership_lost
// NOAUTH, WRONGPASS, NOPERM, WRONGTYPE, MOVED, ASK, CROSSSLOT, unknown command
//                                                    permanent: run_queue ends
// NOGROUP                                            infrastructure; the next call creates it
// OOM, LOADING, BUSY, MISCONF, READONLY, any other   infrastructure. While maxmemory is reached,
//                                                    only `put` and `dead_letter` are refused.
// no connection, or no reply in 10 s                 infrastructure; the next call connects
// `put` and `reasons` throw redis_error. See redis_client.hpp for the codes.

#ifndef WAYBILL_EXAMPLES_ENGINES_REDIS_WORK_QUEUE_HPP
#define WAYBILL_EXAMPLES_ENGINES_REDIS_WORK_QUEUE_HPP

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redis_client.hpp"
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>

namespace engines {

class redis_work_queue {
public:
    struct message {
        std::string id{};  ///< Of the entry in the stream.
        std::uint64_t deliveries = 0;
        std::uint64_t crashes = 0;  ///< Deliveries before this one, in a row, without a settlement.
        std::uint64_t turn = 0;     ///< The delivery count of Redis. It grows with each delivery.
        std::string body{};
    };

    /// Does not connect. Throws redis_error if `url` is malformed.
    redis_work_queue(std::string_view url, std::string name,
                     std::chrono::milliseconds patience = redis_client::default_patience)
        : at_(redis_address_in(url)), name_(std::move(name)), patience_(patience)
    {
    }

    /// The server has the message when this returns. Throws redis_error.
    void put(std::string_view body)
    {
        with_server([&](redis_client& c) { (void)c.ask({"XADD", name_, "*", "body", body}); });
    }

    // The calls of a waybill::message_queue.

    [[nodiscard]] waybill::result<std::optional<message>> receive(waybill::duration lock)
    {
        std::optional<message> m;
        waybill::fault f = guarded([&](redis_client& c) {
            const redis_reply r = run(c, receive_script, {consumer_, milliseconds_of(lock)});
            const auto parts = r.array();
            if (parts.size() != 5) return;
            const auto turn = static_cast<std::uint64_t>(parts[2]->integer);
            const auto uncounted = static_cast<std::uint64_t>(parts[3]->integer);
            const auto returned = static_cast<std::uint64_t>(parts[4]->integer);
            m = message{.id = std::string(redis_reply::text(*parts[0])),
                        .deliveries = turn - std::min(turn - 1, uncounted),
                        .crashes = turn - 1 - std::min(turn - 1, returned),
                        .turn = turn,
                        .body = std::string(redis_reply::text(*parts[1]))};
        });
        if (!f.ok()) return waybill::unexpected(std::move(f));
        return m;
    }

    [[nodiscard]] waybill::fault complete(const message& m) { return settle(m, "complete", {}); }

    [[nodiscard]] waybill::fault abandon(const message& m, bool failed)
    {
        return settle(m, "release", {"0", failed ? "0" : "1"});
    }

    [[nodiscard]] waybill::fault defer(const message& m, waybill::duration delay, bool failed)
    {
        return settle(m, "release", {milliseconds_of(delay), failed ? "0" : "1"});
    }

    [[nodiscard]] waybill::fault dead_letter(const message& m, std::string_view reason)
    {
        return settle(m, "dead_letter", {reason, std::to_string(m.deliveries)});
    }

    [[nodiscard]] waybill::fault renew(const message& m, waybill::duration lock)
    {
        return settle(m, "renew", {milliseconds_of(lock)});
    }

    /// Settled messages are removed from the stream.
    [[nodiscard]] waybill::result<bool> empty()
    {
        bool none = false;
        waybill::fault f =
            guarded([&](redis_client& c) { none = c.ask({"XLEN", name_}).number() == 0; });
        if (!f.ok()) return waybill::unexpected(std::move(f));
        return none;
    }

    /// The reasons of dead letters, in their order. Throws redis_error.
    [[nodiscard]] std::vector<std::string> reasons()
    {
        std::vector<std::string> all;
        with_server([&](redis_client& c) {
            const redis_reply letters = c.ask({"XRANGE", name_ + ":dead", "-", "+"});
            for (const redisReply* const entry : letters.array()) {
                const auto fields = redis_reply::array(*redis_reply::array(*entry)[1]);
                all.emplace_back(fields.size() < 2 ? std::string_view()
                                                   : redis_reply::text(*fields[1]));
            }
        });
        return all;
    }

    /// The name in XINFO CONSUMERS.
    [[nodiscard]] const std::string& consumer() const noexcept { return consumer_; }

private:
    // Keys of all scripts: the stream, the sorted set of locks, the hash of uncounted deliveries,
    // and the dead letters. The first argument is the consumer. The hash has the number of uncounted
    // deliveries of ID in the field ID, and the last settled delivery in the field ID:returned.

    /// Arguments: the lock in milliseconds. Returns the id, the body, the delivery count, the number
    /// of uncounted deliveries, and the last settled delivery.
    static constexpr std::string_view receive_script = R"lua(
local stream, locks, uncounted = KEYS[1], KEYS[2], KEYS[3]
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local entry
repeat
    local due = redis.call('ZRANGEBYSCORE', locks, '-inf', now, 'LIMIT', 0, 1)
    if due[1] then
        entry = redis.call('XCLAIM', stream, 'workers', ARGV[1], 0, due[1])[1]
        if not entry then  -- another program has settled or removed it
            redis.call('ZREM', locks, due[1])
            redis.call('HDEL', uncounted, due[1], due[1] .. ':returned')
        end
    else
        local new = redis.call('XREADGROUP', 'GROUP', 'workers', ARGV[1], 'COUNT', 1,
                               'STREAMS', stream, '>')
        if not new then return {} end
        entry = new[1][2][1]
    end
until entry
local id = entry[1]
redis.call('ZADD', locks, now + ARGV[2], id)
local pending = redis.call('XPENDING', stream, 'workers', id, id, 1)
local body = ''
for i = 1, #entry[2], 2 do
    if entry[2][i] == 'body' then body = entry[2][i + 1] end
end
local counts = redis.call('HMGET', uncounted, id, id .. ':returned')
return {id, body, pending[1][4], tonumber(counts[1] or 0), tonumber(counts[2] or 0)}
)lua";

    /// Arguments: the id, the delivery count, the settlement, and its arguments. Returns 1, or 0 if
    /// the lock is lost.
    static constexpr std::string_view settle_script = R"lua(
local stream, locks, uncounted, dead = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local consumer, id, turn, what = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local pending = redis.call('XPENDING', stream, 'workers', id, id, 1)[1]
if not pending or pending[2] ~= consumer or pending[4] ~= tonumber(turn) then return 0 end
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
-- With maxmemory reached, the first change must not be one that adds memory.
if what == 'renew' then
    redis.call('XCLAIM', stream, 'workers', consumer, 0, id, 'JUSTID')  -- sets the idle time to 0
    redis.call('ZADD', locks, now + ARGV[5], id)
    return 1
end
if what == 'release' then
    redis.call('XCLAIM', stream, 'workers', 'waiting', 0, id, 'JUSTID')
    redis.call('ZADD', locks, now + ARGV[5], id)
    redis.call('HSET', uncounted, id .. ':returned', turn)
    if ARGV[6] == '1' then redis.call('HINCRBY', uncounted, id, 1) end
    return 1
end
if what == 'dead_letter' then
    local entry = redis.call('XRANGE', stream, id, id)[1]
    local letter = {'reason', ARGV[5]}
    if entry then
        for _, v in ipairs(entry[2]) do table.insert(letter, v) end
    end
    table.insert(letter, 'deliveries')
    table.insert(letter, ARGV[6])
    redis.call('XADD', dead, '*', unpack(letter))
end
redis.call('XACK', stream, 'workers', id)
redis.call('XDEL', stream, id)
redis.call('ZREM', locks, id)
redis.call('HDEL', uncounted, id, id .. ':returned')
return 1
)lua";

    /// Locks for pending messages without one, and removal of consumers that were not seen for an
    /// hour and have no message.
    static constexpr std::string_view connect_script = R"lua(
local stream, locks = KEYS[1], KEYS[2]
local from = '0-0'
repeat
    local r = redis.call('XPENDING', stream, 'workers', 'IDLE', 60000, from, '+', 100)
    for _, p in ipairs(r) do
        redis.call('ZADD', locks, 'NX', 0, p[1])
        from = '(' .. p[1]
    end
until #r < 100
for _, c in ipairs(redis.call('XINFO', 'CONSUMERS', stream, 'workers')) do
    local info = {}
    for i = 1, #c, 2 do info[c[i]] = c[i + 1] end
    if info.pending == 0 and info.idle > 3600000 then
        redis.call('XGROUP', 'DELCONSUMER', stream, 'workers', info.name)
    end
end
return 1
)lua";

    [[nodiscard]] static std::string milliseconds_of(waybill::duration d)
    {
        return std::to_string(std::max<std::int64_t>(0, d.count() / 1'000'000));
    }

    [[nodiscard]] redis_reply run(redis_client& c, std::string_view script,
                                  std::initializer_list<std::string_view> arguments) const
    {
        const std::string locks = name_ + ":locks";
        const std::string uncounted = name_ + ":uncounted";
        const std::string dead = name_ + ":dead";
        std::vector<std::string_view> words{"EVAL", script, "4", name_, locks, uncounted, dead};
        words.insert(words.end(), arguments.begin(), arguments.end());
        return c.ask(words);
    }

    [[nodiscard]] waybill::fault settle(const message& m, std::string_view what,
                                        std::initializer_list<std::string_view> arguments)
    {
        bool ours = false;
        const std::string turn = std::to_string(m.turn);
        const auto argument = [&](std::size_t i) {
            return i < arguments.size() ? arguments.begin()[i] : std::string_view();
        };
        waybill::fault f = guarded([&](redis_client& c) {
            const redis_reply r =
                run(c, settle_script, {consumer_, m.id, turn, what, argument(0), argument(1)});
            ours = r.number() == 1;
        });
        if (f.ok() && !ours) return waybill::ownership_lost("the lock of " + m.id + " is lost");
        return f;
    }

    void connect()
    {
        auto c = std::make_unique<redis_client>(at_, patience_);
        try {
            (void)c->ask({"XGROUP", "CREATE", name_, "workers", "0", "MKSTREAM"});
        } catch (const redis_error& e) {
            if (redis_code(e.what()) != "BUSYGROUP") throw;  // it exists
        }
        (void)run(*c, connect_script, {});
        client_ = std::move(c);
    }

    template <class F>
    void with_server(F&& call)
    {
        try {
            if (!client_) connect();
            call(*client_);
        } catch (const redis_error& e) {
            // After a failover or the deletion of the stream, the next call starts anew.
            const std::string_view code = e.refused ? redis_code(e.what()) : std::string_view();
            if (!e.refused || code == "READONLY" || code == "NOGROUP") client_.reset();
            throw redis_error("Redis, stream " + name_ + ": " + e.what(), e.meaning, e.refused);
        }
    }

    template <class F>
    [[nodiscard]] waybill::fault guarded(F&& call)
    {
        try {
            with_server(call);
            return {};
        } catch (const redis_error& e) {
            if (e.refused && e.meaning == answer::infrastructure)
                return waybill::permanent(e.what());
            return waybill::infrastructure(e.what());
        }
    }

    redis_address at_;
    std::string name_;
    std::chrono::milliseconds patience_;
    std::string consumer_ = redis_random_name();
    std::unique_ptr<redis_client> client_{};
};

}  // namespace engines

#endif  // WAYBILL_EXAMPLES_ENGINES_REDIS_WORK_QUEUE_HPP
