// SPDX-License-Identifier: MIT
//
// store_flaws: the flaws of a wrong_store, and their effects on keys and values.

#ifndef WAYBILL_TESTS_SUPPORT_STORE_FLAWS_HPP
#define WAYBILL_TESTS_SUPPORT_STORE_FLAWS_HPP

#include <cstddef>
#include <cstdint>
#include <string>

#include <waybill/consume/stores.hpp>

namespace tests_support {

enum class flaw : std::uint8_t {
    none,
    only_forward,        // `to > stored` in place of compare-and-set
    no_guard,            // a stored checkpoint is overwritten without comparing
    absent_is_anything,  // an expected absence is not compared
    checked_once,        // compared at advance, and not again at commit
    no_epoch,            // epochs are stored and not compared
    epoch_forgotten,     // epochs are not stored
    offset_compared,
    offset_dropped,
    absent_is_zero,  // an absent checkpoint reads as one at 0
    zero_is_absent,  // a checkpoint at 0 reads as absent
    sequence_32_bits,
    sequence_is_a_double,
    group_forgotten,   // the group is not a part of the key
    key_concatenated,  // ("a", "bc") is ("ab", "c")
    key_ignores_case,
    put_is_forgotten,
    put_keeps_the_first,
    put_refuses_the_second,
    put_adds_a_row,  // find returns the first row
    put_at_once,     // outside of the transaction
    advance_at_once,
    letters_by_sequence,  // one letter a sequence number, for all keys
    text_ends_at_nul,
    text_of_64_kb,
    text_is_utf8,
    tries_forgotten,
    time_in_seconds,
    undo_does_nothing,
    undo_removes_all,
    release_removes,
    rollback_commits,
    scope_commits,  // the destructor of an open transaction commits
    commit_lies,    // returns applied and applies nothing
    commit_after_rollback,
    moved_from_commits,
    advance_before_lock,  // compares before it waits for the lock of the row
    remove_before_lock,
    outage_is_absent,      // in an outage, reads return nothing
    outage_is_a_conflict,  // in an outage, writes report a conflict
    outage_is_lost_ownership,
    outage_is_forgotten,  // in an outage, writes succeed and are lost
    begin_fails,
    assign_commits,  // assigning over an open transaction commits it
    assign_leaks,    // an overwritten transaction stays open, and only one can be open
    note_is_forgotten,
    note_keeps_the_first,
    note_at_once,
    forget_does_nothing,
    forget_needs_a_row,  // an error without a row
    from_absent_is_zero,
    deaths_of_one_byte,
    last_suspect_forgotten,
    epoch_of_note_forgotten,
    attempts_by_source,  // not by group and partition
    remove_does_nothing,
    remove_always_finds,
    remove_at_once,
    remove_checked_once,  // found at remove, not compared again at commit
    list_by_digits,       // 100 before 11
    list_with_signs,      // 2^63 first
    list_from_after,      // `after` is included
    list_of_all_keys,
    list_without_end,  // `most` ignored
    kept_forgotten,
    size_forgotten,
    checksum_forgotten,
    advance_any_partition,  // changes the rows of other keys beside its own
    advance_any_group,
    remove_any_partition,
    remove_any_group,
    list_any_partition,  // the result has the requested key
    list_any_group,
    forget_any_partition,
    forget_any_group,
    reset_forgets_the_epoch,
    reset_is_to_zero,  // instead of before the first event
    reset_is_not_compared,
    // Flaws that change texts and numbers.
    reason_ends_at_nul,
    reason_trimmed,  // trailing blanks are dropped
    reason_of_4096_bytes,
    empty_reason_is_null,  // a column that takes no NULL
    line_ends_changed,     // of a body
    offset_of_255_bytes,   // of a checkpoint
    letter_offset_of_255_bytes,
    offset_ends_at_nul,
    offset_is_utf8,      // other bytes are refused
    offset_is_a_number,  // if it has digits only: 007 is 7
    kind_of_one_bit,     // permanent, or else transient
    kept_of_one_bit,     // nothing, or else body
    put_merges,          // an empty reason or time keeps the stored one
    epochs_of_32_bits,   // in comparisons
    epochs_with_sign,
    from_of_32_bits,
    from_is_a_double,
    // Flaws that take one key for another.
    key_trimmed,
    key_joined,  // with a slash between its parts
    key_ends_at_nul,
    key_of_255_bytes,
    partition_is_a_number,  // if it has digits only: 01 is 1
    partition_ignores_case,
    // Flaws of results.
    from_zero_is_absent,
    conflict_is_an_error,
    stale_is_a_conflict,
    // like a count of changed rows, without rows that an UPDATE left as they were
    unchanged_is_a_conflict,
    list_of_1000,  // at most 1000, for any limit
    list_cuts_bodies,
    // Flaws of transactions.
    rollback_keeps_attempts,
    undo_keeps_removals,
    undo_keeps_attempts,
    forget_misses_own_row,  // a row that was written in the same transaction
    remove_misses_own_letter,
    second_commit_writes,
    rollback_after_commit,
    late_writes,  // writes into an ended transaction take effect at once
    scope_leaks,  // each leaks one of 64 connections
    // Flaws of connections.
    dirty_moves,  // a moved checkpoint is visible before the commit
    load_caches,
    compares_with_cache,
    // a commit writes all checkpoints that its transaction read at its start
    whole_file_written,
    // Flaws that show only after the transaction or outside of it.
    reset_from_of_32_bits,
    remove_of_32_bits,
    epoch_of_group,        // one epoch for all partitions of a group
    epoch_at_once,         // an epoch is stored without the commit
    commit_of_100,         // the writes after the first 100 are lost
    savepoints_of_64,      // at most 64 in a transaction, then an error
    leftovers_committed,   // rolled back writes are written by the next commit
    loser_leaves_letters,  // a commit with a conflict writes its letters
    list_is_dirty,         // list returns uncommitted letters
    dirty_compares,        // advance compares with uncommitted checkpoints
    only_one_transaction,  // no flaw: like a database with one writer, the second begin is refused
};

/// The number as a store with this flaw has it.
inline std::uint64_t number_under(flaw f, std::uint64_t n)
{
    if (f == flaw::sequence_32_bits) return n & 0xFFFF'FFFFU;
    if (f == flaw::sequence_is_a_double) return n & ~((n >> 53U) | (n >> 54U));
    return n;
}

/// True if it treats the two as the same position.
inline bool same_position_under(flaw f, std::uint64_t from, std::uint64_t stored)
{
    if (f == flaw::from_of_32_bits)
        return static_cast<std::uint32_t>(from) == static_cast<std::uint32_t>(stored);
    if (f == flaw::from_is_a_double)
        return static_cast<double>(from) == static_cast<double>(stored);
    return from == stored;
}

/// True if it treats the first as the lower epoch.
inline bool lower_epoch_under(flaw f, std::uint64_t epoch, std::uint64_t stored)
{
    if (f == flaw::no_epoch) return false;
    if (f == flaw::epochs_of_32_bits)
        return static_cast<std::uint32_t>(epoch) < static_cast<std::uint32_t>(stored);
    if (f == flaw::epochs_with_sign)
        return static_cast<std::int64_t>(epoch) < static_cast<std::int64_t>(stored);
    return epoch < stored;
}

inline void trim_end(std::string& text)
{
    while (!text.empty() && text.back() == ' ') text.pop_back();
}

/// Changes a text of digits as a conversion to a number and back does.
inline void as_number(std::string& text)
{
    if (text.find_first_not_of("0123456789") != std::string::npos) return;
    while (text.size() > 1 && text.front() == '0') text.erase(0, 1);
}

inline void without_case(std::string& text)
{
    for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The key under which it stores a row of `key`.
inline waybill::partition_key key_under(flaw f, waybill::partition_key key)
{
    if (f == flaw::group_forgotten) key.group.clear();
    if (f == flaw::key_concatenated) return {key.source + key.group + key.partition, "", ""};
    if (f == flaw::key_joined) return {key.source + "/" + key.group + "/" + key.partition, "", ""};
    if (f == flaw::key_ignores_case) without_case(key.source);
    if (f == flaw::partition_ignores_case) without_case(key.partition);
    if (f == flaw::partition_is_a_number) as_number(key.partition);
    for (std::string* part : {&key.source, &key.group, &key.partition}) {
        if (f == flaw::key_trimmed) trim_end(*part);
        if (f == flaw::key_ends_at_nul) *part = part->c_str();
        if (f == flaw::key_of_255_bytes && part->size() > 255) part->resize(255);
    }
    return key;
}

/// The offset of a checkpoint as that store has it.
inline std::string offset_under(flaw f, std::string offset)
{
    if (f == flaw::offset_dropped) offset.clear();
    if (f == flaw::offset_of_255_bytes && offset.size() > 255) offset.resize(255);
    if (f == flaw::offset_ends_at_nul) offset = offset.c_str();
    if (f == flaw::offset_is_a_number) as_number(offset);
    return offset;
}

/// Changes the texts of a dead letter as that store does.
inline void change_texts(flaw f, waybill::dead_letter& letter)
{
    for (std::string* text : {&letter.reason, &letter.body}) {
        if (f == flaw::text_ends_at_nul) *text = text->c_str();
        if (f == flaw::text_of_64_kb && text->size() > 65'536) text->resize(65'536);
    }
    if (f == flaw::reason_ends_at_nul) letter.reason = letter.reason.c_str();
    if (f == flaw::reason_trimmed) trim_end(letter.reason);
    if (f == flaw::reason_of_4096_bytes) letter.reason = letter.reason.substr(0, 4'096);
    if (f == flaw::offset_dropped) letter.at.offset.clear();
    if (f == flaw::letter_offset_of_255_bytes && letter.at.offset.size() > 255)
        letter.at.offset.resize(255);
    if (f == flaw::line_ends_changed) {
        for (std::size_t at = 0; (at = letter.body.find("\r\n", at)) != std::string::npos;)
            letter.body.erase(at, 1);
    }
}

/// The dead letter as that store has it.
inline waybill::dead_letter letter_under(flaw f, waybill::dead_letter letter)
{
    change_texts(f, letter);
    if (f == flaw::tries_forgotten) letter.tries = 0;
    if (f == flaw::kept_forgotten) letter.kept = {};
    if (f == flaw::kept_of_one_bit && letter.kept != waybill::dead_letter_body::discard)
        letter.kept = {};
    if (f == flaw::kind_of_one_bit && letter.kind != waybill::fault_kind::permanent) {
        letter.kind = waybill::fault_kind::transient;
    }
    if (f == flaw::size_forgotten) letter.size = 0;
    if (f == flaw::checksum_forgotten) letter.checksum = 0;
    if (f == flaw::time_in_seconds) {
        const std::int64_t ns = letter.dead_lettered_at.since_epoch().count();
        letter.dead_lettered_at =
            waybill::wall_time::at(waybill::duration::seconds(ns / 1'000'000'000));
    }
    return letter;
}

/// True if it accepts the texts of a letter.
inline bool takes_texts(flaw f, const waybill::dead_letter& letter)
{
    const auto odd = [](const std::string& text) { return text.find('\xFF') != std::string::npos; };
    if (f == flaw::text_is_utf8) return !odd(letter.reason) && !odd(letter.body);
    return f != flaw::empty_reason_is_null || !letter.reason.empty();
}

/// The stored letter after it has replaced another one.
inline waybill::dead_letter merged_under(flaw f, const waybill::dead_letter& old,
                                         waybill::dead_letter letter)
{
    if (f != flaw::put_merges) return letter;
    if (letter.reason.empty()) letter.reason = old.reason;
    if (letter.occurred == waybill::wall_time{}) letter.occurred = old.occurred;
    if (letter.dead_lettered_at == waybill::wall_time{})
        letter.dead_lettered_at = old.dead_lettered_at;
    return letter;
}

}  // namespace tests_support

#endif  // WAYBILL_TESTS_SUPPORT_STORE_FLAWS_HPP
