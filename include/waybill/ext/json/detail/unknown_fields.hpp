// SPDX-License-Identifier: MIT
//
// ext/json/detail/unknown_fields: keeps the fields of a stored object that a program's type does
// not know.
//
// A program reads an object into its type, changes the value and writes it. Fields of another
// program, probably of a later version, would be lost. So the new object gets each field of the old
// one that the type does not know and that the new object does not have. A type knows the fields
// that it writes after reading the old object. A known field that the new object does not have was
// removed on purpose, such as an entry of a map, and is not added.
//
// Nested objects are compared name by name. An element of an array keeps its unknown fields if it
// is equal to the element that was read, even if other elements are inserted, removed or changed. A
// new or changed element (at any depth) has none, since they may belong to another element.
// Elements are matched by position: the same index if the number of elements is the same, else the
// same distance from the front or the end. So elements that look equal may exchange unknown fields.
// If some of them were removed, the others keep only the fields that all of them had. If the type
// changes the order, as std::set may, or the number of elements that it read, these elements keep
// nothing.

#ifndef WAYBILL_EXT_JSON_DETAIL_UNKNOWN_FIELDS_HPP
#define WAYBILL_EXT_JSON_DETAIL_UNKNOWN_FIELDS_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <waybill/core/enum_name.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/detail/stored_tree.hpp>
#include <waybill/ext/json/read.hpp>

namespace waybill::inline v0_2::detail {

/// The reason why a value would not be read back as it was stored.
enum class tree_fault : std::uint8_t {
    none,
    not_finite,  ///< A number that JSON cannot represent.
    not_utf8,    ///< A text or a name that is not UTF-8.
    not_json,    ///< Binary data, which JSON cannot represent, or a value discarded by a parser.
    subtype,     ///< Binary data with a subtype: CBOR writes a tag, and tags are not read.
    too_deep,
};

[[nodiscard]] constexpr std::string_view texts_of(tree_fault) noexcept
{
    return "none, not_finite, not_utf8, not_json, subtype, too_deep";
}

/// True if two texts of equal length begin and end with equal words. They have one to two words.
template <class Word>
[[nodiscard]] bool same_ends(std::string_view a, std::string_view b) noexcept
{
    Word of_a[2] = {};
    Word of_b[2] = {};
    std::memcpy(of_a, a.data(), sizeof(Word));
    std::memcpy(of_b, b.data(), sizeof(Word));
    std::memcpy(of_a + 1, a.data() + a.size() - sizeof(Word), sizeof(Word));
    std::memcpy(of_b + 1, b.data() + b.size() - sizeof(Word), sizeof(Word));
    return ((of_a[0] ^ of_b[0]) | (of_a[1] ^ of_b[1])) == 0;
}

/// Compares without memcmp: names are short and numerous, and the call would cost more.
[[nodiscard]] inline bool same_name(std::string_view a, std::string_view b) noexcept
{
    if (a.size() != b.size()) return false;
    if (a.size() < sizeof(std::uint32_t) || a.size() > 2 * sizeof(std::uint64_t)) return a == b;
    const bool is_long = a.size() >= sizeof(std::uint64_t);
    return is_long ? same_ends<std::uint64_t>(a, b) : same_ends<std::uint32_t>(a, b);
}

template <json_value Json>
[[nodiscard]] bool lacks(const Json& now, const Json& then);

/// True if `lacks` is true for two elements at the same distance from the front or from the end.
template <class Elements>
[[nodiscard]] bool lacks_in_elements(const Elements& now, const Elements& then)
{
    for (std::size_t n = 0; n != then.size(); ++n) {
        if (!then[n].is_structured()) continue;
        if (n < now.size() && lacks(now[n], then[n])) return true;
        const std::size_t end = n + now.size();  // minus then.size(): same distance from the end
        if (now.size() == then.size() || end < then.size()) continue;
        if (lacks(now[end - then.size()], then[n])) return true;
    }
    return false;
}

/// True if `then` has a name, at any depth, that `now` does not have at the same place.
template <json_value Json>
[[nodiscard]] bool lacks(const Json& now, const Json& then)
{
    using object = typename Json::object_t;
    using array = typename Json::array_t;
    const auto* old = then.template get_ptr<const object*>();
    const auto* fresh = now.template get_ptr<const object*>();
    if (!old || !fresh) {
        const auto* before = then.template get_ptr<const array*>();
        const auto* after = now.template get_ptr<const array*>();
        return before && after && lacks_in_elements(*after, *before);
    }
    if (old->size() > fresh->size()) return true;
    std::size_t others = fresh->size() - old->size();  // number of new names at most
    auto at = fresh->begin();                          // both are sorted by name
    for (const auto& [key, value] : *old) {
        for (; !same_name(at->first, key); ++at) {
            if (others-- == 0) return true;
        }
        if (value.is_structured() && lacks(at->second, value)) return true;
        ++at;
    }
    return false;
}

/// Adds the names that the type writes at each place, learnt from a value that it wrote: the
/// members of an object and, for an array, the members of all its elements together.
template <json_value Json>
void learn_names(Json& names, const Json& value)
{
    if (const auto* members = value.template get_ptr<const typename Json::object_t*>()) {
        if (!names.is_null() && !names.is_object()) return;  // a place of several kinds: the first
        for (const auto& [key, one] : *members) learn_names(names[key], one);
    } else if (value.is_array() && (names.is_null() || names.is_array())) {
        for (const Json& one : value) learn_names(names[0], one);
    }
}

/// True if the type may have made `known` of `then`: members of both are equal, and the type does
/// not write a member that only `then` has at this place of any other element.
template <json_value Json>
[[nodiscard]] bool is_made_of(const Json& known, const Json& then,
                              const Json* names)
{
    if (known.is_object() && then.is_object()) {
        const bool named = names && names->is_object();
        for (auto old = then.begin(); old != then.end(); ++old) {
            const auto same = known.find(old.key());
            const Json* inner = nullptr;
            if (named) {
                const auto name = names->find(old.key());
                if (name != names->end()) inner = &*name;
            }
            if (same == known.end() ? inner != nullptr : !is_made_of(*same, *old, inner)) {
                return false;
            }
        }
        return true;
    }
    if (!known.is_array() || !then.is_array()) return known == then;
    if (known.size() != then.size()) return false;
    const bool named = names && names->is_array() && !names->empty();
    const Json* inner = named ? &(*names)[0] : nullptr;
    for (std::size_t n = 0; n != then.size(); ++n) {
        if (!is_made_of(known[n], then[n], inner)) return false;
    }
    return true;
}

/// Adds the members that only `then` has. `now` was made of `then`.
template <json_value Json>
void add_unknown(Json& now, const Json& then)
{
    if (then.is_array()) {
        for (std::size_t n = 0; n != then.size(); ++n) add_unknown(now[n], then[n]);
    } else if (then.is_object()) {
        for (auto old = then.begin(); old != then.end(); ++old) {
            const auto fresh = now.find(old.key());
            if (fresh == now.end()) now[old.key()] = old.value();
            else add_unknown(*fresh, old.value());
        }
    }
}

/// Adds the members that `then` has and `known` lacks to the elements of `now` that are unchanged.
template <json_value Json>
void lay_under_elements(Json& now, const Json& then,
                        const Json& known)
{
    if (known.size() != then.size()) return;
    Json names;
    for (const Json& one : known) learn_names(names, one);

    // If an element does not match the element at its index, the type may have changed the order.
    std::size_t odd = 0;
    while (odd != then.size() && is_made_of(known[odd], then[odd], &names)) ++odd;
    if (odd != then.size()) {
        for (const Json& one : known) {
            if (is_made_of(one, then[odd], &names)) return;
        }
    }
    const auto lay = [&](std::size_t to, std::size_t from) {
        if (is_made_of(known[from], then[from], &names)) add_unknown(now[to], then[from]);
    };
    if (now.size() == known.size()) {
        for (std::size_t n = 0; n != now.size(); ++n) {
            if (now[n] == known[n]) lay(n, n);
        }
        return;
    }
    const std::size_t most = now.size() < known.size() ? now.size() : known.size();
    std::size_t front = 0;
    std::size_t back = 0;
    while (front != most && now[front] == known[front]) ++front;
    while (back != most && now[now.size() - 1 - back] == known[known.size() - 1 - back]) ++back;
    const std::size_t gone = known.size() - most;
    for (std::size_t n = 0; n != front; ++n) {
        const bool either = gone != 0 && n + back >= now.size();  // matches from both ends
        if (!either || then[n] == then[n + gone]) lay(n, n);
    }
    for (std::size_t n = back < most - front ? back : most - front; n != 0; --n) {
        lay(now.size() - n, known.size() - n);
    }
}

/// Adds to `now` the members of `then` that neither `known` nor `now` has.
template <json_value Json>
void lay_under(Json& now, const Json& then, const Json& known)
{
    if (now.is_array() && then.is_array() && known.is_array()) {
        if (lacks(now, then)) lay_under_elements(now, then, known);
        return;
    }
    if (!now.is_object() || !then.is_object() || !known.is_object()) return;
    for (auto old = then.begin(); old != then.end(); ++old) {
        const auto same = known.find(old.key());
        const auto fresh = now.find(old.key());
        if (same == known.end()) {
            if (fresh == now.end()) now[old.key()] = old.value();
        } else if (fresh != now.end()) {
            lay_under(*fresh, old.value(), *same);
        }
    }
}

/// True if all bytes are ASCII, as in most texts. Reads eight bytes at a time; the last eight may
/// overlap those before.
[[nodiscard]] inline bool is_ascii(std::string_view text) noexcept
{
    std::uint64_t all = 0;
    std::uint64_t eight = 0;
    std::uint32_t four = 0;
    const char* at = text.data();
    if (text.size() >= sizeof eight) {
        for (std::size_t left = text.size(); left > sizeof eight; left -= sizeof eight) {
            std::memcpy(&eight, at, sizeof eight);
            all |= eight;
            at += sizeof eight;
        }
        std::memcpy(&eight, text.data() + text.size() - sizeof eight, sizeof eight);
        all |= eight;
    } else if (text.size() >= sizeof four) {
        std::memcpy(&four, at, sizeof four);
        all |= four;
        std::memcpy(&four, at + text.size() - sizeof four, sizeof four);
        all |= four;
    } else {
        for (const char c : text) all |= static_cast<unsigned char>(c);
    }
    return (all & 0x8080'8080'8080'8080U) == 0;
}

struct tree_check {
    bool json = true;    ///< True if the value will be JSON, false if it will be CBOR.
    bool texts = false;  ///< True to check texts, too. nlohmann's JSON writer checks them itself.
    tree_fault fault = tree_fault::none;
    std::string path{};  ///< The path of the fault.

    [[nodiscard]] bool bad(tree_fault f)
    {
        fault = f;
        return false;
    }

    [[nodiscard]] bool text(const std::string& s)
    {
        return !texts || is_ascii(s) || is_utf8(s) || bad(tree_fault::not_utf8);
    }

    /// A fast check: true for the most frequent values that have no fault.
    template <json_value Json>
    [[nodiscard]] bool is_plain(const Json& v) const
    {
        if (v.is_string()) return !texts || is_ascii(*v.template get_ptr<const std::string*>());
        if (v.is_number_float()) {
            return !json || std::isfinite(*v.template get_ptr<const double*>());
        }
        return v.is_number_integer() || v.is_boolean();
    }

    /// Returns false if the value has a fault.
    template <json_value Json>
    [[nodiscard]] bool operator()(const Json& v, std::size_t depth = 0)
    {
        using value_t = typename Json::value_t;
        using object = typename Json::object_t;
        switch (v.type()) {
            case value_t::object:
                if (depth == max_state_depth) return bad(tree_fault::too_deep);
                for (const auto& [key, one] : *v.template get_ptr<const object*>()) {
                    if (text(key) && (is_plain(one) || (*this)(one, depth + 1))) continue;
                    path = shortened_path(path_to({}, in_line(key)) + path);
                    return false;
                }
                return true;
            case value_t::array: {
                if (depth == max_state_depth) return bad(tree_fault::too_deep);
                const auto& all = *v.template get_ptr<const typename Json::array_t*>();
                for (std::size_t n = 0; n != all.size(); ++n) {
                    if (is_plain(all[n]) || (*this)(all[n], depth + 1)) continue;
                    path = shortened_path(path_to({}, std::to_string(n)) + path);
                    return false;
                }
                return true;
            }
            case value_t::number_float:
                if (!json || std::isfinite(*v.template get_ptr<const double*>())) return true;
                return bad(tree_fault::not_finite);
            case value_t::string: return text(*v.template get_ptr<const std::string*>());
            case value_t::binary:
                if (json) return bad(tree_fault::not_json);
                return !v.template get_ptr<const typename Json::binary_t*>()->has_subtype() ||
                       bad(tree_fault::subtype);
            case value_t::discarded: return bad(tree_fault::not_json);
            case value_t::null:
            case value_t::boolean:
            case value_t::number_integer:
            case value_t::number_unsigned: break;
        }
        return true;
    }
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_UNKNOWN_FIELDS_HPP
