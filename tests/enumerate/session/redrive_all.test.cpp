// SPDX-License-Identifier: MIT
//
// Each call of redrive_all fails, takes effect without confirmation, or is the last one of its
// process, in all combinations of up to three such faults. In the end each message was sent once,
// in order and as without faults. Only a message whose outcome was unknown was sent again.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <support/brief.hpp>

#include <waybill/session/redrive_all.hpp>
#include <waybill/testing/choices.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_pipeline_dead_letters.hpp>

namespace redrive_all_enumeration {
namespace {

using namespace std::chrono_literals;
using waybill::dead_letter_reason;
using waybill::fault;
using waybill::pipeline_dead_letter;
using waybill::redrive;
using waybill::testing::choices;
using message = waybill::redrive_plan::planned_message;
using memory_table = waybill::testing::memory_pipeline_dead_letters;

// Wrong variants of the driver or of its table.
enum class wrong : std::uint8_t {
    nothing,
    marks_nothing,           // the table confirms marks and stores none
    removes_before_sending,  // a dead letter is removed when its message is sent first
    new_id_for_each_attempt,
    confirms_what_failed,  // a failed send counts as accepted
};

struct process {
    choices& choices_;
    std::uint32_t faults_left;
    bool dead = false;
    std::uint32_t calls = 0;

    enum class fate : std::uint8_t { ok, fails, fails_though_done, dies_before, dies_after };
    fate next()
    {
        ++calls;
        if (dead) return fate::dies_before;
        if (faults_left == 0) return fate::ok;
        const auto f = static_cast<fate>(choices_.pick(5));
        if (f != fate::ok) --faults_left;
        return f;
    }
    // Performs `f` with the injected fault.
    template <class F>
    fault call(F&& f)
    {
        switch (next()) {
            case fate::ok: return f();
            case fate::fails: return waybill::infrastructure("down");
            case fate::fails_though_done: f(); return waybill::infrastructure("no answer");
            case fate::dies_before: dead = true; break;
            case fate::dies_after:
                f();
                dead = true;
                break;
        }
        return waybill::cancelled("dead");
    }
};

struct faulty_table {
    memory_table& inner;
    process& p;
    wrong w;
    std::uint64_t at_once;

    waybill::result<std::vector<pipeline_dead_letter>> list()
    {
        std::vector<pipeline_dead_letter> all;
        const fault f = p.call([&] {
            all = *inner.list();
            return fault{};
        });
        if (!f.ok()) return waybill::unexpected(f);
        return all;
    }
    fault upsert(const pipeline_dead_letter& l) { return inner.upsert(l); }
    fault mark(std::span<const pipeline_dead_letter> l)
    {
        return p.call([&] { return w == wrong::marks_nothing ? fault{} : inner.mark(l); });
    }
    // Removes row by row from the last one on, so that the process may end between two. With
    // `at_once`, all in one call.
    fault remove(std::span<const pipeline_dead_letter> l)
    {
        if (l.size() <= at_once) return p.call([&] { return inner.remove(l); });
        for (std::size_t n = l.size(); n != 0; --n) {
            const fault f = p.call([&] { return inner.remove(l.subspan(n - 1, 1)); });
            if (!f.ok()) return f;
        }
        return {};
    }
    std::uint64_t removed_at_once() const { return at_once; }
};

struct environment : waybill::testing::manual_environment {
    const bool* dead = nullptr;
    bool stop_requested() const { return *dead; }
};

// A message in the queue.
struct sent {
    waybill::step_properties properties;
    waybill::step_properties::origin origin;
    std::string id;
    std::string body;
    friend bool operator==(const sent&, const sent&) = default;
};

pipeline_dead_letter letter(std::string session, std::uint64_t step, std::uint64_t stopped_at,
                            std::uint64_t total, waybill::duration age)
{
    pipeline_dead_letter l;
    l.body = session + "/" + std::to_string(step);
    l.properties = {std::move(session), step, 1, total, step == total};
    l.sequence = 100 + step;
    const bool stopped = step == stopped_at;
    l.reason = stopped ? dead_letter_reason::exhausted : dead_letter_reason::session_failed;
    l.resume_at = stopped_at;
    if (stopped) l.state = "state";
    l.dead_lettered_at = waybill::wall_time::at(age);
    return l;
}

enum class content : std::uint8_t { sessions, open, independent, unnumbered, hole };

memory_table table_of(content c)
{
    memory_table t;
    const auto put = [&](const pipeline_dead_letter& l) { t.upsert(l); };
    switch (c) {
        case content::sessions:
            for (const std::uint64_t step : {3U, 4U, 5U}) put(letter("a", step, 3, 5, 2h));
            put(letter("b", 4, 4, 4, 1h));
            break;
        case content::open:
            for (const std::uint64_t step : {2U, 3U}) put(letter("a", step, 2, 0, 1h));
            break;
        case content::independent:
            for (const std::uint64_t step : {2U, 5U, 9U}) {
                pipeline_dead_letter l = letter("a", step, step, 0, 1h);
                l.independent = true;
                put(l);
            }
            break;
        case content::unnumbered:
            for (const std::uint64_t step : {1U, 2U, 3U}) {
                pipeline_dead_letter l = letter("a", step, 1, 0, 1h);
                l.properties.step = 0;
                l.reason = dead_letter_reason::unreadable;
                l.resume_at = 0;
                put(l);
            }
            break;
        case content::hole:
            for (const std::uint64_t step : {2U, 4U, 5U}) put(letter("a", step, 2, 5, 1h));
            break;
    }
    return t;
}

struct result {
    std::vector<sent> all;  // in the order of the queue
    memory_table left;
    std::uint64_t in_doubt = 0;
    std::uint32_t deaths = 0;
    bool finished = false;
};

result run(content c, std::uint64_t at_once, wrong w, choices& picks, std::uint32_t faults)
{
    result r;
    r.left = table_of(c);
    std::uint32_t ids = 0;
    for (std::uint32_t round = 0; round != 4 && !r.finished; ++round) {
        process p{picks, faults};
        environment env;
        env.dead = &p.dead;
        faulty_table t{r.left, p, w, at_once};
        const auto send = [&](const message& m, const pipeline_dead_letter& l) {
            const fault f = p.call([&] {
                r.all.push_back({m.properties, m.origin, m.message_id, std::string(m.body)});
                if (w == wrong::new_id_for_each_attempt) r.all.back().id = std::to_string(++ids);
                return fault{};
            });
            if (w == wrong::removes_before_sending && !p.dead) r.left.remove(std::span(&l, 1));
            return w == wrong::confirms_what_failed && !p.dead ? fault{} : f;
        };
        redrive::redrive_report report;
        waybill::redrive_all(t, {}, send, {.chunk = 2, .options = {.damaged = true}}, env, report);
        faults = p.faults_left;
        r.in_doubt += report.in_doubt;
        r.deaths += p.dead ? 1U : 0U;
        r.finished = report.outcome == redrive::redrive_outcome::finished;
    }
    return r;
}

// Returns the first broken rule, or nothing. `expected` is the result without faults.
std::string broken(const result& r, const result& expected)
{
    if (!r.finished) return "not finished";
    if (!(r.left == expected.left)) return "other dead letters are left";
    std::vector<sent> distinct;
    for (const sent& s : r.all) {
        const auto same = std::find_if(distinct.begin(), distinct.end(),
                                       [&](const sent& d) { return d.id == s.id; });
        if (same == distinct.end()) distinct.push_back(s);
        else if (!(*same == s)) return "a message with the same id differs";
        else if (!(distinct.back() == s)) return "an earlier message was sent again";
    }
    if (!(distinct == expected.all)) return "other messages, or another order";
    if (r.all.size() - distinct.size() > r.in_doubt + r.deaths)
        return "sent twice without an unknown outcome";
    return {};
}

constexpr std::uint32_t most_faults = tests_support::brief ? 2 : 3;
constexpr std::uint64_t least_runs = tests_support::brief ? 9'000 : 180'000;

std::string first_broken(wrong w, std::uint64_t* runs = nullptr)
{
    for (const content c : {content::sessions, content::open, content::independent,
                            content::unnumbered, content::hole}) {
        for (const std::uint64_t at_once : {1U, 100U}) {
            choices none;
            const result expected = run(c, at_once, wrong::nothing, none, 0);
            choices picks;
            do {
                const std::string b = broken(run(c, at_once, w, picks, most_faults), expected);
                if (!b.empty())
                    return b + ", " + std::to_string(static_cast<int>(c)) + ": " + picks.line();
                if (runs != nullptr) ++*runs;
            } while (picks.next());
        }
    }
    return {};
}

TEST_CASE(
    "redrive_all: up to three faults lose no message and repeat only those of unknown "
    "outcome")
{
    std::uint64_t runs = 0;
    CHECK(first_broken(wrong::nothing, &runs) == "");
    CHECK(runs > least_runs);
}

TEST_CASE("redrive_all: mutants are caught")
{
    for (const wrong w : {wrong::marks_nothing, wrong::removes_before_sending,
                          wrong::new_id_for_each_attempt, wrong::confirms_what_failed}) {
        CAPTURE(static_cast<int>(w));
        CHECK(first_broken(w) != "");
    }
}

}  // namespace
}  // namespace redrive_all_enumeration
