// SPDX-License-Identifier: MIT
//
// Batches for a queue of RabbitMQ, on a real server: the outcome of each code that it can send, the
// ids of repeated messages, and the queue afterwards.
//
//     rabbitmq FOLDER PROGRAM
//
// PROGRAM is send_batches. It sends to the same server.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <engines/rabbitmq.hpp>
#include <engines/rabbitmq_server.hpp>

#include "scripted.hpp"

namespace {

using scripted::in_words;

int failures = 0;

void check(bool holds, const std::string& what)
{
    if (holds) return;
    ++failures;
    std::printf("broken: %s\n", what.c_str());
}

std::vector<std::string> bodies_of(engines::rabbitmq& queue)
{
    std::vector<std::string> all;
    queue.take_all([&](std::string_view body) { all.emplace_back(body); });
    return all;
}

/// With arguments of the queue, such as x-max-length.
void declare(const engines::rabbitmq_address& a, int max_length)
{
    using connection = engines::rabbitmq_connection;
    const connection c(a);
    amqp_table_entry_t all[3]{};
    all[0].key = connection::bytes_of("x-queue-type");
    all[0].value.kind = AMQP_FIELD_KIND_UTF8;
    all[0].value.value.bytes = connection::bytes_of("quorum");
    all[1].key = connection::bytes_of("x-max-length");
    all[1].value.kind = AMQP_FIELD_KIND_I32;
    all[1].value.value.i32 = max_length;
    all[2].key = connection::bytes_of("x-overflow");
    all[2].value.kind = AMQP_FIELD_KIND_UTF8;
    all[2].value.value.bytes = connection::bytes_of("reject-publish");
    amqp_queue_declare(c.get(), c.channel, connection::bytes_of(a.queue), false, true, false, false,
                       {3, all});
    c.expect("queue.declare", amqp_get_rpc_reply(c.get()));
}

void remove(const engines::rabbitmq_address& a)
{
    const engines::rabbitmq_connection c(a);
    amqp_queue_delete(c.get(), c.channel, c.bytes_of(a.queue), false, false);
    c.expect("queue.delete", amqp_get_rpc_reply(c.get()));
}

void test_outcomes(const engines::server& at, scripted::score& score)
{
    const std::vector<std::string_view> three{"one", "two", "three"};
    engines::rabbitmq mails({.at = at, .queue = "mails"}, "run");
    score.expect("RabbitMQ", "a new queue", in_words(mails.send(three, 1)), "accepted");
    check(bodies_of(mails) == std::vector<std::string>{"one", "two", "three"}, "the bodies");

    // Without the number of an attempt, a second batch of this size is not a repetition.
    for (int n = 0; n != 2; ++n)
        score.expect("RabbitMQ", "no number", in_words(mails.send(three)), "accepted");
    check(bodies_of(mails).size() == 6, "both batches without a number are in the queue");

    // 4,096 bytes are the limit of the server. The first refusal closes the channel.
    const std::string large(4'097, 'x');
    const std::string exact(4'096, 'y');
    const std::vector<std::string_view> mixed{"a", large, "b", exact, large, "c"};
    score.expect("RabbitMQ", "too large", in_words(mails.send(mixed, 2)),
                 "partial 1 permanent 4 permanent");
    check(mails.said() == "a message of 4097 bytes exceeds max_message_size of 4096", mails.said());
    check(bodies_of(mails) == std::vector<std::string>{"a", "b", exact, "c"}, "without the large");
    const std::vector<std::string_view> alone{large};
    engines::rabbitmq other({.at = at, .queue = "mails"}, "run");
    score.expect("RabbitMQ", "alone", in_words(other.send(alone, 1)), "failed, permanent");
    check(other.said().starts_with("406 PRECONDITION_FAILED"), other.said());

    // A queue that takes four messages.
    const engines::rabbitmq_address full{.at = at, .queue = "full"};
    declare(full, 4);
    engines::rabbitmq few(full, "run");
    for (int n = 1; n != 20; ++n) {
        const std::string o = in_words(few.send(three, static_cast<std::uint64_t>(n)));
        if (o == "throttled") break;
        check(o == "accepted" || o.starts_with("partial"), "a full queue: " + o);
        check(n != 19, "the queue is never full");
    }
    check(few.said().starts_with("basic.nack"), few.said());
    check(!bodies_of(few).empty(), "the full queue is empty");

    // The queue is deleted while the connection is open.
    remove({.at = at, .queue = "mails"});
    score.expect("RabbitMQ", "deleted", in_words(mails.send(three, 3)), "failed, cancelled");
    check(mails.said().starts_with("312 NO_ROUTE: there is no queue mails"), mails.said());

    engines::server stranger = at;
    stranger.password = "wrong";
    engines::rabbitmq refused({.at = stranger, .queue = "mails"}, "run");
    score.expect("RabbitMQ", "password", in_words(refused.send(three, 1)), "failed, cancelled");
    check(refused.said().find("403 ACCESS_REFUSED") != std::string::npos, refused.said());
    engines::rabbitmq nowhere({.at = at, .vhost = "none", .queue = "mails"}, "run");
    score.expect("RabbitMQ", "virtual host", in_words(nowhere.send(three, 1)), "failed, cancelled");
    check(nowhere.said().find("530 NOT_ALLOWED") != std::string::npos, nowhere.said());
}

void test_program(const engines::server& at, const std::string& program)
{
    const std::string to = "rabbitmq://guest:guest@127.0.0.1:" + at.port + "/%2F/lines";
    const std::string command = program + " --to " + to + " --input two >out 2>err";
    check(std::system(command.c_str()) == 0, command);
    const std::string output = engines::file_content("out") + engines::file_content("err");
    check(output.find("into rabbitmq://127.0.0.1:") != output.npos, output);
    check(output.find("guest") == output.npos, "a password is shown: " + output);
    engines::rabbitmq lines({.at = at, .queue = "lines"}, "run");
    check(bodies_of(lines) == std::vector<std::string>{R"({"n":1})", R"({"n":2})"}, "two lines");
}

void test_shutdown(engines::rabbitmq_server& server, scripted::score& score)
{
    const std::vector<std::string_view> three{"one", "two", "three"};
    engines::rabbitmq mails({.at = server.at(), .queue = "mails"}, "run");
    score.expect("RabbitMQ", "before the end", in_words(mails.send(three, 1)), "accepted");
    server.kill();
    score.expect("RabbitMQ", "killed", in_words(mails.send(three, 2)), "unknown");
    score.expect("RabbitMQ", "away", in_words(mails.send(three, 2)), "failed, infrastructure");
    check(mails.said().starts_with("127.0.0.1:" + server.at().port), mails.said());
}

}  // namespace

int main(int, char** argv)
{
    scripted::score score;
    try {
        engines::rabbitmq_server server(argv[1], 4'096);
        test_outcomes(server.at(), score);
        test_program(server.at(), argv[2]);
        test_shutdown(server, score);
    } catch (const std::exception& e) {
        check(false, e.what());
    }
    std::printf("%d answers, %d taken otherwise, %d broken\n", score.asked(), score.wrong(),
                failures);
    return score.wrong() == 0 && failures == 0 ? 0 : 1;
}
