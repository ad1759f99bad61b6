// SPDX-License-Identifier: MIT
//
// json_array: exact bytes of JSON documents that travel together, in an array or a line each.
//
// The first document of an array costs itself, all others a comma more; a line costs its end. Both
// are framings over the size of a document, which is a number, whatever has a size(), or what a
// function of the caller's says:
//
//     namespace json = waybill::wire::json;
//     json::array<> a;                                             // [one,two,three]
//     json::lines<> l;                                             // one\ntwo\nthree\n
//     json::lines bulk{[](const doc& d) { return json::bulk_size(d.action, d.source); }};
//
// Source: RFC 8259 for arrays without spaces, https://www.rfc-editor.org/rfc/rfc8259; for lines,
// https://github.com/ndjson/ndjson-spec. Proved in json.prop.cpp: arrays by nlohmann-json's
// dump(), lines by a writer of our own.

#ifndef WAYBILL_WIRE_JSON_ARRAY_HPP
#define WAYBILL_WIRE_JSON_ARRAY_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/saturating.hpp>

namespace waybill::inline v0_2::wire::json {

/// The size of what is a size, or has one.
struct length {
    template <countable N>
    [[nodiscard]] constexpr std::uint64_t operator()(N n) const noexcept
    {
        return as_size(n);
    }
    template <class Document>
        requires requires(const Document& d) { { d.size() } -> countable; }
    [[nodiscard]] constexpr std::uint64_t operator()(const Document& d) const noexcept
    {
        return as_size(d.size());
    }
};

/// Documents in brackets, with commas between them and no spaces. Constant time beside `size`.
template <class F = length>
struct array {
    F size{};  ///< Bytes of a document.

    /// Whether there is one to put a comma after.
    struct state {
        bool any = false;

        friend bool operator==(const state&, const state&) = default;
    };

    template <class Document>
    [[nodiscard]] constexpr std::uint64_t envelope(const Document&) const noexcept
    {
        return 2;
    }
    template <class Document>
        requires requires(const F& f, const Document& d) { { f(d) } -> countable; }
    [[nodiscard]] constexpr std::uint64_t delta(const state& s, const Document& d) const
    {
        return saturating_add(s.any ? 1 : 0, as_size(size(d)));
    }
    template <class Document>
    constexpr void push(state& s, const Document&) const noexcept
    {
        s.any = true;
    }
};

array() -> array<>;
template <class F>
array(F) -> array<F>;

/// Documents with a line end after each, as in NDJSON, or whatever ends an item with one byte.
/// Constant time beside `size`.
template <class F = length>
struct lines {
    F size{};  ///< Bytes of a document, without its line end.

    /// Nothing: what a line adds does not depend on those before it.
    struct state {
        friend bool operator==(const state&, const state&) = default;
    };

    template <class Document>
    [[nodiscard]] constexpr std::uint64_t envelope(const Document&) const noexcept
    {
        return 0;
    }
    template <class Document>
        requires requires(const F& f, const Document& d) { { f(d) } -> countable; }
    [[nodiscard]] constexpr std::uint64_t delta(const state&, const Document& d) const
    {
        return saturating_add(1, as_size(size(d)));
    }
    template <class Document>
    constexpr void push(state&, const Document&) const noexcept
    {
    }
};

lines() -> lines<>;
template <class F>
lines(F) -> lines<F>;

/// An action and its document as two lines of an Elasticsearch or OpenSearch bulk request, without
/// the second line's end, which `lines` adds. Constant time. Documented; source: "Bulk API",
/// https://www.elastic.co/guide/en/elasticsearch/reference/current/docs-bulk.html.
[[nodiscard]] constexpr std::uint64_t bulk_size(std::string_view action,
                                                std::string_view source) noexcept
{
    return saturating_add(saturating_add(action.size(), 1), source.size());
}

}  // namespace waybill::inline v0_2::wire::json

#endif  // WAYBILL_WIRE_JSON_ARRAY_HPP
