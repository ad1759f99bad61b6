// SPDX-License-Identifier: MIT
//
// wrong_store: a small store that is right, or wrong in one named way.
//
// What the conformance suite and the fault enumeration are worth is how many of these they catch.
// Handles share their data, as connections to one database do; effects are numbers.

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

#include <waybill/consume/stores.hpp>

namespace tests_support {

enum class flaw : std::uint8_t {
    none,
    only_forward,           // `to > stored` in place of compare-and-set
    no_guard,               // whatever is stored is overwritten
    absent_is_anything,     // from absent is not compared
    checked_once,           // compared at advance, and not again at commit
    no_epoch,               // epochs are stored and not compared
    epoch_forgotten,        // epochs are not stored
    offset_compared,
    offset_dropped,
    absent_is_zero,         // an absent checkpoint reads as one at 0
    zero_is_absent,         // and the other way round
    sequence_32_bits,
    sequence_is_a_double,
    group_forgotten,        // keys are told apart by source and partition
    key_concatenated,       // ("a", "bc") is ("ab", "c")
    key_ignores_case,
    put_is_forgotten,
    put_keeps_the_first,
    put_refuses_the_second,
    put_adds_a_row,         // and find answers with the first
    put_at_once,            // outside of the transaction
    advance_at_once,
    letters_by_sequence,    // whatever the key
    text_ends_at_nul,
    text_of_64_kb,
    text_is_utf8,
    tries_forgotten,
    time_in_seconds,
    undo_does_nothing,
    undo_removes_all,
    release_removes,
    rollback_commits,
    scope_commits,          // a transaction that goes out of scope commits
    commit_lies,            // says applied and applies nothing
    commit_after_rollback,
    moved_from_commits,
    advance_before_lock,    // compares, and waits then for whoever has the row
    remove_before_lock,
    outage_is_absent,       // what cannot be read is not there
    outage_is_a_conflict,   // nor is it what a write expects
    outage_is_forgotten,    // and what is written is lost
    begin_fails,
    assign_commits,         // what is assigned over
    assign_leaks,           // and there is one writer
    note_is_forgotten,
    note_keeps_the_first,
    note_at_once,
    forget_does_nothing,
    forget_needs_a_row,     // an error where there is none
    from_absent_is_zero,
    deaths_of_one_byte,
    last_suspect_forgotten,
    epoch_of_note_forgotten,
    attempts_by_source,     // whatever group and partition
    remove_does_nothing,
    remove_always_finds,
    remove_at_once,
    remove_checked_once,    // found at remove, and not again at commit
    list_by_digits,         // 100 before 11
    list_with_signs,        // 2^63 first
    list_from_after,        // `after` included
    list_of_all_keys,
    list_without_end,       // `most` ignored
    kept_forgotten,
    size_forgotten,
    checksum_forgotten,
    advance_any_partition,  // changes the rows of other keys beside its own
    advance_any_group,
    remove_any_partition,
    remove_any_group,
    list_any_partition,     // and the answer says the key that was asked for
    list_any_group,
    forget_any_partition,
    forget_any_group,
    reset_forgets_the_epoch,
    reset_is_to_zero,       // in place of in front of the first event
    reset_is_not_compared,
    only_one_transaction,   // no flaw: like a database with one writer, the second begin is refused
};

class wrong_store {
    struct advancing {
        waybill::partition_key key;
        std::optional<waybill::position> from;
        waybill::position to;
        std::uint64_t epoch;
        bool back = false;  // to the beginning
    };
    struct noting {
        waybill::partition_key key;
        std::optional<waybill::attempt> row;
    };
    using row_key = std::pair<waybill::partition_key, std::uint64_t>;
    using write = std::variant<std::uint64_t, waybill::dead_letter, advancing, noting, row_key>;
    struct data {
        std::map<waybill::partition_key, waybill::checkpoint> checkpoints;
        std::map<waybill::partition_key, std::uint64_t> epochs;  // of those that were reset
        std::map<std::pair<waybill::partition_key, std::uint64_t>, waybill::dead_letter> letters;
        std::map<waybill::partition_key, waybill::attempt> attempts;
        std::vector<std::uint64_t> records;
        int open = 0;
        bool down = false;
        std::map<row_key, const char*> locked;  // by the transaction with this address
        std::function<void()> meanwhile;        // what others do while one waits for a lock
    };

public:
    class transaction {
    public:
        transaction(const std::shared_ptr<data>& d, flaw f) : data_(d), flaw_(f) { ++data_->open; }
        transaction(transaction&& other) noexcept
            : data_(flawed(other) ? other.data_ : std::exchange(other.data_, nullptr)),
              flaw_(other.flaw_), writes_(flawed(other) ? other.writes_ : std::move(other.writes_)),
              mark_(other.mark_), id_(flawed(other) ? std::make_unique<char>() : std::move(other.id_))
        {
        }
        transaction& operator=(transaction&& other) noexcept
        {
            if (data_ && flaw_ == flaw::assign_commits) (void)commit();
            if (flaw_ == flaw::assign_leaks) data_.reset();
            close();
            data_ = std::exchange(other.data_, nullptr);
            flaw_ = other.flaw_;
            writes_ = std::move(other.writes_);
            mark_ = other.mark_;
            id_ = std::move(other.id_);
            return *this;
        }
        ~transaction()
        {
            if (data_ && flaw_ == flaw::scope_commits) (void)commit();
            close();
        }

        void record(std::uint64_t r) { writes_.emplace_back(std::in_place_index<0>, r); }

        waybill::result<void> savepoint()
        {
            mark_ = writes_.size();
            return {};
        }
        waybill::result<void> release()
        {
            if (flaw_ == flaw::release_removes) cut();
            return {};
        }
        waybill::result<void> undo()
        {
            if (flaw_ == flaw::undo_removes_all) writes_.clear();
            else if (flaw_ != flaw::undo_does_nothing) cut();
            return {};
        }

        waybill::result<waybill::commit_outcome> commit()
        {
            if (!data_) {
                if (flaw_ != flaw::commit_after_rollback || !rolled_back_) {
                    return waybill::commit_outcome::not_applied;
                }
                data_ = rolled_back_;
                ++data_->open;
            }
            const auto d = data_;
            close();
            if (d->down && flaw_ != flaw::outage_is_forgotten) return waybill::unexpected(waybill::infrastructure("down"));
            if (flaw_ == flaw::commit_lies) return waybill::commit_outcome::applied;
            for (const write& w : writes_) {
                const auto* a = std::get_if<2>(&w);
                const bool blind = flaw_ == flaw::reset_is_not_compared || flaw_ == flaw::reset_forgets_the_epoch;
                if (a && flaw_ != flaw::checked_once && flaw_ != flaw::advance_before_lock && !(a->back && blind) &&
                    compare(*d, flaw_, *a) != waybill::advance_outcome::applied) {
                    return waybill::commit_outcome::not_applied;
                }
                const auto* gone = std::get_if<4>(&w);
                if (gone && flaw_ != flaw::remove_checked_once && flaw_ != flaw::remove_before_lock && !there(*d, writes_, &w, *gone)) {
                    return waybill::commit_outcome::not_applied;
                }
            }
            for (const write& w : writes_) {
                if (const auto* n = std::get_if<3>(&w)) keep(*d, flaw_, *n);
                if (const auto* x = std::get_if<4>(&w)) {
                    std::erase_if(d->letters, [&](const auto& r) {
                        return r.first.second == x->second &&
                               matches(flaw_, flaw::remove_any_partition, r.first.first, x->first);
                    });
                }
                if (const auto* r = std::get_if<0>(&w)) d->records.push_back(*r);
                if (const auto* l = std::get_if<1>(&w)) keep(*d, flaw_, *l);
                if (const auto* a = std::get_if<2>(&w)) keep(*d, flaw_, *a);
            }
            return waybill::commit_outcome::applied;
        }
        void rollback() noexcept
        {
            if (data_ && flaw_ == flaw::rollback_commits) (void)commit();
            if (flaw_ == flaw::commit_after_rollback) rolled_back_ = data_;
            close();
        }

    private:
        friend wrong_store;
        void cut()
        {
            while (writes_.size() > mark_) writes_.pop_back();
        }
        static bool flawed(const transaction& t) { return t.flaw_ == flaw::moved_from_commits && t.data_; }
        void close() noexcept
        {
            if (data_) --data_->open;
            if (data_) std::erase_if(data_->locked, [this](const auto& l) { return l.second == id_.get(); });
            data_.reset();
        }

        std::shared_ptr<data> data_;
        std::shared_ptr<data> rolled_back_;
        flaw flaw_;
        std::vector<write> writes_;
        std::size_t mark_ = 0;
        std::unique_ptr<char> id_ = std::make_unique<char>();
    };

    explicit wrong_store(flaw f = flaw::none) : data_(std::make_shared<data>()), flaw_(f) {}

    waybill::result<transaction> begin()
    {
        const bool one = flaw_ == flaw::only_one_transaction || flaw_ == flaw::assign_leaks;
        const bool busy = one && data_->open != 0;
        if (flaw_ == flaw::begin_fails || busy) return waybill::unexpected(waybill::infrastructure("busy"));
        return transaction(data_, flaw_);
    }

    waybill::result<std::optional<waybill::checkpoint>> load(const waybill::partition_key& key)
    {
        if (data_->down && flaw_ != flaw::outage_is_absent) return down();
        std::optional<waybill::checkpoint> found;
        if (data_->down) return found;
        const auto at = data_->checkpoints.find(known_as(key));
        if (at != data_->checkpoints.end()) found = at->second;
        if (!found && flaw_ == flaw::absent_is_zero) found.emplace();
        if (found && found->at.sequence == 0 && flaw_ == flaw::zero_is_absent) found.reset();
        return found;
    }

    waybill::result<waybill::advance_outcome> advance(transaction& tx, const waybill::partition_key& key,
                                                      const std::optional<waybill::position>& from,
                                                      const waybill::position& to, std::uint64_t epoch)
    {
        advancing a{known_as(key), from, {narrowed(to.sequence), to.offset}, epoch};
        if (flaw_ == flaw::epoch_forgotten) a.epoch = 0;
        if (flaw_ == flaw::offset_dropped) a.to.offset.clear();
        if (a.from) a.from->sequence = narrowed(a.from->sequence);
        if (data_->down && flaw_ == flaw::outage_is_a_conflict) return waybill::advance_outcome::conflict;
        if (data_->down && flaw_ != flaw::outage_is_forgotten) return down();
        const auto outcome = compare(*data_, flaw_, a);
        if (outcome != waybill::advance_outcome::applied) return outcome;
        if (flaw_ == flaw::advance_before_lock && !locks(tx, {a.key, 0})) return down();
        if (flaw_ == flaw::advance_at_once) keep(*data_, flaw_, a);
        else tx.writes_.emplace_back(std::in_place_index<2>, std::move(a));
        return outcome;
    }

    waybill::result<waybill::advance_outcome> reset(transaction& tx, const waybill::partition_key& key,
                                                    const waybill::position& from, std::uint64_t epoch)
    {
        advancing a{known_as(key), waybill::position{narrowed(from.sequence), from.offset}, {}, epoch, true};
        const bool there = data_->checkpoints.contains(a.key);
        const auto outcome = there && flaw_ == flaw::reset_is_not_compared ? waybill::advance_outcome::applied
                                                                           : compare(*data_, flaw_, a);
        if (outcome != waybill::advance_outcome::applied) return outcome;
        if (flaw_ == flaw::reset_is_to_zero) a.back = false;
        if (flaw_ == flaw::reset_forgets_the_epoch) a.epoch = 0;
        tx.writes_.emplace_back(std::in_place_index<2>, std::move(a));
        return outcome;
    }

    waybill::result<void> put(transaction& tx, waybill::dead_letter letter)
    {
        if (flaw_ == flaw::put_is_forgotten) return {};
        for (std::string* text : {&letter.reason, &letter.body}) {
            if (flaw_ == flaw::text_ends_at_nul) *text = text->c_str();
            if (flaw_ == flaw::text_of_64_kb && text->size() > 65'536) text->resize(65'536);
            if (flaw_ == flaw::text_is_utf8 && text->find('\xFF') != std::string::npos) {
                return waybill::unexpected(waybill::permanent("not UTF-8"));
            }
        }
        if (flaw_ == flaw::offset_dropped) letter.at.offset.clear();
        if (flaw_ == flaw::tries_forgotten) letter.tries = 0;
        if (flaw_ == flaw::kept_forgotten) letter.kept = {};
        if (flaw_ == flaw::size_forgotten) letter.size = 0;
        if (flaw_ == flaw::checksum_forgotten) letter.checksum = 0;
        if (flaw_ == flaw::time_in_seconds) {
            const std::int64_t ns = letter.parked.since_epoch().count();
            letter.parked = waybill::wall_time::at(waybill::duration::seconds(ns / 1'000'000'000));
        }
        const bool second = data_->letters.contains(row_of(letter.key, letter.at.sequence));
        if (flaw_ == flaw::put_refuses_the_second && second) {
            return waybill::unexpected(waybill::infrastructure("constraint failed: unique"));
        }
        if (flaw_ == flaw::put_at_once) keep(*data_, flaw_, letter);
        else tx.writes_.emplace_back(std::move(letter));
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

    waybill::result<bool> remove(transaction& tx, const waybill::partition_key& key, std::uint64_t sequence)
    {
        if (data_->down && flaw_ == flaw::outage_is_a_conflict) return false;
        if (data_->down && flaw_ != flaw::outage_is_forgotten) return down();
        const row at = row_of(key, sequence);
        if (flaw_ == flaw::remove_always_finds) {
            tx.writes_.emplace_back(std::in_place_index<4>, at);
            return true;
        }
        if (!there(*data_, tx.writes_, nullptr, at)) return false;
        if (flaw_ == flaw::remove_before_lock && !locks(tx, at)) return down();
        if (flaw_ == flaw::remove_does_nothing) return true;
        if (flaw_ == flaw::remove_at_once) data_->letters.erase(at);
        else tx.writes_.emplace_back(std::in_place_index<4>, at);
        return true;
    }

    waybill::result<std::vector<waybill::dead_letter>> list(const waybill::partition_key& key,
                                                            const std::optional<std::uint64_t>& after,
                                                            std::uint64_t most)
    {
        if (data_->down && flaw_ != flaw::outage_is_absent) return down();
        std::vector<waybill::dead_letter> found;
        if (data_->down) return found;
        for (const auto& [at, letter] : data_->letters) {
            const bool other = !matches(flaw_, flaw::list_any_partition, at.first, known_as(key)) &&
                               flaw_ != flaw::list_of_all_keys;
            const bool from_there = flaw_ == flaw::list_from_after;
            if (other || (after && (from_there ? at.second < *after : at.second <= *after))) continue;
            found.push_back(letter);
            if (!other && flaw_ != flaw::list_of_all_keys) found.back().key = key;
        }
        const auto before = [this](const waybill::dead_letter& a, const waybill::dead_letter& b) {
            const std::uint64_t x = a.at.sequence;
            const std::uint64_t y = b.at.sequence;
            if (flaw_ == flaw::list_by_digits) return std::to_string(x) < std::to_string(y);
            if (flaw_ == flaw::list_with_signs) return static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
            return x < y;
        };
        std::vector<waybill::dead_letter> sorted;  // equal ones stay as they came
        for (waybill::dead_letter& d : found) {
            sorted.insert(std::upper_bound(sorted.begin(), sorted.end(), d, before), std::move(d));
        }
        if (flaw_ != flaw::list_without_end && sorted.size() > most) sorted.resize(most);
        return sorted;
    }

    waybill::result<std::optional<waybill::attempt>> attempted(const waybill::partition_key& key)
    {
        if (data_->down && flaw_ != flaw::outage_is_absent) return down();
        if (data_->down) return std::optional<waybill::attempt>();
        const auto at = data_->attempts.find(attempts_of(key));
        if (at == data_->attempts.end()) return std::optional<waybill::attempt>();
        return std::optional<waybill::attempt>(at->second);
    }
    waybill::result<void> note(transaction& tx, const waybill::partition_key& key, waybill::attempt a)
    {
        if (flaw_ == flaw::note_is_forgotten) return {};
        if (flaw_ == flaw::from_absent_is_zero && !a.from) a.from = 0;
        if (flaw_ == flaw::deaths_of_one_byte) a.deaths &= 0xFFU;
        if (flaw_ == flaw::last_suspect_forgotten) a.to = 0;
        if (flaw_ == flaw::epoch_of_note_forgotten) a.epoch = 0;
        if (flaw_ == flaw::note_at_once) data_->attempts[attempts_of(key)] = a;
        else tx.writes_.emplace_back(noting{attempts_of(key), a});
        return {};
    }
    waybill::result<void> forget(transaction& tx, const waybill::partition_key& key)
    {
        if (flaw_ == flaw::forget_does_nothing) return {};
        if (flaw_ == flaw::forget_needs_a_row && !data_->attempts.contains(attempts_of(key))) {
            return waybill::unexpected(waybill::infrastructure("no such row"));
        }
        tx.writes_.emplace_back(noting{attempts_of(key), {}});
        return {};
    }

    /// From now on it cannot be reached.
    void break_down() { data_->down = true; }
    /// What happens while somebody waits for a lock.
    void meanwhile(std::function<void()> f) { data_->meanwhile = std::move(f); }

    const std::vector<std::uint64_t>& records() const { return data_->records; }
    const auto& letters() const { return data_->letters; }

private:
    using row = row_key;

    static waybill::unexpected<waybill::fault> down()
    {
        return waybill::unexpected(waybill::infrastructure("the store cannot be reached"));
    }
    /// Waits for the row while others go on; false if it is not let go of.
    bool locks(const transaction& tx, const row& at)
    {
        const auto taken = [&] { return data_->locked.contains(at) && data_->locked[at] != tx.id_.get(); };
        if (taken() && data_->meanwhile) std::exchange(data_->meanwhile, {})();
        if (taken()) return false;
        data_->locked[at] = tx.id_.get();
        return true;
    }

    /// Is the letter there for this transaction, before its write `until`?
    static bool there(const data& d, const std::vector<write>& writes, const write* until, const row& at)
    {
        bool is = d.letters.contains(at);
        for (const write& w : writes) {
            if (&w == until) break;
            const auto* put = std::get_if<1>(&w);
            if (put && put->key == at.first && put->at.sequence == at.second) is = true;
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
        if (absent && guard != d.epochs.end() && f != flaw::no_epoch && guard->second > a.epoch) {
            return waybill::advance_outcome::stale_epoch;
        }
        if (!absent && f != flaw::no_epoch && stored->second.epoch > a.epoch) {
            return waybill::advance_outcome::stale_epoch;
        }
        bool same = absent ? !a.from : a.from && a.from->sequence == stored->second.at.sequence;
        if (same && !absent && f == flaw::offset_compared) same = a.from->offset == stored->second.at.offset;
        if (f == flaw::absent_is_anything && !a.from) same = true;
        if (f == flaw::only_forward) same = absent || a.to.sequence > stored->second.at.sequence;
        return same ? waybill::advance_outcome::applied : waybill::advance_outcome::conflict;
    }

    /// The same key, or what a WHERE without its group or its partition takes for it.
    static bool matches(flaw f, flaw any_partition, const waybill::partition_key& a,
                        const waybill::partition_key& b)
    {
        const auto any_group = static_cast<flaw>(static_cast<int>(any_partition) + 1);
        return a.source == b.source && (a.group == b.group || f == any_group) &&
               (a.partition == b.partition || f == any_partition);
    }

    static void keep(data& d, flaw f, const advancing& a)
    {
        if (!a.back) {
            for (auto& [key, at] : d.checkpoints) {
                const bool as_from = a.from && at.at.sequence == a.from->sequence;
                if (as_from && matches(f, flaw::advance_any_partition, key, a.key)) at = {a.to, a.epoch};
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
        if (f == flaw::put_keeps_the_first || f == flaw::put_adds_a_row) d.letters.emplace(at, letter);
        else d.letters.insert_or_assign(at, letter);
    }

    static void keep(data& d, flaw f, const noting& n)
    {
        const auto meant = [&](const auto& r) { return matches(f, flaw::forget_any_partition, r.first, n.key); };
        if (!n.row) std::erase_if(d.attempts, meant);
        else if (f == flaw::note_keeps_the_first) d.attempts.emplace(n.key, *n.row);
        else d.attempts.insert_or_assign(n.key, *n.row);
    }

    waybill::partition_key attempts_of(const waybill::partition_key& key) const
    {
        if (flaw_ == flaw::attempts_by_source) return {key.source, "", ""};
        return known_as(key);
    }

    static waybill::partition_key key_under(flaw f, waybill::partition_key key)
    {
        if (f == flaw::group_forgotten) key.group.clear();
        if (f == flaw::key_concatenated) return {key.source + key.group + key.partition, "", ""};
        if (f == flaw::key_ignores_case) {
            for (char& c : key.source) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
        return key;
    }
    static std::uint64_t narrowed_under(flaw f, std::uint64_t n)
    {
        if (f == flaw::sequence_32_bits) return n & 0xFFFF'FFFFU;
        if (f == flaw::sequence_is_a_double) return n & ~((n >> 53U) | (n >> 54U));
        return n;
    }
    static row row_under(flaw f, const waybill::partition_key& key, std::uint64_t sequence)
    {
        if (f == flaw::letters_by_sequence) return {{}, sequence};
        return {key_under(f, key), narrowed_under(f, sequence)};
    }
    waybill::partition_key known_as(const waybill::partition_key& k) const { return key_under(flaw_, k); }
    std::uint64_t narrowed(std::uint64_t n) const { return narrowed_under(flaw_, n); }
    row row_of(const waybill::partition_key& k, std::uint64_t n) const { return row_under(flaw_, k, n); }

    std::shared_ptr<data> data_;
    flaw flaw_;
};

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_WRONG_STORE_HPP
