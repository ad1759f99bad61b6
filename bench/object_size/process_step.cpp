// SPDX-License-Identifier: MIT
//
// Runs the ordered steps of one session: after a failure the rest is dead-lettered. By hand: a
// number of steps done and a mark in the session's state.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

struct message {
    std::uint64_t step = 0, total = 0, sequence = 0, deliveries = 1;
    std::string session{}, id{}, body{};
};
message* receive();
bool run_step(const message& m);
std::optional<std::string> load_state();
bool save_state(std::string_view bytes);
bool clear_state();
bool complete(const message& m);
bool store_dead_letter(const message& m, std::string_view reason);
void release_session();

#ifndef BY_HAND

#include <waybill/session/pipeline_dead_letter.hpp>
#include <waybill/session/process_step.hpp>
#include <waybill/session/session_state.hpp>

struct environment {
    waybill::steady_time now();
    waybill::wall_time wall_now();
    void sleep_until(waybill::steady_time time);
    double random();
};

struct place {
    waybill::result<std::optional<std::string>> load() { return load_state(); }
    waybill::fault save(std::string_view bytes)
    {
        return save_state(bytes) ? waybill::fault{} : waybill::infrastructure("not saved");
    }
    waybill::fault clear()
    {
        return clear_state() ? waybill::fault{} : waybill::infrastructure("not cleared");
    }
};

void run_session()
{
    using waybill::pipeline;
    const auto done = [](bool ok) {
        return ok ? waybill::fault{} : waybill::infrastructure("not done");
    };
    const waybill::text_state_codec codec;
    place here;
    waybill::session_state state(codec, here);
    pipeline pipe;
    environment env;
    while (message* m = pipe.over() ? nullptr : receive()) {
        const waybill::step_properties step{
            .session = m->session, .step = m->step, .total = m->total};
        waybill::process_step(
            pipe, waybill::step_facts::of(step, m->sequence, m->deliveries), env,
            [&](pipeline::load_state) { return state.load({}); },
            [&](pipeline::execute) {
                return state.attempt([&](std::string&) {
                    return run_step(*m) ? waybill::fault{} : waybill::permanent("failed");
                });
            },
            [&](pipeline::save_state a) { return state.save(a, pipe.progress()); },
            [&](pipeline::write_dead_letter) { return done(store_dead_letter(*m, pipe.reason())); },
            [&](waybill::complete) { return done(complete(*m)); },
            [&](pipeline::clear_state) { return state.clear(); },
            [&](pipeline::give_back) { release_session(); });
    }
}

#else

void run_session()
{
    while (message* m = receive()) {
        const std::optional<std::string> state = load_state();
        const bool failed = state && !state->empty() && state->back() == '!';
        const std::uint64_t steps = state ? std::stoull(*state) : 0;
        bool ok = true;
        if (failed) {
            ok = store_dead_letter(*m, "an earlier step failed");
        } else if (m->step > steps) {
            if (m->step != steps + 1 || !run_step(*m)) {
                ok = save_state(std::to_string(steps) + '!') && store_dead_letter(*m, "failed");
            } else {
                ok = save_state(std::to_string(m->step));
            }
        }
        if (ok) ok = complete(*m);
        if (ok && m->step == m->total) ok = clear_state();
        if (!ok) return release_session();
    }
}

#endif
