// SPDX-License-Identifier: MIT
//
// ext/json/detail/progress_scan: reads the progress from the end of a state's JSON without building
// a tree for it.
//
// In a state that this library wrote, the member "waybill" is the last one, without blanks, and its
// fields are in order:
//
//     {"lines":3,"receipt":"r17","waybill":{"begun":"2024-02-29T12:00:00Z","done":2,"total":5}}
//
// Most states are small: a tree of this member would be half of the work. The rest of the text,
// closed by a brace, is a valid object if and only if the whole text is one. The caller reads the
// whole text instead if the rest is invalid, is empty or contains the name again. It also does so
// if the member contains a failure, an unknown field or a field in another notation.

#ifndef WAYBILL_EXT_JSON_DETAIL_PROGRESS_SCAN_HPP
#define WAYBILL_EXT_JSON_DETAIL_PROGRESS_SCAN_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <waybill/core/detail/digits.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/detail/progress_member.hpp>
#include <waybill/ext/json/detail/state_parts.hpp>
#include <waybill/ext/json/detail/stored_tree.hpp>
#include <waybill/session/progress.hpp>

namespace waybill::inline v0_2::detail {

/// Reads the fields of the member in the order in which they are written.
class progress_scanner {
public:
    explicit constexpr progress_scanner(std::string_view fields) noexcept : rest_(fields) {}

    [[nodiscard]] constexpr bool read(session_progress& p) noexcept
    {
        return number("\"arrived\":", p.arrived) && time("\"begun\":", p.begun) &&
               time("\"changed\":", p.changed) && number("\"done\":", p.done) &&
               number("\"first\":", p.first) && number("\"parked\":", p.dead_lettered) &&
               number("\"seen\":", p.arrived_sequence) && number("\"total\":", p.total) &&
               number("\"tries\":", p.tries) && rest_.empty();
    }

private:
    /// Consumes `name` and the comma before it. Returns false if the next field has another name.
    constexpr bool take_name(std::string_view name) noexcept
    {
        const std::size_t comma_bytes = first_ ? 0 : 1;
        if (rest_.size() < comma_bytes) return false;
        if (!rest_.substr(comma_bytes).starts_with(name)) return false;
        if (!first_ && rest_.front() != ',') return false;
        rest_.remove_prefix(comma_bytes + name.size());
        first_ = false;
        return true;
    }

    // An absent field keeps its default. If a field has another notation, `read` returns false.
    [[nodiscard]] constexpr bool number(std::string_view name, std::uint64_t& to) noexcept
    {
        if (!take_name(name)) return true;
        const std::string_view digits = rest_.substr(0, rest_.find(','));
        if (digits.starts_with('0')) return false;
        const std::optional<std::uint64_t> n = digits_in(digits);
        to = n.value_or(0);
        rest_.remove_prefix(digits.size());
        return n.has_value();
    }

    [[nodiscard]] constexpr bool time(std::string_view name, wall_time& to) noexcept
    {
        if (!take_name(name)) return true;
        if (!rest_.starts_with('"')) return false;
        rest_.remove_prefix(1);
        const std::string_view written = rest_.substr(0, rest_.find('"'));
        const std::optional<wall_time> t = parse_wall_time(written);
        to = t.value_or(wall_time{});
        if (!t || written.size() == rest_.size()) return false;
        rest_.remove_prefix(written.size() + 1);
        return true;
    }

    std::string_view rest_;
    bool first_ = true;
};

/// Reads a small object whose last member is the progress, in the form in which it is written.
/// Returns false if the whole text has to be parsed instead; then `user` and `progress` are
/// unchanged.
template <json_value Json>
[[nodiscard]] bool read_fast_path(std::string_view object, Json& user, session_progress& progress)
{
    constexpr std::string_view member_start = ",\"waybill\":{";
    constexpr std::string_view member_end = "}}";  // of the member and of the object
    // Copying the rest of a larger object is not cheaper than parsing the whole text.
    constexpr std::size_t max_object_bytes = 1'024;
    if (object.size() > max_object_bytes || !object.ends_with(member_end)) return false;
    const std::size_t member_at = object.rfind(member_start);
    if (member_at == object.npos) return false;
    std::string_view fields = object.substr(member_at + member_start.size());
    fields.remove_suffix(lesser(fields.size(), member_end.size()));
    session_progress p;
    if (!progress_scanner(fields).read(p)) return false;
    std::string rest;
    rest.reserve(member_at + 1);
    rest = object.substr(0, member_at);
    rest += '}';
    constexpr bool cbor = false;
    tree_builder<Json> tree = tree_of<Json>(rest, cbor);
    // An empty rest means a comma without a member before it, which only a full parse refuses.
    if (parse_problem_of(tree) || tree.root.empty()) return false;
    if (tree.root.contains(progress_name)) return false;
    user = std::move(tree.root);
    progress = p;
    return true;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_PROGRESS_SCAN_HPP
