// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/session/detail/text_state_codec.hpp>
#include <waybill/session/job.hpp>
#include <waybill/session/process_step.hpp>
#include <waybill/session/session_store.hpp>
#include <waybill/session/state_text.hpp>
#include <waybill/session/step_properties.hpp>
#include <waybill/testing/manual_environment.hpp>
#include <waybill/testing/memory_sessions.hpp>
#include <waybill/testing/session_conformance.hpp>

namespace session_store_test {
namespace {

using waybill::fault_kind;
using waybill::result;
using waybill::session_store;
using waybill::state_write;
using waybill::versioned_session_state;
using waybill::testing::memory_sessions;

static_assert(session_store<memory_sessions>);
static_assert(!session_store<int>);

TEST_CASE("session_store: memory_sessions conforms")
{
    const auto broken = [](const waybill::state_budget& budget) {
        return waybill::testing::session_conformance([] { return memory_sessions(); },
                                                     waybill::testing::no_second{},
                                                     waybill::testing::no_race{}, budget)
            .broken;
    };
    CHECK(broken({}) == std::vector<std::string>{});
    CHECK(broken({.bytes = 1'000'000}) == std::vector<std::string>{});
}

TEST_CASE("session_conformance: the report contains the untested rules")
{
    const auto make = [] { return memory_sessions(); };
    CHECK(waybill::testing::session_conformance(make).untested ==
          std::vector<std::string>{
              "save: of two concurrent saves at most one is applied (needs two threads)",
              "each rule; if two connections are used in turn (needs a second connection)",
              "each rule; if each call uses a new connection (needs a second connection)"});
    const auto same = [](memory_sessions& s) -> memory_sessions& { return s; };
    const auto race = [](auto f, auto g) { f(), g(); };
    CHECK(waybill::testing::session_conformance(make, same, race).untested ==
          std::vector<std::string>{});
}

// Stores with one mistake each.

enum class flaw : std::uint8_t {
    nothing,
    last_writer_wins,
    expects_none_is_ignored,
    same_version_for_same_bytes,
    versions_begin_anew,
    clear_ignores_version,
    clear_leaves_it_empty,
    cleared_twice_is_applied,
    empty_is_absent,
    cut_at_zero_byte,
    ids_without_case,
    ids_trimmed,
    ids_without_accents,
    ids_of_three_bytes_a_character,
    ids_cut_at_zero_byte,
    ids_cut_at_128_bytes,
    ids_with_question_marks,
    cut_at_70_000_bytes,
    cut_at_262_143_bytes,
    cut_where_one_was,
    longer_where_one_was,
    makes_what_was_expected,
    conflict_is_error,
    refusal_writes,
};

class wrong_sessions {
public:
    using version = std::uint64_t;
    using stored = waybill::stored_state<version>;
    explicit wrong_sessions(flaw f) : flaw_(f) {}

    result<std::optional<stored>> load(const std::string& session)
    {
        auto r = right_.load(id(session));
        if (*r && (*r)->bytes.empty() && flaw_ == flaw::empty_is_absent)
            return std::optional<stored>();
        if (*r && flaw_ == flaw::versions_begin_anew) (*r)->version -= base_;
        return r;
    }

    result<waybill::save_result<version>> save(const std::string& session, std::string bytes,
                                               std::optional<version> expected)
    {
        const auto now = right_.load(id(session));
        std::optional<version> there;
        if (*now) there = (*now)->version;
        if (flaw_ == flaw::versions_begin_anew && expected) *expected += base_;
        if (flaw_ == flaw::last_writer_wins) expected = there;
        if (flaw_ == flaw::expects_none_is_ignored && !expected) expected = there;
        if (flaw_ == flaw::makes_what_was_expected && !there) expected.reset();
        if (flaw_ == flaw::cut_at_zero_byte) bytes = bytes.substr(0, bytes.find('\0'));
        if (flaw_ == flaw::cut_at_70_000_bytes) bytes = bytes.substr(0, 70'000);
        if (flaw_ == flaw::cut_at_262_143_bytes) bytes = bytes.substr(0, 262'143);
        if (flaw_ == flaw::cut_where_one_was && *now) bytes = bytes.substr(0, 65'536);
        if (flaw_ == flaw::longer_where_one_was && *now && (*now)->bytes.size() > bytes.size()) {
            bytes += (*now)->bytes.substr(bytes.size());
        }
        if (flaw_ == flaw::same_version_for_same_bytes && *now && expected == there &&
            (*now)->bytes == bytes) {
            return waybill::save_result<version>{state_write::applied, *there};
        }
        if (flaw_ == flaw::conflict_is_error && expected != there)
            return waybill::unexpected(waybill::transient("conflict"));
        if (flaw_ == flaw::refusal_writes && expected != there) {
            (void)right_.save(id(session), bytes, there);
            return waybill::save_result<version>{};
        }
        auto r = right_.save(id(session), bytes, expected);
        if (flaw_ == flaw::versions_begin_anew && r->outcome == state_write::applied) {
            if (!there) base_ = r->version - 1;
            r->version -= base_;
        }
        return r;
    }

    result<state_write> clear(const std::string& session, version expected)
    {
        const auto now = right_.load(id(session));
        if (flaw_ == flaw::versions_begin_anew) expected += base_;
        if (flaw_ == flaw::clear_ignores_version && *now) expected = (*now)->version;
        if (flaw_ == flaw::cleared_twice_is_applied && !*now) return state_write::applied;
        if (flaw_ == flaw::clear_leaves_it_empty && *now && (*now)->version == expected) {
            (void)right_.save(id(session), {}, expected);
            return state_write::applied;
        }
        return right_.clear(id(session), expected);
    }

private:
    std::string id(std::string s) const
    {
        if (flaw_ == flaw::ids_without_case) {
            for (char& c : s) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
        }
        if (flaw_ == flaw::ids_trimmed) {
            while (!s.empty() && s.back() == ' ') s.pop_back();
        }
        if (flaw_ == flaw::ids_without_accents && s == "\xC3\xA9") s = "e";
        if (flaw_ == flaw::ids_of_three_bytes_a_character && s.size() == 4 && s[0] == '\xF0')
            s = "?";
        if (flaw_ == flaw::ids_cut_at_zero_byte) s = s.substr(0, s.find('\0'));
        if (flaw_ == flaw::ids_cut_at_128_bytes) s = s.substr(0, 128);
        if (flaw_ == flaw::ids_with_question_marks && !waybill::is_utf8(s)) s = "?";
        return s;
    }

    flaw flaw_;
    memory_sessions right_;
    version base_ = 0;
};

TEST_CASE("session_conformance: each store with one flaw is detected")
{
    const auto rules = [](flaw f) {
        return waybill::testing::session_conformance([f] { return wrong_sessions(f); }).broken;
    };
    CHECK(rules(flaw::nothing) == std::vector<std::string>{});
    for (auto f = static_cast<std::uint8_t>(flaw::last_writer_wins);
         f <= static_cast<std::uint8_t>(flaw::refusal_writes); ++f) {
        INFO("flaw ", static_cast<int>(f));
        CHECK(!rules(static_cast<flaw>(f)).empty());
    }
}

TEST_CASE("session_conformance: states are tested up to the bytes of the budget")
{
    const auto rules = [](std::uint64_t bytes) {
        return waybill::testing::session_conformance(
                   [] { return wrong_sessions(flaw::cut_at_70_000_bytes); },
                   waybill::testing::no_second{}, waybill::testing::no_race{}, {.bytes = bytes})
            .broken;
    };
    CHECK(rules(70'000) == std::vector<std::string>{});
    const auto broken = rules(70'001);
    CHECK(std::find(broken.begin(), broken.end(), "save: keeps a state of 70001 bytes as it is") !=
          broken.end());
}

// A store that refuses ids which no job creates.
struct strict_sessions {
    using version = memory_sessions::version;
    result<std::optional<waybill::stored_state<version>>> load(const std::string& s)
    {
        return in.load(s);
    }
    result<waybill::save_result<version>> save(const std::string& s, const std::string& bytes,
                                               const std::optional<version>& expected)
    {
        const auto odd = waybill::job::id_problem(s);
        if (odd && *odd != waybill::job::error::code::redriven_end)
            return waybill::unexpected(waybill::permanent("odd id"));
        return in.save(s, bytes, expected);
    }
    result<state_write> clear(const std::string& s, const version& expected)
    {
        return in.clear(s, expected);
    }

    memory_sessions in{};
};

TEST_CASE("session_conformance: a store may refuse session ids that no job creates")
{
    CHECK(waybill::testing::session_conformance([] { return strict_sessions(); }).broken ==
          std::vector<std::string>{});
}

// Connections to one store, each with a cache of the results that it has read.
struct caching_sessions {
    using version = memory_sessions::version;
    using found = result<std::optional<waybill::stored_state<version>>>;
    found load(const std::string& s) { return seen.try_emplace(s, in->load(s)).first->second; }
    result<waybill::save_result<version>> save(const std::string& s, const std::string& bytes,
                                               const std::optional<version>& expected)
    {
        seen.erase(s);
        return in->save(s, bytes, expected);
    }
    result<state_write> clear(const std::string& s, const version& expected)
    {
        seen.erase(s);
        return in->clear(s, expected);
    }

    std::shared_ptr<memory_sessions> in = std::make_shared<memory_sessions>();
    std::map<std::string, found> seen{};
};

TEST_CASE("session_conformance: a second connection detects a store that caches reads")
{
    const auto make = [] { return caching_sessions(); };
    CHECK(waybill::testing::session_conformance(make).broken.empty());
    const auto again = [](caching_sessions& s) { return caching_sessions{s.in}; };
    const auto broken = waybill::testing::session_conformance(make, again).broken;
    REQUIRE(!broken.empty());
    CHECK(broken.front().ends_with("; if two connections are used in turn"));
}

// A store that cannot be reached, and one that returns wrong results in that case.

template <bool Honest>
struct unreachable_sessions {
    using version = std::string;
    result<std::optional<waybill::stored_state<version>>> load(const std::string&)
    {
        if (!Honest) return std::optional<waybill::stored_state<version>>();
        return waybill::unexpected(waybill::infrastructure("down"));
    }
    result<waybill::save_result<version>> save(const std::string&, const std::string&,
                                               const std::optional<version>&)
    {
        if (!Honest) return waybill::save_result<version>{};
        return waybill::unexpected(waybill::infrastructure("down"));
    }
    result<state_write> clear(const std::string&, const version&)
    {
        if (!Honest) return state_write::conflict;
        return waybill::unexpected(waybill::infrastructure("down"));
    }
};

TEST_CASE("session_conformance: an unreachable store that looks empty or in conflict is detected")
{
    unreachable_sessions<true> honest;
    unreachable_sessions<false> other;
    CHECK(waybill::testing::session_outage_conformance(honest).broken.empty());
    CHECK(waybill::testing::session_outage_conformance(other).broken.size() == 3);

    versioned_session_state held(honest, "order-17");
    CHECK(held.load().error().kind == fault_kind::infrastructure);
    CHECK(held.save("x").kind == fault_kind::infrastructure);
    CHECK(held.clear().ok());  // it has never seen one
}

// A store that cannot be reached, and reports it with this kind of fault.
struct unreachable_as {
    using version = std::uint64_t;
    result<std::optional<waybill::stored_state<version>>> load(const std::string& s)
    {
        if (loads) return in.load(s);
        return waybill::unexpected(waybill::fault{how, "timeout"});
    }
    result<waybill::save_result<version>> save(const std::string& s, const std::string& bytes,
                                               const std::optional<version>& expected)
    {
        if (!down) return in.save(s, bytes, expected);
        return waybill::unexpected(waybill::fault{how, "timeout"});
    }
    result<state_write> clear(const std::string&, const version&)
    {
        return waybill::unexpected(waybill::fault{how, "timeout"});
    }

    fault_kind how = fault_kind::none;
    bool loads = false;
    bool down = true;
    memory_sessions in{};
};

TEST_CASE("session_conformance: an outage must be infrastructure or transient")
{
    const auto rules = [](fault_kind how) {
        unreachable_as store{how};
        return waybill::testing::session_outage_conformance(store).broken.size();
    };
    CHECK(rules(fault_kind::infrastructure) == 0);
    CHECK(rules(fault_kind::transient) == 0);
    CHECK(rules(fault_kind::none) == 0);  // in a result it is infrastructure
    CHECK(rules(fault_kind::permanent) == 1);
    CHECK(rules(fault_kind::ownership_lost) == 1);
    CHECK(rules(fault_kind::cancelled) == 1);
}

TEST_CASE("versioned_session_state: an error of kind none is reported as infrastructure")
{
    unreachable_as store{.loads = true, .down = false};
    versioned_session_state held(store, "order-17");
    REQUIRE(held.save("x").ok());
    store = {.in = store.in};
    const waybill::fault down = waybill::infrastructure("timeout");
    CHECK(held.load().error() == down);
    CHECK(held.save("y") == down);
    CHECK(held.clear() == down);
    for (const auto how :
         {fault_kind::transient, fault_kind::permanent, fault_kind::ownership_lost}) {
        store.how = how;
        CHECK(held.load().error().kind == how);
        CHECK(held.save("y").kind == how);
        CHECK(held.clear().kind == how);
    }
}

// Holdings of one session, as process_step drives them over a store.

template <class Store>
struct holdings {
    Store store{};
    std::map<std::uint64_t, std::string> letters{};
    std::vector<bool> settled = std::vector<bool>(4);
    std::vector<int> ran = std::vector<int>(4);

    // Handles the messages that are not settled. `execute` returns the fault of a step, and `holds`
    // whether the lock is held.
    template <class Execute, class Holds>
    void hold(Execute execute, Holds holds)
    {
        const auto j = *waybill::job::make("order-17", 3);
        versioned_session_state held(store, "order-17");
        waybill::pipeline pipe;
        waybill::testing::manual_environment env;
        waybill::text_state::read_result state;
        const waybill::fault gone = waybill::ownership_lost("the lock has run out");
        for (std::uint64_t n = 1; n != 4 && !pipe.over(); ++n) {
            if (settled[n]) continue;
            process_step(
                pipe, waybill::step_facts::of(j.step(n), 100 + n, 1), env,
                [&](waybill::pipeline::load_state) -> waybill::pipeline::state_loaded {
                    const auto bytes = held.load();
                    if (!bytes) return {.kind = bytes.error().kind};
                    state = waybill::detail::read_text_state(*bytes);
                    return {state.outcome, state.state.progress};
                },
                [&](waybill::pipeline::execute) {
                    ++ran[n];
                    return execute(n);
                },
                [&](waybill::pipeline::save_state) {
                    if (!holds()) return gone;
                    state.state.progress = pipe.progress();
                    return held.save(*waybill::detail::write_text_state(state.state));
                },
                [&](waybill::pipeline::write_dead_letter) {
                    if (!holds()) return gone;
                    letters[n] = pipe.reason();
                    return waybill::fault{};
                },
                [&](waybill::complete) {
                    settled[n] = true;
                    return waybill::fault{};
                },
                [&](waybill::pipeline::clear_state) { return held.clear(); },
                [&](waybill::pipeline::give_back) {}, [&](waybill::wait_until) {});
        }
    }
};

const auto runs = [](std::uint64_t) { return waybill::fault{}; };
const auto locked = [] { return true; };

TEST_CASE("versioned_session_state: an outage of kind none settles no message")
{
    holdings<unreachable_as> all{.store = {.loads = true}};
    all.hold([](std::uint64_t) { return waybill::permanent("card declined"); }, locked);
    CHECK(all.settled == std::vector<bool>(4));
    CHECK(all.letters.empty());
    CHECK(all.ran == std::vector<int>{0, 1, 0, 0});
}

TEST_CASE(
    "versioned_session_state: if a session ended meanwhile, only the lock stops an earlier holder")
{
    // Its step fails. Another holder has done that step and all later ones, and cleared the state.
    for (const bool asks : {false, true}) {
        holdings<memory_sessions> all;
        bool mine = true;
        const auto hangs = [&](std::uint64_t) {
            mine = false;
            all.hold(runs, locked);
            return waybill::permanent("order-17 is paid already");
        };
        all.hold(hangs, [&] { return mine || !asks; });
        CHECK(all.ran == std::vector<int>{0, 2, 1, 1});
        // An absent state has no version, so only the lock distinguishes it from that of a new
        // session.
        CHECK(all.letters.size() == (asks ? 0 : 1));
        CHECK(all.store.states().size() == (asks ? 0 : 1));
    }
}

TEST_CASE(
    "versioned_session_state: of two holders, the one with an old version gets ownership_lost")
{
    memory_sessions store;
    versioned_session_state mine(store, "order-17");
    versioned_session_state theirs(store, "order-17");
    CHECK(!*mine.load());
    CHECK(!*theirs.load());
    CHECK(mine.save("one").ok());
    CHECK(mine.save("two").ok());
    CHECK(theirs.save("three").kind == fault_kind::ownership_lost);
    CHECK(**theirs.load() == "two");
    CHECK(theirs.save("three").ok());
    CHECK(mine.clear().kind == fault_kind::ownership_lost);
    CHECK(mine.save("four").kind == fault_kind::ownership_lost);
    CHECK(theirs.clear().ok());
    CHECK(theirs.clear().ok());
    CHECK(mine.save("five").kind == fault_kind::ownership_lost);
    CHECK(store.states().empty());
    CHECK(theirs.save("six").ok());  // another session under this id
    CHECK(mine.save("seven").kind == fault_kind::ownership_lost);
}

TEST_CASE("session_store: names")
{
    CHECK(name(state_write::applied) == "applied");
    CHECK(name(state_write::conflict) == "conflict");
}

}  // namespace
}  // namespace session_store_test
