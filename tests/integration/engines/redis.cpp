// SPDX-License-Identifier: MIT
//
// Batches for a stream of Redis, on real servers: the outcome of each code, repetitions after each
// kind of lost connection, 10,000 lines while the server is killed, and a full memory.
//
//     redis FOLDER PROGRAM
//
// PROGRAM is send_batches, or empty. It sends to the same server.

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <engines/redis_server.hpp>
#include <engines/redis_streams.hpp>
#include <support/environment.hpp>

#include "redis_relay.hpp"
#include "scripted.hpp"
#include <waybill/batch.hpp>

namespace {

using namespace std::chrono_literals;
using engines::answer;
using engines::redis_client;
using engines::redis_stream;
using redis_test::relay;
using scripted::in_words;
using views = std::vector<std::string_view>;

std::atomic<int> failures = 0;

void check(bool holds, const std::string& what)
{
    if (holds) return;
    ++failures;
    std::printf("broken: %s\n", what.c_str());
}

/// Repeats the question until it holds.
template <class F>
void await(F holds)
{
    const auto deadline = std::chrono::steady_clock::now() + 10min;
    while (!holds()) {
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("awaited in vain");
        std::this_thread::sleep_for(10ms);
    }
}

redis_client admin(const std::string& url)
{
    return redis_client(engines::redis_address_in(url));
}

std::vector<std::string> bodies_of(const std::string& url, const std::string& name)
{
    std::vector<std::string> all;
    redis_stream s(url, name);
    s.read_all([&](std::string_view body) { all.emplace_back(body); });
    return all;
}

std::string with_user(const std::string& url, const std::string& user)
{
    return "redis://" + user + "@" + url.substr(8);
}

// --- outcomes -----------------------------------------------------------------------------------

const views three{"one", "two", "three"};

void test_sizes(const std::string& url, scripted::score& score)
{
    redis_stream mails(url, "mails");
    score.expect("Redis", "a new stream", in_words(mails.send(three, 1)), "accepted");
    check(bodies_of(url, "mails") == std::vector<std::string>{"one", "two", "three"}, "bodies");

    // 1,048,576 bytes are the limit of the server.
    const std::string large(1'048'577, 'x');
    const std::string exact(1'048'576, 'y');
    score.expect("Redis", "too large", in_words(mails.send(views{"a", large, exact, large}, 2)),
                 "partial 1 permanent 3 permanent");
    check(mails.said() == "a line of 1048577 bytes exceeds proto-max-bulk-len of 1048576",
          mails.said());
    check(bodies_of(url, "mails").size() == 5, "without the large");
    score.expect("Redis", "alone", in_words(mails.send(views{large}, 3)), "failed, permanent");

    // A user without permission to read the limit.
    redis_client a = admin(url);
    (void)a.ask({"ACL", "SETUSER", "few", "on", ">secret", "~*", "+@all", "-config"});
    redis_stream few(with_user(url, "few:secret"), "mails");
    const std::string o = in_words(few.send(views{"b", large}, 1));
    check(o == "refused ? of ?" || o == "unknown", "an unknown limit: " + o);
    check(bodies_of(url, "mails").size() == 5, "nothing of a refused batch");
    score.expect("Redis", "after it", in_words(few.send(views{"b"}, 2)), "accepted");
}

void test_permissions(const std::string& url, scripted::score& score)
{
    redis_client a = admin(url);
    const auto refused = [&](const std::string& user, const std::string& text) {
        redis_stream s(with_user(url, user), "guarded");
        score.expect("Redis", user, in_words(s.send(three, 1)), "failed, cancelled");
        check(s.said().find(text) != std::string::npos, s.said());
    };
    (void)a.ask({"ACL", "SETUSER", "reader", "on", ">secret", "~*", "+@all", "-xadd"});
    refused("reader:secret", "NOPERM");
    (void)a.ask({"ACL", "SETUSER", "plain", "on", ">secret", "~*", "+@all", "-multi"});
    refused("plain:secret", "NOPERM");
    refused("reader:wrong", "WRONGPASS");
    check(bodies_of(url, "guarded").empty(), "no line without permission");
    (void)a.ask({"CONFIG", "SET", "requirepass", "word"});
    redis_stream stranger(url, "guarded");
    score.expect("Redis", "NOAUTH", in_words(stranger.send(three, 1)), "failed, cancelled");
    redis_stream known(with_user(url, ":word"), "guarded");
    score.expect("Redis", "AUTH", in_words(known.send(three, 1)), "accepted");
    (void)a.ask({"CONFIG", "SET", "requirepass", ""});

    (void)a.ask({"SET", "text", "no stream"});
    redis_stream text(url, "text");
    score.expect("Redis", "WRONGTYPE", in_words(text.send(three, 1)), "failed, cancelled");
    check(text.said().starts_with("WRONGTYPE"), text.said());
}

/// The server refuses for a time. Afterwards the same lines are stored once.
void test_times(const engines::redis_server& server, const std::string& folder,
                scripted::score& score)
{
    const std::string url = server.url();
    redis_client a = admin(url);
    redis_stream s(url, "times");
    std::uint64_t attempt = 0;
    std::size_t stored = 0;
    const auto during = [&](const char* code, const char* expected, const auto& begin,
                            const auto& end) {
        score.expect("Redis", "before", in_words(s.send(three, ++attempt)), "accepted");
        begin();
        score.expect("Redis", code, in_words(s.send(three, ++attempt)), expected);
        check(s.said().find(code) != std::string::npos, s.said());
        end();
        score.expect("Redis", "after", in_words(s.send(three, ++attempt)), "accepted");
        stored += 6;
        check(bodies_of(url, "times").size() == stored, std::string("lines after ") + code);
    };
    const auto ask = [&](auto... words) { return [&a, words...] { (void)a.ask({words...}); }; };
    during("OOM", "throttled", ask("CONFIG", "SET", "maxmemory", "1"),
           ask("CONFIG", "SET", "maxmemory", "0"));
    during("READONLY", "failed, transient", ask("REPLICAOF", "127.0.0.1", "1"),
           ask("REPLICAOF", "NO", "ONE"));
    during("NOREPLICAS", "failed, transient", ask("CONFIG", "SET", "min-replicas-to-write", "1"),
           ask("CONFIG", "SET", "min-replicas-to-write", "0"));
    // A snapshot cannot be written.
    std::filesystem::create_directory(folder + "/dump.rdb");
    during(
        "MISCONF", "failed, transient",
        [&] {
            (void)a.ask({"CONFIG", "SET", "save", "100000 1000000"});
            (void)a.ask({"BGSAVE"});
            const auto failed = [&] {
                return a.ask({"INFO", "persistence"}).text().find("bgsave_status:err") !=
                       std::string_view::npos;
            };
            await(failed);
        },
        ask("CONFIG", "SET", "save", ""));
    std::filesystem::remove(folder + "/dump.rdb");
    redis_client busy = admin(url);
    during(
        "BUSY", "failed, transient",
        [&] {
            (void)a.ask({"CONFIG", "SET", "busy-reply-threshold", "10"});
            busy.append({"EVAL", "while true do end", "0"});
            busy.flush();
            await([&] {
                a.append({"PING"});
                a.flush();
                return a.read().is_error();
            });
        },
        [&] {
            (void)a.ask({"SCRIPT", "KILL"});
            check(busy.read().is_error(), "the script is killed");
        });
}

void test_meanings(scripted::score& score)
{
    const auto is = [&](const char* text, answer expected) {
        score.expect("Redis", text, std::string(name(engines::redis_meaning(text))),
                     name(expected));
    };
    for (const char* text :
         {"LOADING Redis is loading", "MASTERDOWN x", "TRYAGAIN Multiple keys", "CLUSTERDOWN x",
          "ERR max number of clients reached", "UNKILLABLE Sorry"})
        is(text, answer::transient);
    for (const char* text :
         {"MOVED 1 127.0.0.1:2", "ASK 1 x", "CROSSSLOT x", "NOAUTH x", "ERR unknown command 'XADD'",
          "EXECABORT Transaction discarded because of: WRONGPASS x"})
        is(text, answer::infrastructure);
    is("EXECABORT Transaction discarded because of: -OOM command not allowed", answer::throttled);
    for (const char* url : {"redis://", "redis://h:port", "rediss://h", "redis://h/x", "h:6379"}) {
        try {
            (void)engines::redis_address_in(url);
            check(false, url);
        } catch (const engines::redis_error&) {
        }
    }
    const auto at = engines::redis_address_in("redis://us%40er:pass@[::1]:7/3");
    check(at.at.user == "us@er" && at.at.host == "::1" && at.database == 3, "an address");
}

// --- lost connections ---------------------------------------------------------------------------

void test_lost_replies(const std::string& url, scripted::score& score)
{
    relay r(url.substr(url.rfind(':') + 1));
    const std::string through = "redis://127.0.0.1:" + r.port();
    const auto count = [&] { return bodies_of(url, "lost").size(); };
    redis_stream s(through, "lost", 10s);
    score.expect("Redis", "through a relay", in_words(s.send(three, 1)), "accepted");

    r.break_next(relay::fault::reply);
    score.expect("Redis", "the reply is lost", in_words(s.send(three, 2)), "unknown");
    check(count() == 6, "a batch without a reply is stored");
    score.expect("Redis", "its repetition", in_words(s.send(three, 2)), "accepted");
    check(count() == 6, "the repetition is not stored");

    r.break_next(relay::fault::request);
    score.expect("Redis", "the request is lost", in_words(s.send(three, 3)), "unknown");
    check(count() == 6, "a transaction without EXEC is not stored");
    score.expect("Redis", "its repetition", in_words(s.send(three, 3)), "accepted");
    check(count() == 9, "the repetition is stored");

    // The request arrives after its repetition.
    r.break_next(relay::fault::late);
    score.expect("Redis", "the request is late", in_words(s.send(three, 4)), "unknown");
    score.expect("Redis", "its repetition", in_words(s.send(three, 4)), "accepted");
    check(count() == 12, "the repetition is stored");
    const std::string late = r.release();
    check(late.find("*-1\r\n") != late.npos, "the late transaction is discarded: " + late);
    check(count() == 12, "the late transaction is not stored");

    // Another attempt comes first.
    r.break_next(relay::fault::reply);
    score.expect("Redis", "unknown", in_words(s.send(three, 5)), "unknown");
    score.expect("Redis", "another attempt", in_words(s.send(views{"x"}, 6)), "accepted");
    score.expect("Redis", "the first one", in_words(s.send(three, 5)), "accepted");
    check(count() == 16, "each of them is stored once");
    r.break_next(relay::fault::late);
    score.expect("Redis", "late", in_words(s.send(three, 7)), "unknown");
    score.expect("Redis", "another attempt", in_words(s.send(views{"y"}, 8)), "accepted");
    check(r.release().find("*-1\r\n") != std::string::npos, "a late attempt is discarded");
    score.expect("Redis", "the first one", in_words(s.send(three, 7)), "accepted");
    check(count() == 20, "each of them is stored once");

    // A stream that is consumed: the entries of the unknown attempt are gone.
    r.break_next(relay::fault::reply);
    score.expect("Redis", "unknown", in_words(s.send(three, 9)), "unknown");
    (void)admin(url).ask({"XTRIM", "lost", "MAXLEN", "0"});
    score.expect("Redis", "after its consumption", in_words(s.send(three, 9)), "accepted");
    check(count() == 0, "consumed lines are not stored again");
}

/// The server was killed while it wrote a transaction. The incomplete transaction is removed: the
/// next start of the server does not apply it together with later ones.
void test_short_write(engines::redis_server& server, const std::string& folder,
                      scripted::score& score)
{
    redis_stream s(server.url(), "short");
    score.expect("Redis", "before a short write", in_words(s.send(three, 1)), "accepted");
    server.kill();
    const std::string file = folder + "/appendonlydir/appendonly.aof.1.incr.aof";
    // EXEC has 14 bytes. So the marker is cut.
    std::filesystem::resize_file(file, std::filesystem::file_size(file) - 24);
    server.restart();
    check(bodies_of(server.url(), "short").empty(), "an incomplete transaction is not applied");
    redis_stream later(server.url(), "short");
    score.expect("Redis", "after a short write", in_words(later.send(views{"later"}, 1)),
                 "accepted");
    server.kill();
    server.restart();
    check(bodies_of(server.url(), "short") == std::vector<std::string>{"later"},
          "nor at a later start");
}

// --- many lines ---------------------------------------------------------------------------------

/// The outcomes of batches until now.
struct progress {
    std::atomic<bool> ended = false;
    std::atomic<int> unknown = 0;
    std::atomic<int> throttled = 0;
    std::atomic<int> failed = 0;
};

/// Sends the numbers below `count` and expects each of them once, in order. `disturb` runs until
/// the end of the sender.
void test_lines(const std::string& url, const std::string& name, int count, std::uint64_t items,
                const std::function<void(const progress&)>& disturb, const std::string& label)
{
    std::vector<std::string> lines;
    std::minstd_rand dice(11);
    std::lognormal_distribution<double> bytes(5.4, 0.8);
    for (int n = 0; n != count; ++n) {
        lines.push_back("line " + std::to_string(n) + ' ');
        lines.back().append(static_cast<std::size_t>(bytes(dice)), '.');
    }
    progress now;
    const auto begun = std::chrono::steady_clock::now();
    waybill::send_report report;
    std::thread sender([&] {
        redis_stream s(url, name, 2s);
        support::standard_environment env;
        waybill::send_policy policy{.limit = {.items = items}};
        policy.retry.max_attempts = 200;
        policy.retry.pauses.base = 20ms;
        policy.retry.pauses.cap = 200ms;
        waybill::batch_sender machine(policy);
        views bodies;
        report = waybill::send_all(
            lines, [](const std::string& line) { return line.size(); }, machine,
            [&](const auto& batch) {
                bodies.assign(batch.begin(), batch.end());
                waybill::send_outcome o = s.send(bodies, batch.attempt());
                const std::string words = in_words(o);
                now.unknown += words == "unknown" ? 1 : 0;
                now.throttled += words == "throttled" ? 1 : 0;
                now.failed += words.starts_with("failed") ? 1 : 0;
                return o;
            },
            env);
        now.ended = true;
    });
    disturb(now);
    sender.join();
    check(report.accepted == lines.size(),
          label + ": " + std::to_string(report.accepted) + " lines are accepted");
    const auto found = bodies_of(url, name);
    check(found == lines, label + ": " + std::to_string(found.size()) + " lines are in the stream");
    // The count of the server, not through the stream's own reader.
    const auto stored = admin(url).ask({"XLEN", name}).number();
    check(stored == count, label + ": the server has " + std::to_string(stored) + " lines");
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begun;
    std::printf("%s: %d lines in %.1f s, %d unknown, %d throttled, %d failed\n", label.c_str(),
                count, took.count(), now.unknown.load(), now.throttled.load(), now.failed.load());
    if (label == "memory") check(now.throttled > 0, "memory: maxmemory is never reached");
    if (label != "memory") check(now.unknown + now.failed > 0, label + ": no fault meets a batch");
}

/// WAYBILL_EVENTS, or the given number.
int lines_or(int usual)
{
    const char* const events = std::getenv("WAYBILL_EVENTS");
    return events ? std::atoi(events) : usual;
}

void test_many(engines::redis_server& server)
{
    const std::string url = server.url();
    std::minstd_rand dice(7);
    const int many = lines_or(10'000);
    test_lines(
        url, "killed", many, 10,
        [&](const progress& p) {
            for (int kills = 0; kills <= many / 1'250 && !p.ended; ++kills) {
                std::this_thread::sleep_for(std::chrono::milliseconds(20 + dice() % 100));
                server.kill();
                server.restart();
            }
        },
        "kills");
    test_lines(
        url, "cut", lines_or(5'000), 10,
        [&](const progress& p) {
            redis_client a = admin(url);
            while (!p.ended) {
                (void)a.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
                std::this_thread::sleep_for(std::chrono::milliseconds(5 + dice() % 30));
            }
        },
        "cuts");
    redis_client a = admin(url);
    (void)a.ask({"CONFIG", "SET", "maxmemory", "1"});
    test_lines(
        url, "full", lines_or(5'000), 100,
        [&](const progress& p) {
            await([&] { return p.throttled > 0; });
            (void)a.ask({"CONFIG", "SET", "maxmemory", "0"});
        },
        "memory");
}

void test_program(const std::string& url, const std::string& program)
{
    const std::string to = with_user(url, "few:secret") + "/lines";
    const std::string command = program + " --to " + to + " --input two >out 2>err";
    check(std::system(command.c_str()) == 0, command);
    const std::string output = engines::file_content("out") + engines::file_content("err");
    check(output.find("into redis://127.0.0.1:") != output.npos, output);
    check(output.find("secret") == output.npos, "a password is shown: " + output);
    check(bodies_of(url, "lines") == std::vector<std::string>{R"({"n":1})", R"({"n":2})"},
          "two lines");
}

}  // namespace

int main(int, char** argv)
{
    scripted::score score;
    const std::string folder = argv[1];
    try {
        engines::redis_server server(folder, {"--proto-max-bulk-len", "1048576"});
        test_meanings(score);
        test_sizes(server.url(), score);
        test_permissions(server.url(), score);
        if (*argv[2] != 0) test_program(server.url(), argv[2]);
        test_times(server, folder, score);
        test_lost_replies(server.url(), score);
        test_short_write(server, folder, score);
        test_many(server);

        redis_stream mails(server.url(), "end");
        score.expect("Redis", "before the end", in_words(mails.send(three, 1)), "accepted");
        server.kill();
        score.expect("Redis", "killed", in_words(mails.send(three, 2)), "unknown");
        score.expect("Redis", "away", in_words(mails.send(three, 2)), "failed, infrastructure");
        check(mails.said().find("127.0.0.1:" + server.at().port) != std::string::npos,
              mails.said());
    } catch (const std::exception& e) {
        check(false, e.what());
    }
    std::printf("%d answers, %d taken otherwise, %d broken\n", score.asked(), score.wrong(),
                failures.load());
    return score.wrong() == 0 && failures == 0 ? 0 : 1;
}
