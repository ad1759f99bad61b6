// SPDX-License-Identifier: MIT
//
// ext/json_member: the progress taken off the end of a state's JSON, without a tree.
//
// Where a program of ours has written a state, its member stands last, without a blank, its fields
// in order:
//
//     {"lines":3,"receipt":"r17","waybill":{"begun":"2024-02-29T12:00:00Z","done":2,"total":5}}
//
// Most states are small, and to make a tree of this and take it apart again would be half of the
// work. What is left, with its brace closed, is an object exactly where the whole is one: the same
// members, and this one. So whoever finds anything wrong with the rest, or the name once more in it,
// reads the whole in the ordinary way; and so does whoever meets a failure, or a field that is
// written otherwise or not known.

#ifndef WAYBILL_EXT_JSON_MEMBER_HPP
#define WAYBILL_EXT_JSON_MEMBER_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include <waybill/core/digits.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/ext/json_parts.hpp>
#include <waybill/ext/json_progress.hpp>
#include <waybill/ext/json_tree.hpp>
#include <waybill/session/progress.hpp>

namespace waybill::inline v0_2::detail {

/// Reads the fields of the member, from the front of what is left of it.
class member_reader {
public:
    explicit constexpr member_reader(std::string_view fields) noexcept : left_(fields) {}

    [[nodiscard]] constexpr bool read(session_progress& p) noexcept
    {
        return time("\"begun\":", p.begun) && time("\"changed\":", p.changed) &&
               number("\"done\":", p.done) && number("\"first\":", p.first) &&
               number("\"parked\":", p.parked) && number("\"total\":", p.total) &&
               number("\"tries\":", p.tries) && left_.empty();
    }

private:
    /// Takes the name and what joins it to the field before. False where another one stands there.
    constexpr bool take(std::string_view name) noexcept
    {
        const std::size_t joint = first_ ? 0 : 1;
        if (left_.size() < joint || !left_.substr(joint).starts_with(name)) return false;
        if (!first_ && left_.front() != ',') return false;
        left_.remove_prefix(joint + name.size());
        first_ = false;
        return true;
    }

    // A field that is not there is zero; one that is written otherwise makes `read` false.
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
        const std::optional<wall_time> t = wall_time_in(written);
        to = t.value_or(wall_time{});
        if (!t || written.size() == left_.size()) return false;
        left_.remove_prefix(written.size() + 1);
        return true;
    }

    std::string_view left_;
    bool first_ = true;
};

/// Reads the user's object and the progress behind its last member. False where it all has to be
/// read as a whole; then they are as they were.
[[nodiscard]] inline bool read_cut(std::string_view object, nlohmann::json& user,
                                   session_progress& progress)
{
    constexpr std::string_view begins = ",\"waybill\":{";
    constexpr std::size_t most = 1'024;  // to copy the rest of a larger one is not cheaper
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
    tree_builder tree = tree_of(rest, false);
    // A comma behind nothing would be missed.
    if (problem_of(tree) || tree.root.empty() || tree.root.contains(progress_name)) return false;
    user = std::move(tree.root);
    progress = p;
    return true;
}

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_MEMBER_HPP
