// SPDX-License-Identifier: MIT

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/queue/outbox_store.hpp>
#include <waybill/testing/memory_outbox.hpp>
#include <waybill/testing/outbox_conformance.hpp>

namespace outbox_store_test {
namespace {

using waybill::result;
using waybill::wall_time;
using waybill::testing::memory_outbox;
using waybill::testing::outbox_conformance;

static_assert(waybill::outbox_store<memory_outbox>);
static_assert(!waybill::outbox_store<int>);

const std::vector<std::string> none;

template <class Store>
std::vector<std::string> reasons_of(const Store& s)
{
    std::vector<std::string> all;
    for (const auto& [position, r] : s.rows()) {
        if (r.dead) all.push_back(r.reason);
    }
    return all;
}

TEST_CASE("outbox_store: memory_outbox conforms")
{
    const auto make = [] { return memory_outbox(); };
    const auto same = [](memory_outbox& s) -> memory_outbox& { return s; };
    const auto in_turn = [](auto f, auto g) { f(), g(); };
    const auto report = outbox_conformance(make, same, in_turn, reasons_of<memory_outbox>);
    CHECK(report.broken == none);
    CHECK(report.untested == none);
    CHECK(outbox_conformance(make).broken == none);
    CHECK(outbox_conformance(make).untested.size() == 5);
}

// Stores with one mistake each.

enum class flaw : std::uint8_t {
    nothing,
    rollback_adds,
    newest_first,
    ignores_max,
    claims_held_rows,
    claims_held_keys,
    claims_keys_of_later_holds,
    orders_empty_keys,
    never_expires,
    expires_late,
    expires_early,
    pending_is_false,
    pending_with_dead_rows,
    marks_whole_claim,
    marks_rows_of_later_claims,
    marks_dead_in_later_claims,
    marked_twice_is_error,
    late_mark_is_ignored,
    dead_stays,
    dead_always_blocks,
    dead_never_blocks,
    dead_blocks_only_its_claim,
    hold_only_extends,
    hold_of_whole_claim,
    hold_ignores_loss,
    hold_takes_rows_back,
    hold_of_marked_rows,
    claims_share_a_number,
    body_cut_at_zero_byte,
    keys_without_case,
    ids_trimmed,
    loses_empty_bodies,
    keys_cut_at_255,
    ids_cut_at_128,
    bodies_cut_at_65535,
    marks_50_rows,
    holds_50_rows,
    claims_by_32_bit_max,
    times_in_32_bits,
    reasons_cut_at_200,
    marked_dead_twice_is_error,
    destruction_adds,
    numbers_rows_before_the_commit,
    claims_belong_to_connections,
    flaws
};

/// A plain implementation with one flaw.
class wrong_outbox {
public:
    using message = memory_outbox::message;
    using claimed_rows = memory_outbox::claimed_rows;
    using positions = std::vector<std::uint64_t>;

    class transaction {
    public:
        explicit transaction(wrong_outbox& box) noexcept : box_(&box) {}
        transaction(transaction&& other) noexcept
            : box_(std::exchange(other.box_, nullptr)), added_(std::move(other.added_))
        {
        }
        transaction& operator=(transaction&&) noexcept = default;
        ~transaction()
        {
            if (box_ && box_->flaw_ == flaw::destruction_adds) (void)commit();
        }
        result<waybill::commit_outcome> commit()
        {
            wrong_outbox& box = *std::exchange(box_, nullptr);
            for (auto& [number, m] : added_)
                box.rows_[number == 0 ? ++box.last_row_ : number].content = std::move(m);
            return waybill::commit_outcome::applied;
        }
        void rollback() noexcept
        {
            if (box_->flaw_ == flaw::rollback_adds) (void)commit();
            box_ = nullptr;
        }

        wrong_outbox* box_;
        std::vector<std::pair<std::uint64_t, message>> added_{};
    };

    explicit wrong_outbox(flaw f) : flaw_(f) {}

    result<transaction> begin() { return transaction(*this); }

    result<void> add(transaction& tx, message m)
    {
        if (flaw_ == flaw::body_cut_at_zero_byte) m.body = m.body.substr(0, m.body.find('\0'));
        if (flaw_ == flaw::ids_trimmed && m.id.ends_with(' ')) m.id.pop_back();
        if (flaw_ == flaw::keys_cut_at_255 && m.key.size() > 255) m.key.resize(255);
        if (flaw_ == flaw::ids_cut_at_128 && m.id.size() > 128) m.id.resize(128);
        if (flaw_ == flaw::bodies_cut_at_65535 && m.body.size() > 65'535) m.body.resize(65'535);
        if (flaw_ == flaw::loses_empty_bodies && m.body.empty()) return {};
        const bool early = flaw_ == flaw::numbers_rows_before_the_commit;
        tx.added_.emplace_back(early ? ++last_row_ : 0, std::move(m));
        return {};
    }

    /// A second connection to this outbox.
    [[nodiscard]] wrong_outbox& again()
    {
        if (flaw_ == flaw::claims_belong_to_connections) ++connection_;
        return *this;
    }

    [[nodiscard]] const std::map<std::uint64_t, memory_outbox::row>& rows() const { return rows_; }

    result<claimed_rows> claim(std::uint64_t max_rows, wall_time now, wall_time until)
    {
        if (flaw_ == flaw::claims_by_32_bit_max) max_rows = static_cast<std::uint32_t>(max_rows);
        if (flaw_ == flaw::times_in_32_bits) until = in_32_bits(until);
        claimed_rows c{.number = flaw_ == flaw::claims_share_a_number ? 1 : ++last_claim_};
        if (flaw_ == flaw::ignores_max) max_rows = 1'000;
        if (flaw_ == flaw::claims_belong_to_connections) c.number += 1'000'000 * connection_;
        std::set<std::string> blocked;
        for (auto& [position, r] : rows_) {
            const std::string key = key_of(r);
            const bool held = is_held(r, now);
            if (r.dead && flaw_ == flaw::pending_with_dead_rows) c.pending = true;
            if (!r.dead && held && flaw_ != flaw::pending_is_false) c.pending = true;
            if (blocks(r, held, now) && !key.empty()) blocked.insert(key);
            const bool ready = !r.dead && (!held || flaw_ == flaw::claims_held_rows);
            if (!ready || blocked.contains(key) || c.messages.size() >= max_rows) continue;
            c.messages.push_back(r.content);
            c.positions.push_back(position);
        }
        if (flaw_ == flaw::newest_first) {
            std::reverse(c.messages.begin(), c.messages.end());
            std::reverse(c.positions.begin(), c.positions.end());
        }
        for (const std::uint64_t position : c.positions) {
            rows_[position].claim = c.number;
            rows_[position].until = until;
        }
        return c;
    }

    result<void> hold(const claimed_rows& c, positions which, wall_time until)
    {
        if (flaw_ == flaw::hold_of_whole_claim) which = all_of(c);
        if (flaw_ == flaw::holds_50_rows && which.size() > 50) which.resize(50);
        bool lost = false;
        for (const std::uint64_t n : which) {
            const auto found = rows_.find(c.positions[n]);
            if (found == rows_.end()) {
                lost = lost || flaw_ != flaw::hold_of_marked_rows;
                continue;
            }
            memory_outbox::row& r = found->second;
            const bool own = r.claim == c.number && !r.dead;
            lost = lost || !own;
            const bool writes = own || flaw_ == flaw::hold_takes_rows_back;
            if (writes && (flaw_ != flaw::hold_only_extends || r.until < until)) r.until = until;
        }
        if (!lost || flaw_ == flaw::hold_ignores_loss) return {};
        return waybill::unexpected(waybill::ownership_lost("lost"));
    }

    result<void> mark_sent(const claimed_rows& c, positions which)
    {
        if (flaw_ == flaw::marks_whole_claim) which = all_of(c);
        if (flaw_ == flaw::marks_50_rows && which.size() > 50) which.resize(50);
        if (!is_of_connection(c)) return {};
        for (const std::uint64_t n : which) {
            const auto found = rows_.find(c.positions[n]);
            if (found == rows_.end()) {
                if (flaw_ == flaw::marked_twice_is_error)
                    return waybill::unexpected(waybill::permanent("no such row"));
                continue;
            }
            const bool late = c.number != last_claim_ && flaw_ == flaw::late_mark_is_ignored;
            const bool own = found->second.claim == c.number && !late;
            if (own || flaw_ == flaw::marks_rows_of_later_claims) rows_.erase(found);
        }
        return {};
    }

    result<void> mark_dead(const claimed_rows& c, std::uint64_t n, const std::string& reason,
                           bool blocks_key)
    {
        memory_outbox::row& r = rows_[c.positions[n]];
        if (r.claim != c.number && flaw_ != flaw::marks_dead_in_later_claims) return {};
        if (r.dead && flaw_ == flaw::marked_dead_twice_is_error)
            return waybill::unexpected(waybill::permanent("no such row"));
        r.dead = flaw_ != flaw::dead_stays;
        r.reason = flaw_ == flaw::reasons_cut_at_200 ? reason.substr(0, 200) : reason;
        r.blocks_key = blocks_key;
        return {};
    }

private:
    [[nodiscard]] static wall_time in_32_bits(wall_time t)
    {
        const auto seconds = static_cast<std::uint32_t>(t.since_epoch().count() / 1'000'000'000);
        return wall_time::at(waybill::duration::seconds(std::int64_t{seconds}));
    }
    [[nodiscard]] bool is_of_connection(const claimed_rows& c) const
    {
        return flaw_ != flaw::claims_belong_to_connections || c.number / 1'000'000 == connection_;
    }
    [[nodiscard]] std::string key_of(const memory_outbox::row& r) const
    {
        if (flaw_ == flaw::orders_empty_keys && r.content.key.empty()) return "empty";
        if (flaw_ == flaw::keys_without_case && r.content.key == "A") return "a";
        return r.content.key;
    }
    [[nodiscard]] bool is_held(const memory_outbox::row& r, wall_time now) const
    {
        if (flaw_ == flaw::never_expires) return r.claim != 0;
        if (flaw_ == flaw::expires_late) return r.until >= now;
        if (flaw_ == flaw::expires_early) now += waybill::duration::seconds(1);
        return r.until > now;
    }
    [[nodiscard]] bool blocks(const memory_outbox::row& r, bool held, wall_time now) const
    {
        if (r.dead) {
            if (flaw_ == flaw::dead_always_blocks) return true;
            if (flaw_ == flaw::dead_blocks_only_its_claim) return r.blocks_key && r.until > now;
            return r.blocks_key && flaw_ != flaw::dead_never_blocks;
        }
        if (flaw_ == flaw::claims_keys_of_later_holds &&
            r.until - now > waybill::duration::seconds(10))
            return false;
        return held && flaw_ != flaw::claims_held_keys;
    }
    [[nodiscard]] static positions all_of(const claimed_rows& c)
    {
        positions all;
        for (std::uint64_t n = 0; n != c.positions.size(); ++n) all.push_back(n);
        return all;
    }

    std::map<std::uint64_t, memory_outbox::row> rows_;
    flaw flaw_;
    std::uint64_t last_row_ = 0;
    std::uint64_t last_claim_ = 0;
    std::uint64_t connection_ = 0;
};

[[nodiscard]] waybill::testing::conformance_report report_of(
    flaw f, const waybill::testing::store_limits& limits = {})
{
    return outbox_conformance(
        [f] { return wrong_outbox(f); }, [](wrong_outbox& s) -> wrong_outbox& { return s.again(); },
        [](auto one, auto two) { one(), two(); }, reasons_of<wrong_outbox>, limits);
}

TEST_CASE("outbox_conformance: detects each store with one flaw")
{
    for (int n = 0; n != static_cast<int>(flaw::flaws); ++n) {
        const auto f = static_cast<flaw>(n);
        const auto report = report_of(f);
        CAPTURE(n);
        CHECK(report.broken.empty() == (f == flaw::nothing));
        if (f == flaw::nothing) CHECK(report.untested == none);
    }
}

/// The first rule that a store with this flaw breaks.
[[nodiscard]] std::string first_broken(flaw f, const waybill::testing::store_limits& limits = {})
{
    const auto report = report_of(f, limits);
    return report.broken.empty() ? "none" : report.broken.front();
}

TEST_CASE("outbox_conformance: names the promise that a store breaks")
{
    const std::string values =
        "claim: keys, ids and bodies of all bytes and of 0, 1, 255, 256, 4,097 and 70,000 bytes "
        "are those that were added";
    CHECK(first_broken(flaw::body_cut_at_zero_byte) == values);
    CHECK(first_broken(flaw::loses_empty_bodies) == values);
    CHECK(first_broken(flaw::keys_cut_at_255) == values);
    CHECK(first_broken(flaw::ids_cut_at_128) == values);
    CHECK(first_broken(flaw::bodies_cut_at_65535) == values);
    CHECK(first_broken(flaw::marks_50_rows) == "mark_sent: removes each of 1,100 rows");
    CHECK(first_broken(flaw::holds_50_rows) == "hold: of 1,100 rows each is held");
    CHECK(first_broken(flaw::claims_by_32_bit_max) == "claim: `max` is compared in all 64 bits");
    CHECK(first_broken(flaw::times_in_32_bits) ==
          "claim: lasts until its time, also after the year 2200");
    CHECK(first_broken(flaw::reasons_cut_at_200) ==
          "mark_dead: the reason is stored with the row byte for byte; one above the declared "
          "limit may be an error");
    CHECK(first_broken(flaw::marked_dead_twice_is_error).ends_with("; if each call is made twice"));
    CHECK(first_broken(flaw::destruction_adds) ==
          "add: a transaction that is destroyed without a commit adds no row");
    CHECK(first_broken(flaw::claims_belong_to_connections)
              .ends_with("; if each call uses a new connection"));
}

TEST_CASE("outbox_conformance: two open transactions of a key, of which the second commits first")
{
    // The relay would send "cancelled" before "created".
    const auto report = report_of(flaw::numbers_rows_before_the_commit);
    CHECK(report.broken ==
          std::vector<std::string>{
              "claim: rows of a key have one order, also if two open transactions added them: a "
              "claim between the commits must not change it"});
    const auto alone =
        outbox_conformance([] { return wrong_outbox(flaw::numbers_rows_before_the_commit); });
    CHECK(alone.broken == none);
    CHECK(std::count(alone.untested.begin(), alone.untested.end(),
                     report.broken.front() + " (needs a second connection)") == 1);
}

/// Refuses ids above 128 bytes, empty bodies and reasons above 200 bytes.
class limited_outbox : public wrong_outbox {
public:
    explicit limited_outbox(std::string text) : wrong_outbox(flaw::nothing), text_(std::move(text))
    {
    }
    result<void> add(transaction& tx, const message& m)
    {
        if (m.id.size() > 128 || m.body.empty()) return refused();
        return wrong_outbox::add(tx, m);
    }
    result<void> mark_dead(const claimed_rows& c, std::uint64_t n, const std::string& reason,
                           bool blocks_key)
    {
        if (reason.size() > 200) return refused();
        return wrong_outbox::mark_dead(c, n, reason, blocks_key);
    }

private:
    [[nodiscard]] result<void> refused() const
    {
        return waybill::unexpected(waybill::permanent(text_));
    }
    std::string text_;
};

TEST_CASE("outbox_conformance: a limit is declared, and a value outside of it is an error")
{
    const auto tried = [](const char* text, const waybill::testing::store_limits& limits) {
        return outbox_conformance([&] { return limited_outbox(text); },
                                  waybill::testing::no_second{}, waybill::testing::no_race{},
                                  reasons_of<limited_outbox>, limits)
            .broken;
    };
    const waybill::testing::store_limits limits{
        .shortest_body = 1, .longest_id = 128, .longest_reason = 200};
    CHECK(tried("128 bytes", limits) == none);
    CHECK(tried("", limits) ==
          std::vector<std::string>{"add: the error for a value outside the limits has a text"});
    CHECK(tried("128 bytes", {}).size() == 3);
    // A declared limit is no permission to cut a value.
    CHECK(first_broken(flaw::ids_cut_at_128, limits) ==
          "add: a value outside the limits is stored unchanged, or is an error");
    CHECK(first_broken(flaw::loses_empty_bodies, limits) ==
          "add: a value outside the limits is stored unchanged, or is an error");
    CHECK(first_broken(flaw::reasons_cut_at_200, limits)
              .starts_with("mark_dead: the reason is stored"));
}

/// Two connections that do not see each other's claims, and a race in which both read first.
TEST_CASE("outbox_conformance: detects connections that claim the same rows")
{
    const auto make = [] { return memory_outbox(); };
    const auto copy = [](memory_outbox& s) { return s; };
    CHECK_FALSE(outbox_conformance(make, copy).broken.empty());
}

/// Each call fails, or reports success.
struct unreachable {
    using message = memory_outbox::message;
    using transaction = memory_outbox::transaction;
    using claimed_rows = memory_outbox::claimed_rows;
    bool honest = true;

    [[nodiscard]] result<void> answer() const
    {
        if (honest) return waybill::unexpected(waybill::infrastructure("down"));
        return {};
    }
    result<void> add(transaction&, const message&) { return answer(); }
    result<claimed_rows> claim(std::uint64_t, wall_time, wall_time)
    {
        if (honest) return waybill::unexpected(waybill::infrastructure("down"));
        return claimed_rows{};
    }
    result<void> hold(const claimed_rows&, const std::vector<std::uint64_t>&, wall_time)
    {
        return answer();
    }
    result<void> mark_sent(const claimed_rows&, const std::vector<std::uint64_t>&)
    {
        return answer();
    }
    result<void> mark_dead(const claimed_rows&, std::uint64_t, const std::string&, bool)
    {
        return answer();
    }
};

TEST_CASE("outbox_outage_conformance: detects a store that reports success in an outage")
{
    unreachable right{true};
    unreachable wrong{false};
    CHECK(waybill::testing::outbox_outage_conformance(right).broken == none);
    CHECK(waybill::testing::outbox_outage_conformance(wrong).broken.size() == 4);
}

}  // namespace
}  // namespace outbox_store_test
