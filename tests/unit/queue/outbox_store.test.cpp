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

TEST_CASE("outbox_store: memory_outbox conforms")
{
    const auto make = [] { return memory_outbox(); };
    const auto same = [](memory_outbox& s) -> memory_outbox& { return s; };
    const auto in_turn = [](auto f, auto g) { f(), g(); };
    const auto report = outbox_conformance(make, same, in_turn);
    CHECK(report.broken == none);
    CHECK(report.untested == none);
    CHECK(outbox_conformance(make).broken == none);
    CHECK(outbox_conformance(make).untested.size() == 4);
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
        result<waybill::commit_outcome> commit()
        {
            for (message& m : added_) box_->rows_[++box_->last_row_].content = std::move(m);
            return waybill::commit_outcome::applied;
        }
        void rollback() noexcept
        {
            if (box_->flaw_ == flaw::rollback_adds) (void)commit();
        }

        wrong_outbox* box_;
        std::vector<message> added_{};
    };

    explicit wrong_outbox(flaw f) : flaw_(f) {}

    result<transaction> begin() { return transaction(*this); }

    result<void> add(transaction& tx, message m)
    {
        if (flaw_ == flaw::body_cut_at_zero_byte) m.body = m.body.substr(0, m.body.find('\0'));
        if (flaw_ == flaw::ids_trimmed && m.id.ends_with(' ')) m.id.pop_back();
        tx.added_.push_back(std::move(m));
        return {};
    }

    result<claimed_rows> claim(std::uint64_t max_rows, wall_time now, wall_time until)
    {
        claimed_rows c{.number = flaw_ == flaw::claims_share_a_number ? 1 : ++last_claim_};
        if (flaw_ == flaw::ignores_max) max_rows = 1'000;
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
        r.dead = flaw_ != flaw::dead_stays;
        r.reason = reason;
        r.blocks_key = blocks_key;
        return {};
    }

private:
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
};

TEST_CASE("outbox_conformance: detects each store with one flaw")
{
    for (int n = 0; n != static_cast<int>(flaw::flaws); ++n) {
        const auto f = static_cast<flaw>(n);
        const auto report = outbox_conformance([&] { return wrong_outbox(f); });
        CAPTURE(n);
        CHECK(report.broken.empty() == (f == flaw::nothing));
    }
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
