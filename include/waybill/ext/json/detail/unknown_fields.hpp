// SPDX-License-Identifier: MIT
//
// ext/json/detail/unknown_fields: keeps the fields of a stored object that a program's type does
// not know.
//
// A program reads an object into its type, changes the value and writes it. Fields of another
// program, probably of a later version, would be lost. So a field of the old object that the type
// does not know is added to the new object, unless the new object has it. A type knows the fields
// that it writes after reading the old object. A known field that the new object does not have was
// removed on purpose, such as an entry of a map, and is not added.
//
// Finding these fields costs as much as writing a state, and depends on the old object only. So
// `unknown_part_of` finds them once, and `add_unknown_fields` adds them to each new object.
//
// Nested objects are compared name by name. An element of an array that is equal to the element
// that was read keeps its unknown fields. Other elements may be inserted, removed or changed. A new
// or changed element (at any depth) has none, since they may belong to another element. Elements
// are matched by position: by index if the number of elements is the same, else by distance from
// the front or the end. So elements that look equal may exchange unknown fields. If some of them
// were removed, the others keep unknown fields only if all of them had the same. If reading into
// the type changes the order of elements, as std::set may, or their number, they keep none.

#ifndef WAYBILL_EXT_JSON_DETAIL_UNKNOWN_FIELDS_HPP
#define WAYBILL_EXT_JSON_DETAIL_UNKNOWN_FIELDS_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

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

/// True if two texts of equal length begin and end with equal words. Their length is that of one to
/// two words, so all bytes are compared.
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
[[nodiscard]] bool lacks(const Json& encoded, const Json& stored);

/// True if `lacks` is true for two elements at the same distance from the front or from the end.
template <class Elements>
[[nodiscard]] bool lacks_in_elements(const Elements& encoded, const Elements& stored)
{
    for (std::size_t n = 0; n != stored.size(); ++n) {
        if (!stored[n].is_structured()) continue;
        if (n < encoded.size() && lacks(encoded[n], stored[n])) return true;
        // The index with the same distance from the end is `shifted - stored.size()`.
        const std::size_t shifted = n + encoded.size();
        if (encoded.size() == stored.size() || shifted < stored.size()) continue;
        if (lacks(encoded[shifted - stored.size()], stored[n])) return true;
    }
    return false;
}

/// True if `stored` has a name, at any depth, that `encoded` does not have at the same place.
template <json_value Json>
[[nodiscard]] bool lacks(const Json& encoded, const Json& stored)
{
    using object = typename Json::object_t;
    using array = typename Json::array_t;
    const auto* old = stored.template get_ptr<const object*>();
    const auto* fresh = encoded.template get_ptr<const object*>();
    if (!old || !fresh) {
        const auto* before = stored.template get_ptr<const array*>();
        const auto* after = encoded.template get_ptr<const array*>();
        return before && after && lacks_in_elements(*after, *before);
    }
    if (old->size() > fresh->size()) return true;
    std::size_t new_names_left = fresh->size() - old->size();  // if no old name is missing
    auto at = fresh->begin();                                  // both are sorted by name
    for (const auto& [key, value] : *old) {
        for (; !same_name(at->first, key); ++at) {
            if (new_names_left-- == 0) return true;
        }
        if (value.is_structured() && lacks(at->second, value)) return true;
        ++at;
    }
    return false;
}

/// Finds members of an object by names in ascending order, as objects are sorted by name.
template <class Object>
class member_finder {
public:
    /// `members` may be nullptr: then nothing is found.
    explicit member_finder(Object* members) : members_(members)
    {
        if (members) next_ = members->begin();
    }

    /// The value of the member; nullptr if there is none.
    [[nodiscard]] auto* find(const std::string& name)
    {
        using value = decltype(&next_->second);
        if (!members_) return value{};
        if (next_ == members_->end() || !same_name(next_->first, name)) {
            const auto found = members_->find(name);
            if (found == members_->end()) return value{};
            next_ = found;
        }
        return &(next_++)->second;
    }

private:
    Object* members_;
    decltype(std::declval<Object&>().begin()) next_{};
};

/// The members of an object; nullptr if the value is none, or is nullptr itself.
template <json_value Json>
[[nodiscard]] const typename Json::object_t* members_of(const Json* value)
{
    return value ? value->template get_ptr<const typename Json::object_t*>() : nullptr;
}

/// Adds to `names` the member names in `value`, which the type wrote, at each place. The elements
/// of an array count as one place: `names` has one element for all of them.
template <json_value Json>
void learn_names(Json& names, const Json& value)
{
    if (const auto* members = members_of(&value)) {
        if (members->empty()) return;
        if (names.is_null()) names = Json::object();
        auto* known_names = names.template get_ptr<typename Json::object_t*>();
        if (!known_names) return;  // the first kind counts
        member_finder finder(known_names);
        for (const auto& [key, one] : *members) {
            Json* inner = finder.find(key);
            learn_names(inner ? *inner : names[key], one);
        }
    } else if (value.is_array() && (names.is_null() || names.is_array())) {
        for (const Json& one : value) learn_names(names[0], one);
    }
}

/// True if the type may have written `known` after reading `stored`. Then the members of both are
/// equal, and `names` has no member that only `stored` has.
template <json_value Json>
[[nodiscard]] bool is_made_of(const Json& known, const Json& stored, const Json* names)
{
    const auto* old = members_of(&stored);
    if (old && known.is_object()) {
        member_finder known_members(members_of(&known));
        member_finder known_names(members_of(names));
        for (const auto& [key, value] : *old) {
            const Json* same = known_members.find(key);
            const Json* inner = known_names.find(key);
            if (same ? !is_made_of(*same, value, inner) : inner != nullptr) return false;
        }
        return true;
    }
    if (!known.is_array() || !stored.is_array()) return known == stored;
    if (known.size() != stored.size()) return false;
    const bool named = names && names->is_array() && !names->empty();
    const Json* inner = named ? &(*names)[0] : nullptr;
    for (std::size_t n = 0; n != stored.size(); ++n) {
        if (!is_made_of(known[n], stored[n], inner)) return false;
    }
    return true;
}

/// The members, at any depth, that `stored` has and `known` lacks, where `known` was made of
/// `stored`. Null if there are none; in an array, the elements without such members are null.
template <json_value Json>
[[nodiscard]] Json fields_only_in(const Json& stored, const Json& known)
{
    Json fields;
    if (const auto* old = members_of(&stored)) {
        member_finder known_members(members_of(&known));
        for (const auto& [key, value] : *old) {
            const Json* same = known_members.find(key);
            if (!same) {
                fields[key] = value;
            } else if (value.is_structured()) {
                Json inner = fields_only_in(value, *same);
                if (!inner.is_null()) fields[key] = std::move(inner);
            }
        }
    } else if (stored.is_array()) {
        for (std::size_t n = 0; n != stored.size(); ++n) {
            Json inner = fields_only_in(stored[n], known[n]);
            if (!inner.is_null()) fields[n] = std::move(inner);
        }
    }
    return fields;
}

/// The fields of a stored object that the type does not know.
template <json_value Json>
struct unknown_part {
    Json fields{};  ///< Null if there are none. An array has one element per stored element.
    Json known{};   ///< The known members on the way to `fields`; arrays with all their elements.
};

/// The unknown fields of the elements of `stored`. Moves the elements of `known` to the result.
template <json_value Json>
[[nodiscard]] unknown_part<Json> unknown_part_of_elements(const Json& stored, Json& known)
{
    unknown_part<Json> part;
    if (known.size() != stored.size() || !lacks(known, stored)) return part;
    Json names;
    for (const Json& one : known) learn_names(names, one);
    std::size_t mismatch = stored.size();
    for (std::size_t n = 0; n != stored.size(); ++n) {
        if (is_made_of(known[n], stored[n], &names)) {
            Json inner = fields_only_in(stored[n], known[n]);
            if (!inner.is_null()) part.fields[n] = std::move(inner);
        } else if (mismatch == stored.size()) {
            mismatch = n;
        }
    }
    if (part.fields.is_null()) return part;
    if (mismatch != stored.size()) {
        // The type may have changed the order of the elements.
        for (const Json& one : known) {
            if (is_made_of(one, stored[mismatch], &names)) return {};
        }
    }
    while (part.fields.size() != stored.size()) part.fields.push_back(nullptr);
    part.known = std::move(known);
    return part;
}

/// The fields of `stored` that the type does not know. `known` is what it wrote after reading
/// `stored`; the result takes parts of it.
template <json_value Json>
[[nodiscard]] unknown_part<Json> unknown_part_of(const Json& stored, Json& known)
{
    if (stored.is_array() && known.is_array()) return unknown_part_of_elements(stored, known);
    unknown_part<Json> part;
    if (!stored.is_object() || !known.is_object()) return part;
    for (auto old = stored.begin(); old != stored.end(); ++old) {
        const auto same = known.find(old.key());
        if (same == known.end()) {
            part.fields[old.key()] = old.value();
        } else if (old->is_structured()) {
            unknown_part<Json> inner = unknown_part_of(*old, *same);
            if (inner.fields.is_null()) continue;
            part.fields[old.key()] = std::move(inner.fields);
            part.known[old.key()] = std::move(inner.known);
        }
    }
    return part;
}

/// Adds the members of `fields` to an element that is equal to the one that was read.
template <json_value Json>
void add_to_element(Json& encoded, const Json& fields)
{
    if (fields.is_array()) {
        for (std::size_t n = 0; n != fields.size(); ++n) add_to_element(encoded[n], fields[n]);
    } else if (fields.is_object()) {
        for (auto field = fields.begin(); field != fields.end(); ++field) {
            const auto fresh = encoded.find(field.key());
            if (fresh == encoded.end()) encoded[field.key()] = field.value();
            else add_to_element(*fresh, field.value());
        }
    }
}

/// Adds unknown fields to the elements of `encoded` that are equal to those that were read.
template <json_value Json>
void add_to_elements(Json& encoded, const Json& fields, const Json& known)
{
    if (encoded.size() == known.size()) {
        for (std::size_t n = 0; n != encoded.size(); ++n) {
            if (!fields[n].is_null() && encoded[n] == known[n])
                add_to_element(encoded[n], fields[n]);
        }
        return;
    }
    const std::size_t shorter_size = encoded.size() < known.size() ? encoded.size() : known.size();
    std::size_t equal_first = 0;
    std::size_t equal_last = 0;
    while (equal_first != shorter_size && encoded[equal_first] == known[equal_first]) ++equal_first;
    while (equal_last != shorter_size &&
           encoded[encoded.size() - 1 - equal_last] == known[known.size() - 1 - equal_last])
        ++equal_last;
    const std::size_t removed = known.size() - shorter_size;
    for (std::size_t n = 0; n != equal_first; ++n) {
        const bool matches_both_ends = removed != 0 && n + equal_last >= encoded.size();
        if (!matches_both_ends || fields[n] == fields[n + removed])
            add_to_element(encoded[n], fields[n]);
    }
    const std::size_t not_first = shorter_size - equal_first;
    for (std::size_t n = equal_last < not_first ? equal_last : not_first; n != 0; --n) {
        add_to_element(encoded[encoded.size() - n], fields[fields.size() - n]);
    }
}

/// Adds to `encoded` the unknown fields that it does not have. `known` is that of `unknown_part`.
template <json_value Json>
void add_unknown_fields(Json& encoded, const Json& fields, const Json& known)
{
    if (encoded.is_array() && known.is_array()) return add_to_elements(encoded, fields, known);
    if (!encoded.is_object() || !fields.is_object()) return;
    for (auto field = fields.begin(); field != fields.end(); ++field) {
        const auto same = known.find(field.key());
        const auto fresh = encoded.find(field.key());
        if (same == known.end()) {
            if (fresh == encoded.end()) encoded[field.key()] = field.value();
        } else if (fresh != encoded.end()) {
            add_unknown_fields(*fresh, field.value(), *same);
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
    bool texts = false;  ///< True to check that texts are UTF-8. nlohmann's JSON writer also does.
    tree_fault fault = tree_fault::none;
    std::string path{};  ///< The path of the fault.

    /// Sets the fault. Returns false.
    [[nodiscard]] bool fail(tree_fault f)
    {
        fault = f;
        return false;
    }

    [[nodiscard]] bool check_text(const std::string& s)
    {
        return !texts || is_ascii(s) || is_utf8(s) || fail(tree_fault::not_utf8);
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
                if (depth == max_state_depth) return fail(tree_fault::too_deep);
                for (const auto& [key, one] : *v.template get_ptr<const object*>()) {
                    if (check_text(key) && (is_plain(one) || (*this)(one, depth + 1))) continue;
                    path = shortened_path(path_to({}, as_one_line(key)) + path);
                    return false;
                }
                return true;
            case value_t::array: {
                if (depth == max_state_depth) return fail(tree_fault::too_deep);
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
                return fail(tree_fault::not_finite);
            case value_t::string: return check_text(*v.template get_ptr<const std::string*>());
            case value_t::binary:
                if (json) return fail(tree_fault::not_json);
                return !v.template get_ptr<const typename Json::binary_t*>()->has_subtype() ||
                       fail(tree_fault::subtype);
            case value_t::discarded: return fail(tree_fault::not_json);
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
