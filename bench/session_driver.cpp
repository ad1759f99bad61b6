// SPDX-License-Identifier: MIT
//
// bench/session_driver: the cost of one message in `run_session`.
//
// The peer is the loop that a user would write over `process_step`, with the same queue, codec and
// handler: it reads the step properties, keeps a `session_state`, writes dead letters, completes the
// messages and closes the session. It does not renew the lock and has no report. The queue is in
// memory and does nothing else, so a real one makes the difference smaller.

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "measure.hpp"
#include <waybill/session/process_step.hpp>
#include <waybill/session/run_session.hpp>

namespace session_driver_bench {
namespace {

using waybill::duration;
using waybill::fault;
using waybill::result;
using waybill::steady_time;

constexpr std::uint64_t steps = 5;
constexpr std::uint64_t sessions = 20;  // in one run

/// Each session has the same messages.
struct queue_of_one_session {
    struct lock {
        std::string session{};
    };
    struct message {
        std::vector<std::pair<std::string, std::string>> properties{};
        std::string id{};
        std::string body{};
        std::uint64_t sequence = 0;
        std::uint64_t deliveries = 1;

        [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const
        {
            for (const auto& [key, value] : properties) {
                if (key == name) return std::string_view(value);
            }
            return {};
        }
    };

    queue_of_one_session()
    {
        auto job = waybill::job::make("order-17", steps);
        while (!job->complete()) {
            const waybill::step_properties s = job->next();
            message m{.id = waybill::job::message_id(s), .body = "body", .sequence = s.step};
            waybill::write_step_properties(
                s, {}, [&](auto name, auto value) { m.properties.emplace_back(name, value); });
            messages.push_back(std::move(m));
        }
    }

    result<std::optional<lock>> accept()
    {
        if (accepted++ == sessions) return std::optional<lock>();
        next = 0;
        return std::optional(lock{"order-17"});
    }
    result<std::optional<message>> receive(const lock&)
    {
        if (next == messages.size()) return std::optional<message>();
        return std::optional(messages[next++]);
    }
    fault complete(const lock&, const message&) { return ++completed, fault{}; }
    fault renew(const lock&) { return {}; }
    fault close(const lock&, duration) { return {}; }
    result<std::optional<std::string>> load(const lock&) { return state; }
    fault save(const lock&, const std::string& bytes) { return state = bytes, fault{}; }
    fault clear(const lock&) { return state.reset(), fault{}; }

    std::vector<message> messages{};
    std::optional<std::string> state{};
    std::size_t next = 0;
    std::uint64_t completed = 0;
    std::uint64_t accepted = 0;
};

struct letters {
    std::uint64_t written = 0;
    fault upsert(const waybill::pipeline_dead_letter&) { return ++written, fault{}; }
};

struct counting_environment {
    std::int64_t n = 0;
    steady_time now() { return steady_time::at(duration::nanoseconds(++n)); }
    static waybill::wall_time wall_now()
    {
        return waybill::wall_time::at(duration::seconds(1'700'000'000));
    }
    static void sleep_until(steady_time) {}
    static double random() { return 0.5; }
};

fault handle(std::string& value, const waybill::pipeline::step& s)
{
    value.assign("receipt=r17, step ");
    value += static_cast<char>('0' + s.number);
    return {};
}

struct place {
    queue_of_one_session& queue;
    const queue_of_one_session::lock& lock;
    result<std::optional<std::string>> load() { return queue.load(lock); }
    fault save(const std::string& bytes) { return queue.save(lock, bytes); }
    fault clear() { return queue.clear(lock); }
};

void by_hand(benchmark::State& state)
{
    queue_of_one_session queue;
    letters dead_letters;
    counting_environment env;
    const waybill::text_state_codec codec;
    for ([[maybe_unused]] auto r : state) {
        queue.accepted = 0;
        for (auto l = queue.accept(); l && *l; l = queue.accept()) {
            place p{queue, **l};
            waybill::session_state held(codec, p);
            waybill::pipeline pipe;
            while (!pipe.over()) {
                const auto m = queue.receive(**l);
                if (!m || !*m) break;
                const auto read = waybill::read_step_properties(
                    [&](auto name) { return (*m)->find(name); }, (*l)->session);
                const auto facts =
                    waybill::step_facts::of(read.properties, (*m)->sequence, (*m)->deliveries);
                process_step(
                    pipe, facts, env,
                    [&](waybill::pipeline::load_state) { return held.load(read.origin.state); },
                    [&](waybill::pipeline::execute a) {
                        return held.attempt([&](std::string& v) {
                            return handle(v, {.job = read.job(),
                                              .number = a.step,
                                              .attempt = a.tries,
                                              .body = (*m)->body});
                        });
                    },
                    [&](waybill::pipeline::save_state a) { return held.save(a, pipe.progress()); },
                    [&](const waybill::pipeline::write_dead_letter& a) {
                        return dead_letters.upsert(make_pipeline_dead_letter(
                            {read.properties,
                             read.origin,
                             (*m)->sequence,
                             (*m)->id,
                             (*m)->body,
                             {},
                             held.bytes()},
                            a, pipe.reason(), pipe.progress(), env.wall_now()));
                    },
                    [&](waybill::complete) { return queue.complete(**l, **m); },
                    [&](waybill::pipeline::clear_state) { return held.clear(); },
                    [&](waybill::pipeline::give_back) {});
            }
            benchmark::DoNotOptimize(queue.close(**l, duration{}));
        }
    }
    if (dead_letters.written != 0 || queue.completed == 0) state.SkipWithError("a step failed");
}

void driver(benchmark::State& state)
{
    queue_of_one_session queue;
    letters dead_letters;
    counting_environment env;
    const waybill::text_state_codec codec;
    const waybill::session_report::policy policy{.until_empty = true};
    for ([[maybe_unused]] auto r : state) {
        queue.accepted = 0;
        const auto report = waybill::run_session(queue, codec, dead_letters, handle, policy, env);
        if (report.done != sessions * steps) state.SkipWithError("a step failed");
    }
}

void print(const bench::runner& all, const std::string& raw)
{
    const bench::figures base = all.at(raw);
    std::printf("\n%-28s %8s %8s %14s %8s\n", "one message", "ns", "ratio", "instructions",
                "ratio");
    for (const std::string& name : all.names()) {
        const bench::figures f = all.at(name);
        const double ns = all.noisy() ? 0 : f.ns;
        std::printf("%-28s %8s %8s %14s %8s\n", name.c_str(), bench::cell(ns, 1).c_str(),
                    bench::cell(ns / base.ns, 2).c_str(), bench::cell(f.instructions, 1).c_str(),
                    bench::cell(f.instructions / base.instructions, 2).c_str());
    }
}

}  // namespace
}  // namespace session_driver_bench

int main(int argc, char** argv)
{
    using namespace session_driver_bench;
    bench::runner all(argc, argv);
    all.add("process_step by hand", sessions * steps, by_hand);
    all.add("run_session", sessions * steps, driver);
    if (!all.run("process_step by hand")) return 2;
    all.print_spread();
    print(all, "process_step by hand");
    return all.failed() ? 1 : 0;
}
