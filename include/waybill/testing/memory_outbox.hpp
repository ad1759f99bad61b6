// SPDX-License-Identifier: MIT
//
// memory_outbox: an outbox in memory, for tests of applications.
//
//     waybill::testing::memory_outbox outbox;
//     auto tx = *outbox.begin();
//     outbox.add(tx, {.key = "ada", .id = "order-7", .body = "thanks"});
//     tx.commit();
//     waybill::relay(outbox, sender, transmit, env, {.drain = true});
//     outbox.rows().empty();
//
// It conforms to outbox_conformance.hpp. Copies are independent. Rows are added at the commit.
// Cost: a claim is linear in the rows, times the logarithm of the number of keys.

#ifndef WAYBILL_TESTING_MEMORY_OUTBOX_HPP
#define WAYBILL_TESTING_MEMORY_OUTBOX_HPP

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <waybill/consume/stores.hpp>
#include <waybill/queue/outbox_store.hpp>

namespace waybill::inline v0_2::testing {

class memory_outbox {
public:
    struct message {
        std::string key{}, id{}, body{};

        friend bool operator==(const message&, const message&) = default;
    };

    /// A row that is not sent. `claim` is the number of its last claim; 0 if there was none.
    struct row {
        message content{};
        std::uint64_t claim = 0;
        wall_time until = wall_time::lowest();
        bool dead = false;
        bool blocks_key = false;
        std::string reason{};

        friend bool operator==(const row&, const row&) = default;
    };

    struct claimed_rows {
        std::vector<message> messages{};
        bool pending = false;
        std::uint64_t number = 0;                ///< The number of the claim.
        std::vector<std::uint64_t> positions{};  ///< The keys of rows() of these messages.
    };

    class transaction {
    public:
        explicit transaction(memory_outbox& box) noexcept : box_(&box) {}
        transaction(transaction&& other) noexcept
            : box_(std::exchange(other.box_, nullptr)), added_(std::move(other.added_))
        {
        }
        transaction& operator=(transaction&& other) noexcept
        {
            box_ = std::exchange(other.box_, nullptr);
            added_ = std::move(other.added_);
            return *this;
        }

        [[nodiscard]] result<commit_outcome> commit()
        {
            if (!box_) return commit_outcome::not_applied;
            memory_outbox& box = *std::exchange(box_, nullptr);
            for (message& m : added_) box.rows_.emplace(++box.last_row_, row{std::move(m)});
            return commit_outcome::applied;
        }
        void rollback() noexcept { box_ = nullptr; }

    private:
        friend memory_outbox;
        memory_outbox* box_;
        std::vector<message> added_{};
    };

    [[nodiscard]] result<transaction> begin() { return transaction(*this); }

    [[nodiscard]] result<void> add(transaction& tx, message m)
    {
        if (!tx.box_) return unexpected(infrastructure("the transaction has ended"));
        tx.added_.push_back(std::move(m));
        return {};
    }

    [[nodiscard]] result<claimed_rows> claim(std::uint64_t max_rows, wall_time now, wall_time until)
    {
        claimed_rows c{.number = last_claim_ + 1};
        std::set<std::string> blocked;
        for (auto& [position, r] : rows_) {
            const std::string& key = r.content.key;
            if (r.dead) {
                if (r.blocks_key && !key.empty()) blocked.insert(key);
                continue;
            }
            const bool held = r.until > now;
            if (held) c.pending = true;
            if (held && !key.empty()) blocked.insert(key);
            if (held || blocked.contains(key) || c.messages.size() >= max_rows) continue;
            c.messages.push_back(r.content);
            c.positions.push_back(position);
        }
        for (const std::uint64_t position : c.positions) {
            row& r = rows_.find(position)->second;
            r.claim = c.number;
            r.until = until;
        }
        last_claim_ = c.number;
        return c;
    }

    [[nodiscard]] result<void> hold(const claimed_rows& c, const std::vector<std::uint64_t>& which,
                                    wall_time until)
    {
        bool all = true;
        for (const std::uint64_t n : which) {
            row* const r = held(c, n);
            if (r) r->until = until;
            else all = false;
        }
        if (!all) return unexpected(ownership_lost("a row is not in this claim any more"));
        return {};
    }

    [[nodiscard]] result<void> mark_sent(const claimed_rows& c,
                                         const std::vector<std::uint64_t>& which)
    {
        for (const std::uint64_t n : which) {
            if (held(c, n)) rows_.erase(c.positions[n]);
        }
        return {};
    }

    [[nodiscard]] result<void> mark_dead(const claimed_rows& c, std::uint64_t n,
                                         const std::string& reason, bool blocks_key)
    {
        if (row* const r = held(c, n)) {
            r->reason = reason;
            r->dead = true;
            r->blocks_key = blocks_key;
        }
        return {};
    }

    /// The rows that are not sent, dead ones included, in the order of their commits.
    [[nodiscard]] const std::map<std::uint64_t, row>& rows() const noexcept { return rows_; }

    /// Removes a row, as an administrator removes a dead one.
    void erase(std::uint64_t position) { rows_.erase(position); }

    friend bool operator==(const memory_outbox&, const memory_outbox&) = default;

private:
    /// The row, or null if it is not in this claim any more.
    [[nodiscard]] row* held(const claimed_rows& c, std::uint64_t n)
    {
        if (n >= c.positions.size()) return nullptr;
        const auto found = rows_.find(c.positions[n]);
        if (found == rows_.end() || found->second.dead || found->second.claim != c.number)
            return nullptr;
        return &found->second;
    }

    std::map<std::uint64_t, row> rows_;
    std::uint64_t last_row_ = 0;
    std::uint64_t last_claim_ = 0;
};

static_assert(outbox_store<memory_outbox> && transactional<memory_outbox>);

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_MEMORY_OUTBOX_HPP
