// SPDX-License-Identifier: MIT
//
// ext/json/read: reads values and fields from JSON, and records the first error with its path.
//
//     auto policy = waybill::read_json<waybill::retry_policy>(value);
//     if (!policy) die(waybill::describe(policy.error()));
//
// A `json_place` is a JSON value with its path. `read_value` writes into an object that already has
// its defaults. A caller adds a type with a `read_value` for it, as a template or for one JSON
// type:
//
//     void read_value(const waybill::json_place<nlohmann::json>& at, order& into)
//     {
//         waybill::json_fields(at)
//             .required("lines", into.lines)
//             .optional("note", into.note)
//             .done();
//     }
//
// The first error is kept, and all later reads do nothing. These functions do not throw, whatever
// the value is.

#ifndef WAYBILL_EXT_JSON_READ_HPP
#define WAYBILL_EXT_JSON_READ_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/enum_name.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/text.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/time_text.hpp>
#include <waybill/core/utf8.hpp>
#include <waybill/ext/json/detail/base64.hpp>
#include <waybill/ext/json/detail/enum_text.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/detail/path.hpp>

namespace waybill::inline v0_2 {

/// The first error in a JSON value.
struct json_error {
    /// The kind of error in a JSON value.
    enum class code : std::uint8_t {
        syntax,         ///< The text is not JSON.
        duplicate,      ///< An object contains the same name twice.
        missing,        ///< A required field is not there.
        unknown_field,  ///< A field that is not known.
        wrong,          ///< The value has another type, or is not allowed.
        newer,          ///< A later version of waybill wrote the value.
        too_large,  ///< The text exceeds its `json_limits`: too deep, too many members, too long.
    };
    [[nodiscard]] friend constexpr std::string_view texts_of(code) noexcept
    {
        return "syntax, duplicate, missing, unknown_field, wrong, newer, too_large";
    }

    code kind = code::wrong;
    /// A JSON pointer, as in "/retry/pauses/base"; "" is the document. At most 300 bytes: "/..."
    /// stands for the segments in the middle.
    std::string path{};
    std::string expected{};  ///< The allowed values.
    std::string found{};     ///< The value that was found, shortened.

    friend bool operator==(const json_error&, const json_error&) = default;
};

/// One line: the path, the expected and the found value.
[[nodiscard]] inline std::string describe(const json_error& e)
{
    std::string line = e.path.empty() ? "the document" : e.path;
    line += ": expected ";
    line += e.expected;
    if (!e.found.empty()) {
        line += ", found ";
        line += e.found;
    }
    return line;
}

template <detail::json_value Json>
void to_json(Json& j, const json_error& e)
{
    j = {{"kind", name(e.kind)}};
    detail::put_text(j, "path", e.path);
    detail::put_text(j, "expected", e.expected);
    if (!e.found.empty()) detail::put_text(j, "found", e.found);
}

/// A JSON value, its path, and the error to set.
template <detail::json_value Json>
struct json_place {
    const Json& value;
    std::string path;
    std::optional<json_error>& error;

    void fail(std::string expected, json_error::code p = json_error::code::wrong) const
    {
        if (!error) error = json_error{p, path, std::move(expected), detail::shown(value)};
    }
};
template <detail::json_value Json>
json_place(const Json&, std::string, std::optional<json_error>&) -> json_place<Json>;

/// Reads a number or a count: a whole number in [0, 2^64).
template <detail::json_value Json>
void read_value(const json_place<Json>& at, std::uint64_t& into)
{
    if (const auto n = detail::whole_number(at.value)) into = *n;
    else at.fail("a whole number of at most 64 bits");
}

namespace detail {

/// Reads a size or a limit: a whole number in [0, 2^64), or "unlimited".
template <json_value Json>
void read_size(const json_place<Json>& at, std::uint64_t& into)
{
    const auto* word = at.value.template get_ptr<const std::string*>();
    if (word && *word == "unlimited") into = detail::highest_size;
    else if (const auto n = detail::whole_number(at.value)) into = *n;
    else at.fail("a whole number of at most 64 bits, or \"unlimited\"");
}

}  // namespace detail

template <detail::json_value Json>
void read_value(const json_place<Json>& at, std::uint32_t& into)
{
    const auto n = detail::whole_number(at.value);
    if (n && *n <= UINT32_MAX) into = static_cast<std::uint32_t>(*n);
    else at.fail("a whole number of at most 32 bits");
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, double& into)
{
    const auto* x = at.value.template get_ptr<const typename Json::number_float_t*>();
    const auto* i = at.value.template get_ptr<const typename Json::number_integer_t*>();
    if (const auto n = detail::whole_number(at.value)) into = static_cast<double>(*n);
    else if (i) into = static_cast<double>(*i);
    else if (x && *x - *x == 0) into = *x;  // finite
    else at.fail("a number");
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, bool& into)
{
    if (const auto* b = at.value.template get_ptr<const bool*>()) into = *b;
    else at.fail("true or false");
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, std::string& into)
{
    const auto* s = at.value.template get_ptr<const std::string*>();
    if (s && is_utf8(*s)) into = *s;
    else at.fail("a text in UTF-8");
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, duration& into)
{
    const auto* s = at.value.template get_ptr<const std::string*>();
    if (const auto d = s ? parse_duration(*s) : std::nullopt) into = *d;
    else at.fail("a duration such as \"1.5s\" (ns, us, ms, s, min, h, or \"forever\")");
}

template <detail::json_value Json>
void read_value(const json_place<Json>& at, wall_time& into)
{
    const auto* s = at.value.template get_ptr<const std::string*>();
    if (const auto t = s ? parse_wall_time(*s) : std::nullopt) into = *t;
    else at.fail("a time such as \"2024-02-29T12:00:00.25Z\"");
}

template <detail::json_value Json, detail::named_enum E>
void read_value(const json_place<Json>& at, E& into)
{
    const auto* s = at.value.template get_ptr<const std::string*>();
    if (const auto e = s ? detail::named<E>(*s) : std::nullopt) into = *e;
    else at.fail(detail::names<E>());
}

/// Reads an optional field that is present.
template <detail::json_value Json, class T>
void read_value(const json_place<Json>& at, std::optional<T>& into)
{
    T read{};
    read_value(at, read);
    if (!at.error) into = std::move(read);
}

/// Reads the fields of an object by name. Call `done` last.
template <detail::json_value Json>
class json_fields {
public:
    explicit json_fields(const json_place<Json>& at) : at_(at)
    {
        if (!at.value.is_object()) at.fail("an object");
    }

    /// Reads an optional field. If it is missing, `into` is unchanged.
    template <class T>
    json_fields& optional(std::string_view field, T& into)
    {
        if (const Json* v = find(field)) read_value(place_of(*v, field), into);
        return *this;
    }

    /// Reads a required field. A missing field is an error.
    template <class T>
    json_fields& required(std::string_view field, T& into)
    {
        optional(field, into);
        if (!has_field_) fail_missing(field);
        return *this;
    }

    /// Reads an optional size or limit: a whole number in [0, 2^64), or "unlimited".
    json_fields& optional_size(std::string_view field, std::uint64_t& into)
    {
        if (const Json* v = find(field)) detail::read_size(place_of(*v, field), into);
        return *this;
    }

    json_fields& required_size(std::string_view field, std::uint64_t& into)
    {
        optional_size(field, into);
        if (!has_field_) fail_missing(field);
        return *this;
    }

    json_fields& required_text(std::string_view field, std::string& into)
    {
        optional_text(field, into);
        if (!has_field_) fail_missing(field);
        return *this;
    }

    /// Reads text from `field`, or base64 from the field with "_base64" appended to the name.
    json_fields& optional_text(std::string_view field, std::string& into)
    {
        const std::string encoded = std::string(field) + "_base64";
        const Json* v = find(encoded);
        if (!v) return optional(field, into);
        const auto* s = v->template get_ptr<const std::string*>();
        auto bytes = s ? detail::bytes_in_base64(*s) : std::nullopt;
        if (!bytes) place_of(*v, encoded).fail("base64");
        else into = *std::move(bytes);
        return *this;
    }

    /// Reads the required field "version"; a version greater than `ours` is `newer`. Call it before
    /// the other fields are read: they may have another meaning in a later version.
    json_fields& version(std::uint64_t ours)
    {
        const Json* v = find("version");
        if (!v) {
            fail_missing("version");
            return *this;
        }
        const std::string known = "version " + std::to_string(ours) + " or older";
        const auto n = detail::whole_number(*v);
        if (!n || *n == 0) place_of(*v, "version").fail(known);
        else if (*n > ours) {
            place_of(*v, "version").fail(known + " (update the program)", json_error::code::newer);
        }
        return *this;
    }

    /// Refuses all fields that were not read: the first one is an `unknown_field`. The error lists
    /// those that were read, in their order.
    void done() const
    {
        if (at_.error) return;
        for (auto i = at_.value.begin(); i != at_.value.end(); ++i) {
            if (known(i.key())) continue;
            place_of(i.value(), i.key()).fail(known_fields(), json_error::code::unknown_field);
            return;
        }
    }

private:
    [[nodiscard]] const Json* find(std::string_view field)
    {
        has_field_ = false;
        if (at_.error) return nullptr;
        const auto i = at_.value.find(field);
        if (i == at_.value.end()) return record_field_name(field);
        has_field_ = true;
        record_field_name(field);
        return &*i;
    }

    /// Returns null: the result of `find` for a missing field.
    const Json* record_field_name(std::string_view field)
    {
        read_field_names_.emplace_back(field);
        return nullptr;
    }

    [[nodiscard]] bool known(std::string_view field) const
    {
        for (const std::string& k : read_field_names_) {
            if (k == field) return true;
        }
        return false;
    }

    [[nodiscard]] std::string known_fields() const
    {
        std::string list = "one of the fields ";
        for (const std::string& k : read_field_names_) {
            if (&k != &read_field_names_.front()) list += ", ";
            list += k;
        }
        return list;
    }

    void fail_missing(std::string_view field) const
    {
        if (at_.error) return;
        at_.error = json_error{json_error::code::missing, detail::path_to(at_.path, field),
                               "a value", "nothing"};
    }

    [[nodiscard]] json_place<Json> place_of(const Json& v, std::string_view field) const
    {
        return {v, detail::path_to(at_.path, field), at_.error};
    }

    const json_place<Json>& at_;
    std::vector<std::string> read_field_names_;
    bool has_field_ = false;  // true if the object has the field that was read last
};

namespace detail {

/// A type that can be read from JSON, because it has a `read_value`.
template <class T, class Json = nlohmann::json>
concept json_readable = requires(const json_place<Json>& at, T& into) { read_value(at, into); };

}  // namespace detail

/// Reads a T (a policy or a state) from `value`.
template <class T, detail::json_value Json = nlohmann::json>
    requires detail::json_readable<T, Json>
[[nodiscard]] result<T, json_error> read_json(const Json& value)
{
    T read{};
    std::optional<json_error> error;
    read_value(json_place<Json>{value, {}, error}, read);
    if (error) return unexpected(std::move(*error));
    return read;
}

}  // namespace waybill::inline v0_2

/// Writes an enumerator as its name: nlohmann's library alone would write a number, whose meaning
/// changes when an enumerator is added. `get<E>()` does not compile: nlohmann's own function would
/// accept any number, even one without an enumerator. `read_json` reads enums.
template <waybill::detail::named_enum E>
struct nlohmann::adl_serializer<E> {
    template <class Json>
    static void to_json(Json& j, E e)
    {
        j = waybill::name(e);
    }
    template <class Json>
    static void from_json(const Json&, E&) = delete;
};

#endif  // WAYBILL_EXT_JSON_READ_HPP
