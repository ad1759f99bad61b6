// SPDX-License-Identifier: MIT
//
// ext/json_unknown: the fields of a stored object that a program does not know, kept through it.
//
// A program reads an object into a type of its own, changes that, and writes it. What another
// program, most likely a later version of this one, had put beside would be gone. So what was read
// is laid under what is written: all that was there, that the type does not know, and that the new
// object does not have. A type knows what it writes of what it has read; so a field that is known
// and gone from the new object was taken out on purpose, as an entry of a map is, and stays out.
//
// Objects in objects are compared name by name. Arrays are values as a whole: nobody knows which
// element of the new one was which of the old. So what the type does not know in the elements of an
// array that it knows is gone, even if the array is not changed: keep such things in a map.

#ifndef WAYBILL_EXT_JSON_UNKNOWN_HPP
#define WAYBILL_EXT_JSON_UNKNOWN_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <waybill/ext/json_read.hpp>
#include <waybill/ext/json_text.hpp>
#include <waybill/ext/json_tree.hpp>

namespace waybill::inline v0_1 {

/// Why a value cannot be stored so that it is read again as what it was.
enum class tree_fault : std::uint8_t {
    none,
    not_finite,  ///< JSON has no such number.
    not_utf8,    ///< A text or a name that is not UTF-8.
    not_json,    ///< Bytes, of which JSON knows nothing, or a value that a parser has given up.
    subtype,     ///< Bytes with a subtype, which CBOR says with a tag, and no tag is read.
    too_deep,
};

[[nodiscard]] constexpr std::string_view name(tree_fault f) noexcept
{
    switch (f) {
        case tree_fault::none: return "none";
        case tree_fault::not_finite: return "not_finite";
        case tree_fault::not_utf8: return "not_utf8";
        case tree_fault::not_json: return "not_json";
        case tree_fault::subtype: return "subtype";
        case tree_fault::too_deep: return "too_deep";
    }
    return "?";
}

namespace detail {

/// Whether `then` has a name somewhere that `now` does not have.
[[nodiscard]] inline bool lacks(const nlohmann::json& now, const nlohmann::json& then)
{
    using object = nlohmann::json::object_t;
    const auto* old = then.get_ptr<const object*>();
    const auto* fresh = now.get_ptr<const object*>();
    if (!old || !fresh) return false;
    if (old->size() > fresh->size()) return true;
    std::size_t others = fresh->size() - old->size();  // so many names may be new
    auto at = fresh->begin();  // both stand in the order of their names
    for (const auto& [key, value] : *old) {
        for (; at->first != key; ++at) {
            if (others-- == 0) return true;
        }
        if (value.is_object() && lacks(at->second, value)) return true;
        ++at;
    }
    return false;
}

/// Lays what `then` has, and neither `known` nor `now` has, under `now`.
inline void lay_under(nlohmann::json& now, const nlohmann::json& then, const nlohmann::json& known)
{
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

/// Most texts are, and it is seen eight bytes at a time.
[[nodiscard]] inline bool is_ascii(std::string_view text) noexcept
{
    std::uint64_t all = 0;
    std::uint64_t eight = 0;
    std::uint32_t four = 0;
    for (; text.size() >= sizeof eight; text.remove_prefix(sizeof eight)) {
        std::memcpy(&eight, text.data(), sizeof eight);
        all |= eight;
    }
    if (text.size() >= sizeof four) {
        std::memcpy(&four, text.data(), sizeof four);
        all |= four;
        text.remove_prefix(sizeof four);
    }
    for (const char c : text) all |= static_cast<unsigned char>(c);
    return (all & 0x8080'8080'8080'8080U) == 0;
}

struct tree_check {
    bool json = true;    ///< It is going to be JSON, and not CBOR.
    bool texts = false;  ///< Look at the texts, too. Who writes JSON does so anyway.
    tree_fault fault = tree_fault::none;
    std::string path{};  ///< Of what is wrong.

    [[nodiscard]] bool bad(tree_fault f)
    {
        fault = f;
        return false;
    }

    [[nodiscard]] bool text(const std::string& s)
    {
        return !texts || is_ascii(s) || is_utf8(s) || bad(tree_fault::not_utf8);
    }

    /// What there is most of, and nothing is wrong with.
    [[nodiscard]] bool is_plain(const nlohmann::json& v) const
    {
        if (v.is_number_integer()) return true;
        return v.is_string() && (!texts || is_ascii(*v.get_ptr<const std::string*>()));
    }

    /// False where something is wrong.
    [[nodiscard]] bool operator()(const nlohmann::json& v, std::size_t depth = 0)
    {
        using value_t = nlohmann::json::value_t;
        switch (v.type()) {
            case value_t::object:
                if (depth == deepest_state) return bad(tree_fault::too_deep);
                for (const auto& [key, one] : *v.get_ptr<const nlohmann::json::object_t*>()) {
                    if (text(key) && (is_plain(one) || (*this)(one, depth + 1))) continue;
                    path = path_to({}, in_line(key)) + path;
                    return false;
                }
                return true;
            case value_t::array: {
                if (depth == deepest_state) return bad(tree_fault::too_deep);
                const auto& all = *v.get_ptr<const nlohmann::json::array_t*>();
                for (std::size_t n = 0; n != all.size(); ++n) {
                    if (is_plain(all[n]) || (*this)(all[n], depth + 1)) continue;
                    path = path_to({}, std::to_string(n)) + path;
                    return false;
                }
                return true;
            }
            case value_t::number_float:
                if (!json || std::isfinite(*v.get_ptr<const double*>())) return true;
                return bad(tree_fault::not_finite);
            case value_t::string: return text(*v.get_ptr<const std::string*>());
            case value_t::binary:
                if (json) return bad(tree_fault::not_json);
                return !v.get_ptr<const nlohmann::json::binary_t*>()->has_subtype() ||
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

}  // namespace detail

}  // namespace waybill::inline v0_1

#endif  // WAYBILL_EXT_JSON_UNKNOWN_HPP
