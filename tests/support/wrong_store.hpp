// SPDX-License-Identifier: MIT
//
// wrong_store: a small store that is right, or wrong in one named way.
//
// It measures the conformance suite and the fault enumeration by the number of flaws that they
// find. Handles share their data, like connections to one database. Effects are numbers.

#ifndef WAYBILL_TESTS_SUPPORT_WRONG_STORE_HPP
#define WAYBILL_TESTS_SUPPORT_WRONG_STORE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <support/store_flaws.hpp>

#include <waybill/consume/stores.hpp>

namespace tests_support {

class wrong_store {
    struct advancing {
        waybill::partition_key key;
        std::optional<waybill::position> from;
        waybill::position to;
        std::uint64_t epoch;
        bool back = false;    // to the beginning
        bool cached = false;  // compared with the checkpoint that the connection loaded
    };
    struct noting {
        waybill::partition_key key;
        std::optional<waybill::crash_record> row;
    };
    using row_key = std::pair<waybill::partition_key, std::uint64_t>;
    using write = std::variant<std::uint64_t, waybill::dead_letter, advancing, noting, row_key>;
    struct tables {
        std::map<waybill::partition_key, waybill::checkpoint> checkpoints;
        std::map<waybill::partition_key, std::uint64_t> epochs;  // of checkpoints that were reset
        std::map<std::pair<waybill::partition_key, std::uint64_t>, waybill::dead_letter> letters;
        std::map<waybill::partition_key, waybill::crash_record> attempts;
        std::vector<std::uint64_t> records;
    };
    struct data : tables {
        int open = 0;
        int leaked = 0;
        // Writes of transactions that are not committed.
        std::map<waybill::partition_key, waybill::checkpoint> moved;
        std::vector<waybill::dead_letter> put;
        std::vector<write> leftovers;
        bool down = false;
        std::map<row_key, const char*> locked;  // by the transaction with this address
        // the effect of other transactions during a wait for a lock
        std::function<void()> meanwhile;
    };

public:
    class transaction {
    public:
        transaction(const std::shared_ptr<data>& d, flaw f) : data_(d), handle_(d), flaw_(f)
        {
            ++data_->open;
            if (flaw_ == flaw::whole_file_written) file_ = d->checkpoints;
        }
        transaction(transaction&& other) noexcept
            : data_(flawed(other) ? other.data_ : std::exchange(other.data_, nullptr)),
              handle_(other.handle_),
              found_(other.found_),
              file_(other.file_),
              flaw_(other.flaw_),
              writes_(flawed(other) ? other.writes_ : std::move(other.writes_)),
              mark_(other.mark_),
              id_(flawed(other) ? std::make_unique<char>() : std::move(other.id_))
        {
        }
        transaction& operator=(transaction&& other) noexcept
        {
            if (data_ && flaw_ == flaw::assign_commits) (void)commit();
            if (flaw_ == flaw::assign_leaks) data_.reset();
            close();
            data_ = std::exchange(other.data_, nullptr);
            handle_ = other.handle_;
            found_ = other.found_;
            file_ = other.file_;
            committed_ = rolled_back_ = false;
            flaw_ = other.flaw_;
            writes_ = std::move(other.writes_);
            mark_ = other.mark_;
            id_ = std::move(other.id_);
            return *this;
        }
        ~transaction()
        {
            if (data_ && flaw_ == flaw::scope_commits) (void)commit();
            if (data_) ++data_->leaked;
            close();
        }

        void record(std::uint64_t r) { writes_.emplace_back(std::in_place_index<0>, r); }

        waybill::result<void> savepoint()
        {
            if (++savepoints_ > 64 && flaw_ == flaw::savepoints_of_64) return wrong_store::down();
            mark_ = writes_.size();
            return {};
        }
        waybill::result<void> release_savepoint()
        {
            if (flaw_ == flaw::release_removes) cut();
            return {};
        }
        waybill::result<void> rollback_to_savepoint()
        {
            if (flaw_ == flaw::undo_removes_all) writes_.clear();
            else if (flaw_ != flaw::undo_does_nothing) cut();
            return {};
        }

        waybill::result<waybill::commit_outcome> commit()
        {
            const bool again = (flaw_ == flaw::commit_after_rollback && rolled_back_) ||
                               (flaw_ == flaw::second_commit_writes && committed_);
            if (!data_ && !again) return waybill::commit_outcome::not_applied;
            if (!data_) ++handle_->open;
            const auto d = handle_;
            data_ = d;
            close();
            if (d->down && flaw_ != flaw::outage_is_forgotten) return wrong_store::down();
            if (flaw_ == flaw::commit_lies) return waybill::commit_outcome::applied;
            if (!committed_ && overtaken(*d)) {
                for (const write& w : writes_) {
                    const bool letter = std::holds_alternative<waybill::dead_letter>(w);
                    if (letter && flaw_ == flaw::loser_leaves_letters) apply(*d, flaw_, w);
                }
                return waybill::commit_outcome::not_applied;
            }
            if (flaw_ == flaw::rollback_after_commit) found_ = std::make_shared<tables>(*d);
            if (flaw_ == flaw::whole_file_written) d->checkpoints = file_;
            while (flaw_ == flaw::commit_of_100 && writes_.size() > 100) writes_.pop_back();
            for (const write& w : writes_) apply(*d, flaw_, w);
            for (const write& w : std::exchange(d->leftovers, {})) apply(*d, flaw_, w);
            committed_ = true;
            return waybill::commit_outcome::applied;
        }
        void rollback() noexcept
        {
            if (data_ && flaw_ == flaw::rollback_commits) (void)commit();
            for (const write& w : writes_) {
                const auto* n = std::get_if<noting>(&w);
                if (data_ && n && n->row && flaw_ == flaw::rollback_keeps_attempts)
                    apply(*data_, flaw_, w);
            }
            if (committed_ && flaw_ == flaw::rollback_after_commit)
                static_cast<tables&>(*handle_) = *found_;
            rolled_back_ = data_ != nullptr;
            if (data_ && flaw_ == flaw::leftovers_committed) data_->leftovers = writes_;
            close();
        }

    private:
        friend wrong_store;
        void cut()
        {
            std::vector<write> stay;
            for (const write& w : writes_) {
                const bool kept =
                    (flaw_ == flaw::undo_keeps_removals && std::holds_alternative<row_key>(w)) ||
                    (flaw_ == flaw::undo_keeps_attempts && std::holds_alternative<noting>(w));
                if (stay.size() < mark_ || kept) stay.push_back(w);
            }
            writes_ = std::move(stay);
        }
        /// True if another transaction has changed a row that this one has compared.
        bool overtaken(const data& d) const
        {
            for (const write& w : writes_) {
                const auto* a = std::get_if<2>(&w);
                const bool blind =
                    flaw_ == flaw::reset_is_not_compared || flaw_ == flaw::reset_forgets_the_epoch;
                const bool unchecked =
                    flaw_ == flaw::checked_once || flaw_ == flaw::advance_before_lock;
                if (a && !unchecked && !a->cached && !(a->back && blind) &&
                    compare(d, flaw_, *a) != waybill::advance_outcome::applied) {
                    return true;
                }
                const auto* gone = std::get_if<4>(&w);
                if (gone && flaw_ != flaw::remove_checked_once &&
                    flaw_ != flaw::remove_before_lock && !there(d, flaw_, writes_, &w, *gone)) {
                    return true;
                }
            }
            return false;
        }
        /// Adds a write. In an ended transaction it has no effect.
        void add(write w)
        {
            if (!data_ && flaw_ == flaw::late_writes) apply(*handle_, flaw_, w);
            const auto* a = std::get_if<2>(&w);
            const bool moves = data_ && a && a->from && !a->back;
            if (moves && flaw_ == flaw::dirty_moves) data_->moved[a->key] = {a->to, a->epoch};
            if (data_ && a && !a->back && flaw_ == flaw::dirty_compares)
                data_->moved[a->key] = {a->to, a->epoch};
            const auto* l = std::get_if<1>(&w);
            if (data_ && l && flaw_ == flaw::list_is_dirty) data_->put.push_back(*l);
            if (a && flaw_ == flaw::epoch_at_once) raise_epoch(*handle_, *a);
            writes_.push_back(std::move(w));
        }
        static bool flawed(const transaction& t)
        {
            return t.flaw_ == flaw::moved_from_commits && t.data_;
        }
        void close() noexcept
        {
            if (data_) data_->moved.clear();
            if (data_) data_->put.clear();
            if (data_) --data_->open;
            if (data_)
                std::erase_if(data_->locked,
                              [this](const auto& l) { return l.second == id_.get(); });
            data_.reset();
        }

        std::shared_ptr<data> data_;  // while the transaction is open
        std::shared_ptr<data> handle_;
        std::shared_ptr<tables> found_;  // the tables before its commit
        // the checkpoints at its start
        std::map<waybill::partition_key, waybill::checkpoint> file_;
        bool rolled_back_ = false;
        bool committed_ = false;
        flaw flaw_;
        std::vector<write> writes_;
        std::size_t mark_ = 0;
        int savepoints_ = 0;
        std::unique_ptr<char> id_ = std::make_unique<char>();
    };

    explicit wrong_store(flaw f = flaw::none) : data_(std::make_shared<data>()), flaw_(f) {}

    waybill::result<transaction> begin()
    {
        const bool one = flaw_ == flaw::only_one_transaction || flaw_ == flaw::assign_leaks;
        const bool busy = one && data_->open != 0;
        const bool used_up = flaw_ == flaw::scope_leaks && data_->leaked >= 64;
        if (flaw_ == flaw::begin_fails || busy || used_up)
            return waybill::unexpected(waybill::infrastructure("busy"));
        return transaction(data_, flaw_);
    }

    waybill::result<std::optional<waybill::checkpoint>> load(const waybill::partition_key& key)
    {
        if (data_->down && flaw_ == flaw::outage_is_lost_ownership) {
            return waybill::unexpected(waybill::ownership_lost("the store cannot be reached"));
        }
        if (data_->down && flaw_ != flaw::outage_is_absent) return down();
        std::optional<waybill::checkpoint> found;
        if (data_->down) return found;
        const auto moved = data_->moved.find(known_as(key));
        const auto at = data_->checkpoints.find(known_as(key));
        if (at != data_->checkpoints.end()) found = at->second;
        if (moved != data_->moved.end() && flaw_ == flaw::dirty_moves) found = moved->second;
        if (flaw_ == flaw::load_caches && loaded_.contains(key)) return std::optional(loaded_[key]);
        if (found) loaded_[key] = *found;
        if (!found && flaw_ == flaw::absent_is_zero) found.emplace();
        if (found && found->at.sequence == 0 && flaw_ == flaw::zero_is_absent) found.reset();
        return found;
    }

    waybill::result<waybill::advance_outcome> advance(transaction& tx,
                                                      const waybill::partition_key& key,
                                                      const std::optional<waybill::position>& from,
                                                      const waybill::position& to,
                                                      std::uint64_t epoch)
    {
        advancing a{
            known_as(key), from, {narrowed(to.sequence), offset_under(flaw_, to.offset)}, epoch};
        if (flaw_ == flaw::epoch_forgotten) a.epoch = 0;
        if (flaw_ == flaw::offset_is_utf8 && to.offset.find('\xFF') != std::string::npos)
            return down();
        if (a.from) a.from->sequence = narrowed(a.from->sequence);
        if (data_->down && flaw_ == flaw::outage_is_a_conflict)
            return waybill::advance_outcome::conflict;
        if (data_->down && flaw_ != flaw::outage_is_forgotten) return down();
        const auto outcome = compared(key, a);
        if (outcome == waybill::advance_outcome::conflict && flaw_ == flaw::conflict_is_an_error)
            return down();
        if (outcome == waybill::advance_outcome::stale_epoch &&
            flaw_ == flaw::stale_is_a_conflict) {
            return waybill::advance_outcome::conflict;
        }
        if (outcome != waybill::advance_outcome::applied) return outcome;
        loaded_.erase(key);
        if (flaw_ == flaw::advance_before_lock && !locks(tx, {a.key, 0})) return down();
        if (flaw_ == flaw::advance_at_once) keep(*data_, flaw_, a);
        else tx.add(std::move(a));
        return outcome;
    }

    waybill::result<waybill::advance_outcome> reset(transaction& tx,
                                                    const waybill::partition_key& key,
                                                    const waybill::position& from,
                                                    std::uint64_t epoch)
    {
        advancing a{known_as(key),
                    waybill::position{narrowed(from.sequence), from.offset},
                    {},
                    epoch,
                    true};
        const bool there = data_->checkpoints.contains(a.key);
        if (data_->down && flaw_ == flaw::outage_is_a_conflict)
            return waybill::advance_outcome::conflict;
        if (data_->down && flaw_ != flaw::outage_is_forgotten) return down();
        const flaw as = flaw_ == flaw::reset_from_of_32_bits ? flaw::from_of_32_bits : flaw_;
        const auto outcome = there && flaw_ == flaw::reset_is_not_compared
                                 ? waybill::advance_outcome::applied
                                 : compare(*data_, as, a);
        a.cached = as != flaw_;
        if (outcome != waybill::advance_outcome::applied) return outcome;
        if (flaw_ == flaw::reset_is_to_zero) a.back = false;
        if (flaw_ == flaw::reset_forgets_the_epoch) a.epoch = 0;
        loaded_.erase(key);
        tx.add(std::move(a));
        return outcome;
    }

    waybill::result<void> put(transaction& tx, waybill::dead_letter letter)
    {
        if (flaw_ == flaw::put_is_forgotten) return {};
        if (!takes_texts(flaw_, letter))
            return waybill::unexpected(waybill::permanent("not such a text"));
        letter = letter_under(flaw_, std::move(letter));
        const bool second = data_->letters.contains(row_of(letter.key, letter.at.sequence));
        if (flaw_ == flaw::put_refuses_the_second && second) {
            return waybill::unexpected(waybill::infrastructure("constraint failed: unique"));
        }
        if (flaw_ == flaw::put_at_once) keep(*data_, flaw_, letter);
        else tx.add(std::move(letter));
        return {};
    }

    waybill::result<std::optional<waybill::dead_letter>> find(const waybill::partition_key& key,
                                                              std::uint64_t sequence)
    {
        if (data_->down && flaw_ != flaw::outage_is_absent) return down();
        if (data_->down) return std::optional<waybill::dead_letter>();
        const auto at = data_->letters.find(row_of(key, sequence));
        if (at == data_->letters.end()) return std::optional<waybill::dead_letter>();
        auto found = at->second;
        return std::optional<waybill::dead_letter>(std::move(found));
    }

    waybill::result<bool> remove(transaction& tx, const waybill::partition_key& key,
                                 std::uint64_t sequence)
    {
        if (data_->down && flaw_ == flaw::outage_is_a_conflict) return false;
        if (data_->down && flaw_ != flaw::outage_is_forgotten) return down();
        row at = row_of(key, sequence);
        if (flaw_ == flaw::remove_of_32_bits) at.second &= 0xFFFF'FFFFU;
        if (flaw_ == flaw::remove_always_finds) {
            tx.add(at);
            return true;
        }
        if (!there(*data_, flaw_, tx.writes_, nullptr, at)) return false;
        if (flaw_ == flaw::remove_before_lock && !locks(tx, at)) return down();
        if (flaw_ == flaw::remove_does_nothing) return true;
        if (flaw_ == flaw::remove_at_once) data_->letters.erase(at);
        else tx.add(at);
        return true;
    }

    waybill::result<std::vector<waybill::dead_letter>> list(
        const waybill::partition_key& key, const std::optional<std::uint64_t>& after,
        std::uint64_t most)
    {
        if (data_->down && flaw_ != flaw::outage_is_absent) return down();
        std::vector<waybill::dead_letter> sorted;
        if (data_->down) return sorted;
        std::vector<const waybill::dead_letter*> found;
        const bool any = flaw_ == flaw::list_any_partition || flaw_ == flaw::list_any_group ||
                         flaw_ == flaw::list_of_all_keys;
        const auto first =
            any ? data_->letters.begin() : data_->letters.lower_bound(row_of(key, 0));
        for (auto each = first; each != data_->letters.end(); ++each) {
            const auto& [at, letter] = *each;
            if (!any && at.first != known_as(key)) break;
            const bool other = !matches(flaw_, flaw::list_any_partition, at.first, known_as(key)) &&
                               flaw_ != flaw::list_of_all_keys;
            const bool from_there = flaw_ == flaw::list_from_after;
            if (other || (after && (from_there ? at.second < *after : at.second <= *after)))
                continue;
            found.push_back(&letter);
        }
        const auto before = [this](const waybill::dead_letter* a, const waybill::dead_letter* b) {
            const std::uint64_t x = a->at.sequence;
            const std::uint64_t y = b->at.sequence;
            if (flaw_ == flaw::list_by_digits) return std::to_string(x) < std::to_string(y);
            if (flaw_ == flaw::list_with_signs)
                return static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
            return x < y;
        };
        for (const waybill::dead_letter& d : data_->put) {
            if (d.key == key) found.push_back(&d);
        }
        // A stable sort. libstdc++ 12 warns about the buffer of its own.
        for (auto each = found.begin(); each != found.end(); ++each) {
            std::rotate(std::upper_bound(found.begin(), each, *each, before), each, each + 1);
        }
        if (flaw_ != flaw::list_without_end && found.size() > most) found.resize(most);
        if (flaw_ == flaw::list_of_1000 && found.size() > 1'000) found.resize(1'000);
        for (const waybill::dead_letter* each : found) {
            waybill::dead_letter& d = sorted.emplace_back(*each);
            if (flaw_ != flaw::list_of_all_keys) d.key = key;
            if (flaw_ == flaw::list_cuts_bodies && d.body.size() > 1'024) d.body.resize(1'024);
        }
        return sorted;
    }

    waybill::result<std::optional<waybill::crash_record>> load_crash_record(
        const waybill::partition_key& key)
    {
        if (data_->down && flaw_ != flaw::outage_is_absent) return down();
        if (data_->down) return std::optional<waybill::crash_record>();
        const auto at = data_->attempts.find(attempts_of(key));
        if (at == data_->attempts.end()) return std::optional<waybill::crash_record>();
        return std::optional<waybill::crash_record>(at->second);
    }
    waybill::result<void> store_crash_record(transaction& tx, const waybill::partition_key& key,
                                             waybill::crash_record a)
    {
        if (flaw_ == flaw::note_is_forgotten) return {};
        if (flaw_ == flaw::from_absent_is_zero && !a.from) a.from = 0;
        if (flaw_ == flaw::deaths_of_one_byte) a.deaths &= 0xFFU;
        if (flaw_ == flaw::last_suspect_forgotten) a.to = 0;
        if (flaw_ == flaw::epoch_of_note_forgotten) a.epoch = 0;
        if (flaw_ == flaw::note_at_once) data_->attempts[attempts_of(key)] = a;
        else tx.add(noting{attempts_of(key), a});
        return {};
    }
    waybill::result<void> clear_crash_record(transaction& tx, const waybill::partition_key& key)
    {
        if (flaw_ == flaw::forget_does_nothing) return {};
        if (flaw_ == flaw::forget_needs_a_row && !data_->attempts.contains(attempts_of(key))) {
            return waybill::unexpected(waybill::infrastructure("no such row"));
        }
        if (flaw_ == flaw::forget_misses_own_row && !data_->attempts.contains(attempts_of(key)))
            return {};
        tx.add(noting{attempts_of(key), {}});
        return {};
    }

    /// From now on the store cannot be reached.
    void break_down() { data_->down = true; }
    /// Runs `f` during the next wait for a lock.
    void meanwhile(std::function<void()> f) { data_->meanwhile = std::move(f); }

    const std::vector<std::uint64_t>& records() const { return data_->records; }
    const auto& letters() const { return data_->letters; }

private:
    using row = row_key;

    static waybill::unexpected<waybill::fault> down()
    {
        return waybill::unexpected(waybill::infrastructure("the store cannot be reached"));
    }
    /// Waits for the row while other transactions run. Returns false if it stays locked.
    bool locks(const transaction& tx, const row& at)
    {
        const auto taken = [&] {
            return data_->locked.contains(at) && data_->locked[at] != tx.id_.get();
        };
        if (taken() && data_->meanwhile) std::exchange(data_->meanwhile, {})();
        if (taken()) return false;
        data_->locked[at] = tx.id_.get();
        return true;
    }

    /// True if the letter exists for this transaction, before its write `until`.
    static bool there(const data& d, flaw f, const std::vector<write>& writes, const write* until,
                      const row& at)
    {
        bool is = d.letters.contains(at);
        for (const write& w : writes) {
            if (&w == until) break;
            const auto* put = std::get_if<1>(&w);
            const bool own = put && row_under(f, put->key, put->at.sequence) == at;
            if (own && f != flaw::remove_misses_own_letter) is = true;
            if (const auto* gone = std::get_if<4>(&w); gone && *gone == at) is = false;
        }
        return is;
    }

    static waybill::advance_outcome compare(const data& d, flaw f, const advancing& a)
    {
        const auto stored = d.checkpoints.find(a.key);
        const bool absent = stored == d.checkpoints.end();
        if (f == flaw::no_guard) return waybill::advance_outcome::applied;
        const auto guard = d.epochs.find(a.key);
        if (absent && guard != d.epochs.end() && lower_epoch_under(f, a.epoch, guard->second)) {
            return waybill::advance_outcome::stale_epoch;
        }
        if (!absent && lower_epoch_under(f, a.epoch, stored->second.epoch)) {
            return waybill::advance_outcome::stale_epoch;
        }
        bool same =
            absent ? !a.from
                   : a.from && same_position_under(f, a.from->sequence, stored->second.at.sequence);
        if (absent && a.from && a.from->sequence == 0 && f == flaw::from_zero_is_absent)
            same = true;
        const bool unchanged = !absent && stored->second == waybill::checkpoint{a.to, a.epoch};
        if (unchanged && f == flaw::unchanged_is_a_conflict) same = false;
        if (same && !absent && f == flaw::offset_compared)
            same = a.from->offset == stored->second.at.offset;
        if (f == flaw::absent_is_anything && !a.from) same = true;
        if (f == flaw::only_forward) same = absent || a.to.sequence > stored->second.at.sequence;
        return same ? waybill::advance_outcome::applied : waybill::advance_outcome::conflict;
    }

    /// True if the keys are equal. A flaw ignores the group or the partition, as an incomplete
    /// WHERE does.
    static bool matches(flaw f, flaw any_partition, const waybill::partition_key& a,
                        const waybill::partition_key& b)
    {
        const auto any_group = static_cast<flaw>(static_cast<int>(any_partition) + 1);
        return a.source == b.source && (a.group == b.group || f == any_group) &&
               (a.partition == b.partition || f == any_partition);
    }

    /// Compares with the stored checkpoint, or with the one that this connection loaded.
    waybill::advance_outcome compared(const waybill::partition_key& key, advancing& a)
    {
        if (flaw_ == flaw::epoch_of_group) {
            for (const auto& [k, at] : data_->checkpoints) {
                const bool same_group = k.source == a.key.source && k.group == a.key.group;
                if (same_group && at.epoch > a.epoch) return waybill::advance_outcome::stale_epoch;
            }
        }
        const auto moved = data_->moved.find(a.key);
        a.cached = flaw_ == flaw::compares_with_cache && loaded_.contains(key);
        if (flaw_ == flaw::dirty_compares && moved != data_->moved.end()) {
            a.cached = true;
            const bool same = a.from && a.from->sequence == moved->second.at.sequence;
            return same ? waybill::advance_outcome::applied : waybill::advance_outcome::conflict;
        }
        if (!a.cached) return compare(*data_, flaw_, a);
        if (a.epoch < loaded_[key].epoch) return waybill::advance_outcome::stale_epoch;
        const bool same = a.from && a.from->sequence == loaded_[key].at.sequence;
        return same ? waybill::advance_outcome::applied : waybill::advance_outcome::conflict;
    }

    static void raise_epoch(data& d, const advancing& a)
    {
        const auto at = d.checkpoints.find(a.key);
        if (at != d.checkpoints.end())
            at->second.epoch = waybill::detail::greater(at->second.epoch, a.epoch);
    }

    static void apply(data& d, flaw f, const write& w)
    {
        if (const auto* r = std::get_if<0>(&w)) d.records.push_back(*r);
        if (const auto* l = std::get_if<1>(&w)) keep(d, f, *l);
        if (const auto* a = std::get_if<2>(&w)) keep(d, f, *a);
        if (const auto* n = std::get_if<3>(&w)) keep(d, f, *n);
        const auto* gone = std::get_if<4>(&w);
        const auto meant = [&](const auto& r) {
            return r.first.second == gone->second &&
                   matches(f, flaw::remove_any_partition, r.first.first, gone->first);
        };
        if (gone) std::erase_if(d.letters, meant);
    }

    static void keep(data& d, flaw f, const advancing& a)
    {
        if (!a.back) {
            for (auto& [key, at] : d.checkpoints) {
                const bool as_from = a.from && at.at.sequence == a.from->sequence;
                if (as_from && matches(f, flaw::advance_any_partition, key, a.key))
                    at = {a.to, a.epoch};
            }
            d.checkpoints[a.key] = {a.to, a.epoch};
            return;
        }
        d.checkpoints.erase(a.key);
        d.epochs[a.key] = a.epoch;
    }

    static void keep(data& d, flaw f, const waybill::dead_letter& letter)
    {
        const row at = row_under(f, letter.key, letter.at.sequence);
        const auto old = d.letters.find(at);
        if (old != d.letters.end() && f == flaw::put_merges) {
            old->second = merged_under(f, old->second, letter);
            return;
        }
        if (f == flaw::put_keeps_the_first || f == flaw::put_adds_a_row)
            d.letters.emplace(at, letter);
        else d.letters.insert_or_assign(at, letter);
    }

    static void keep(data& d, flaw f, const noting& n)
    {
        const auto meant = [&](const auto& r) {
            return matches(f, flaw::forget_any_partition, r.first, n.key);
        };
        if (!n.row) std::erase_if(d.attempts, meant);
        else if (f == flaw::note_keeps_the_first) d.attempts.emplace(n.key, *n.row);
        else d.attempts.insert_or_assign(n.key, *n.row);
    }

    waybill::partition_key attempts_of(const waybill::partition_key& key) const
    {
        if (flaw_ == flaw::attempts_by_source) return {key.source, "", ""};
        return known_as(key);
    }

    static row row_under(flaw f, const waybill::partition_key& key, std::uint64_t sequence)
    {
        if (f == flaw::letters_by_sequence) return {{}, sequence};
        return {key_under(f, key), number_under(f, sequence)};
    }
    waybill::partition_key known_as(const waybill::partition_key& k) const
    {
        return key_under(flaw_, k);
    }
    std::uint64_t narrowed(std::uint64_t n) const { return number_under(flaw_, n); }
    row row_of(const waybill::partition_key& k, std::uint64_t n) const
    {
        return row_under(flaw_, k, n);
    }

    std::shared_ptr<data> data_;
    flaw flaw_;
    std::map<waybill::partition_key, waybill::checkpoint> loaded_;  // loaded by this connection
};

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_WRONG_STORE_HPP
