// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <waybill/session/session_store.hpp>
#include <waybill/testing/memory_sessions.hpp>
#include <waybill/testing/session_conformance.hpp>

namespace session_store_test {
namespace {

using waybill::fault_class;
using waybill::held_state;
using waybill::result;
using waybill::session_store;
using waybill::state_write;
using waybill::testing::memory_sessions;

static_assert(session_store<memory_sessions>);
static_assert(!session_store<int>);

TEST_CASE("session_store: the one in memory conforms")
{
    CHECK(waybill::testing::session_conformance([] { return memory_sessions(); }) == std::vector<std::string>{});
}

// Stores that are wrong in one way each.

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
        if (*r && (*r)->bytes.empty() && flaw_ == flaw::empty_is_absent) return std::optional<stored>();
        if (*r && flaw_ == flaw::versions_begin_anew) (*r)->version -= base_;
        return r;
    }

    result<waybill::state_saving<version>> save(const std::string& session, std::string bytes,
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
        if (flaw_ == flaw::same_version_for_same_bytes && *now && expected == there && (*now)->bytes == bytes) {
            return waybill::state_saving<version>{state_write::applied, *there};
        }
        if (flaw_ == flaw::conflict_is_error && expected != there) return waybill::unexpected(waybill::transient("conflict"));
        if (flaw_ == flaw::refusal_writes && expected != there) {
            (void)right_.save(id(session), bytes, there);
            return waybill::state_saving<version>{};
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
        return s;
    }

    flaw flaw_;
    memory_sessions right_;
    version base_ = 0;
};

TEST_CASE("session_conformance: stores that are wrong in one way are caught")
{
    const auto rules = [](flaw f) {
        return waybill::testing::session_conformance([f] { return wrong_sessions(f); });
    };
    CHECK(rules(flaw::nothing) == std::vector<std::string>{});
    for (auto f = static_cast<std::uint8_t>(flaw::last_writer_wins);
         f <= static_cast<std::uint8_t>(flaw::refusal_writes); ++f) {
        INFO("flaw ", static_cast<int>(f));
        CHECK(!rules(static_cast<flaw>(f)).empty());
    }
}

// A store that cannot be reached, and one that says then what is not so.

template <bool Honest>
struct unreachable_sessions {
    using version = std::string;
    result<std::optional<waybill::stored_state<version>>> load(const std::string&)
    {
        if (!Honest) return std::optional<waybill::stored_state<version>>();
        return waybill::unexpected(waybill::infrastructure("down"));
    }
    result<waybill::state_saving<version>> save(const std::string&, const std::string&, const std::optional<version>&)
    {
        if (!Honest) return waybill::state_saving<version>{};
        return waybill::unexpected(waybill::infrastructure("down"));
    }
    result<state_write> clear(const std::string&, const version&)
    {
        if (!Honest) return state_write::conflict;
        return waybill::unexpected(waybill::infrastructure("down"));
    }
};

TEST_CASE("session_conformance: a store that is down is neither empty nor in conflict")
{
    unreachable_sessions<true> honest;
    unreachable_sessions<false> other;
    CHECK(waybill::testing::session_outage_conformance(honest).empty());
    CHECK(waybill::testing::session_outage_conformance(other).size() == 3);

    held_state held(honest, "order-17");
    CHECK(held.load().error().how == fault_class::infrastructure);
    CHECK(held.save("x").how == fault_class::infrastructure);
    CHECK(held.clear().ok());  // it has never seen one
}

TEST_CASE("held_state: of two holders the one who wrote last in between has lost")
{
    memory_sessions store;
    held_state mine(store, "order-17");
    held_state theirs(store, "order-17");
    CHECK(!*mine.load());
    CHECK(!*theirs.load());
    CHECK(mine.save("one").ok());
    CHECK(mine.save("two").ok());
    CHECK(theirs.save("three").how == fault_class::ownership_lost);
    CHECK(**theirs.load() == "two");
    CHECK(theirs.save("three").ok());
    CHECK(mine.clear().how == fault_class::ownership_lost);
    CHECK(mine.save("four").how == fault_class::ownership_lost);
    CHECK(theirs.clear().ok());
    CHECK(theirs.clear().ok());
    CHECK(mine.save("five").how == fault_class::ownership_lost);
    CHECK(store.states().empty());
    CHECK(theirs.save("six").ok());  // another session under this id
    CHECK(mine.save("seven").how == fault_class::ownership_lost);
}

TEST_CASE("session_store: names")
{
    CHECK(name(state_write::applied) == "applied");
    CHECK(name(state_write::conflict) == "conflict");
}

}  // namespace
}  // namespace session_store_test
