// SPDX-License-Identifier: MIT
//
// pipeline_dead_letter_store: the table of the dead letters of pipeline steps.
//
//     list()           returns all dead letters, in any order, or an error
//     upsert(letter)   inserts a dead letter, or replaces that of the same session and sequence
//                      by `pipeline_dead_letter::merged`
//     mark(letters)    replaces each stored one by `pipeline_dead_letter::with_mark`; a dead letter
//                      that is not stored stays absent
//     remove(letters)  removes the dead letters with these sessions and sequences; a missing one is
//                      no error
//
// A fault other than `none`: a part may be stored, and the caller repeats the call.
//   1. A row is identified by session and sequence number. Sessions are compared byte for byte.
//   2. Texts, bodies and states are stored unchanged, with NUL and bytes that are not UTF-8.
//   3. remove removes all rows or none, or from the last one to the first.
//   4. Optional: removed_at_once() returns the number of rows of one session that remove always
//      removes together (`redrive_plan::options::removed_at_once`).
// testing/pipeline_dead_letter_conformance.hpp tests a table.

#ifndef WAYBILL_SESSION_PIPELINE_DEAD_LETTER_STORE_HPP
#define WAYBILL_SESSION_PIPELINE_DEAD_LETTER_STORE_HPP

#include <concepts>
#include <span>
#include <vector>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/session/pipeline_dead_letter.hpp>

namespace waybill::inline v0_2 {

/// A table of dead letters, with the calls of the head comment.
template <class S>
concept pipeline_dead_letter_store = requires(S& s, const pipeline_dead_letter& letter,
                                              std::span<const pipeline_dead_letter> letters) {
    { s.list() } -> std::same_as<result<std::vector<pipeline_dead_letter>>>;
    { s.upsert(letter) } -> std::same_as<fault>;
    { s.mark(letters) } -> std::same_as<fault>;
    { s.remove(letters) } -> std::same_as<fault>;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_SESSION_PIPELINE_DEAD_LETTER_STORE_HPP
