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
// closed by a brace, is a valid object exactly if the whole text is one. The caller reads the whole
// text instead if the rest is invalid or contains the name again, or if the member contains a
// failure, an unknown field or a field in another notation.

#ifndef WAYBILL_EXT_JSON_DETAIL_PROGRESS_SCAN_HPP
#define WAYBILL_EXT_JSON_DETAIL_PROGRESS_SCAN_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

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
class member_reader {
public:
    explicit constexpr member_reader(std::string_view fields) noexcept : left_(fields) {}

    [[nodiscard]] constexpr bool read(session_progress& p) noexcept
    {
        return time("\"begun\":", p.begun) && time("\"changed\":", p.changed) &&
               number("\"done\":", p.done) && number("\"first\":", p.first) &&
               number("\"parked\":", p.dead_lettered) && number("\"total\":", p.total) &&
               number("\"tries\":", p.tries) && left_.empty();
    }

private:
    /// Consumes `name` and the comma before it. Returns false if the next field has another name.
    constexpr bool take(std::string_view name) noexcept
    {
        const std::size_t joint = first_ ? 0 : 1;
        if (left_.size() < joint || !left_.substr(joint).starts_with(name)) return false;
        if (!first_ && left_.front() != ',') return false;
        left_.remove_prefix(joint + name.size());
        first_ = false;
        return true;
    }

    // An absent field keeps its default. If a field has another notation, `read` returns false.
    [[nodiscard]] constexpr bool number(std::string_view name, std::uint64_t& to) noexcept
    {
        if (!take(name)) return true;
        const std::string_view digits = left_.substr(0, left_.find(','));
        if (digits.starts_with('0')) return false;
        const std::optional<std::uint64_t> n = digits_in(digits);
        to = n.value_or(0);
        left_.remove_prefix(digits.size());
        return n.has_value();
    }

    [[nodiscard]] constexpr bool time(std::string_view name, wall_time& to) noexcept
    {
        if (!take(name)) return true;
        if (!left_.starts_with('"')) return false;
        left_.remove_prefix(1);
        const std::string_view written = left_.substr(0, left_.find('"'));
        const std::optional<wall_time> t = parse_wall_time(written);
        to = t.value_or(wall_time{});
        if (!t || written.size() == left_.size()) return false;
        left_.remove_prefix(written.size() + 1);
        return true;
    }

    std::string_view left_;
    bool first_ = true;
};

/// Reads the user's object and the progress after its last member. Returns false if the whole text
/// has to be read instead; then `user` and `progress` are unchanged.
template <json_value Json>
[[nodiscard]] bool read_cut(std::string_view object, Json& user, session_progress& progress)
{
    constexpr std::string_view begins = ",\"waybill\":{";
    constexpr std::size_t most = 1'024;  // copying the rest of a larger object is not cheaper
    if (object.size() > most || !object.ends_with("}}")) return false;
    const std::size_t at = object.rfind(begins);
    if (at == object.npos) return false;
    std::string_view fields = object.substr(at + begins.size());
    fields.remove_suffix(lesser(fields.size(), 2));
    session_progress p;
    if (!member_reader(fields).read(p)) return false;
    std::string rest;
    rest.reserve(at + 1);
    rest = object.substr(0, at);
    rest += '}';
    tree_builder<Json> tree = tree_of<Json>(rest, false);
    // An empty rest means a comma without a member before it, which only a full parse refuses.
    if (problem_of(tree) || tree.root.empty() || tree.root.contains(progress_name)) return false;
    user = std::move(tree.root);
    progress = p;
    return true;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_PROGRESS_SCAN_HPP
