// SPDX-License-Identifier: MIT
//
// json_array: exact size in bytes of JSON documents in one array, or in lines.
//
//     namespace json = waybill::wire::json;
//     json::array<> a;                                             // [one,two,three]
//     json::lines<> l;                                             // one\ntwo\nthree\n
//     json::lines bulk{[](const doc& d) { return json::bulk_size(d.action, d.source); }};
//
// Both are framings. In an array, the brackets add two bytes, and each document after the first
// adds a comma. In lines, each document adds a line end. A document is a number of bytes or an
// object with size(). For any other type, the caller passes a function that returns the size.
//
// Source: RFC 8259 for arrays without spaces, https://www.rfc-editor.org/rfc/rfc8259; for lines,
// https://github.com/ndjson/ndjson-spec. Tested in json.prop.cpp: arrays against nlohmann-json's
// dump(), lines against an independent writer.

#ifndef WAYBILL_WIRE_JSON_ARRAY_HPP
#define WAYBILL_WIRE_JSON_ARRAY_HPP

#include <cstdint>
#include <string_view>

#include <waybill/core/detail/saturating.hpp>

namespace waybill::inline v0_2::wire::json {

/// The size of a number, which is the number, or of an object with size().
struct length {
    template <waybill::detail::countable N>
    [[nodiscard]] constexpr std::uint64_t operator()(N n) const noexcept
    {
        return waybill::detail::as_size(n);
    }
    template <class Document>
        requires requires(const Document& d) {
            { d.size() } -> waybill::detail::countable;
        }
    [[nodiscard]] constexpr std::uint64_t operator()(const Document& d) const noexcept
    {
        return waybill::detail::as_size(d.size());
    }
};

/// Documents in brackets, with commas between them and without spaces. Constant time plus `size`.
template <class F = length>
struct array {
    F size{};  ///< Bytes of a document.

    /// The batch built so far; `any` is true if it has a document.
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
        requires requires(const F& f, const Document& d) {
            { f(d) } -> waybill::detail::countable;
        }
    [[nodiscard]] constexpr std::uint64_t delta(const state& s, const Document& d) const
    {
        return waybill::detail::saturating_add(s.any ? 1 : 0, waybill::detail::as_size(size(d)));
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

/// Documents with a line end after each, as in NDJSON, or any format with one byte after each item.
/// Constant time plus `size`.
template <class F = length>
struct lines {
    F size{};  ///< Bytes of a document, without its line end.

    /// Empty: the bytes of a line do not depend on the lines before it.
    struct state {
        friend bool operator==(const state&, const state&) = default;
    };

    template <class Document>
    [[nodiscard]] constexpr std::uint64_t envelope(const Document&) const noexcept
    {
        return 0;
    }
    template <class Document>
        requires requires(const F& f, const Document& d) {
            { f(d) } -> waybill::detail::countable;
        }
    [[nodiscard]] constexpr std::uint64_t delta(const state&, const Document& d) const
    {
        return waybill::detail::saturating_add(1, waybill::detail::as_size(size(d)));
    }
    template <class Document>
    constexpr void push(state&, const Document&) const noexcept
    {
    }
};

lines() -> lines<>;
template <class F>
lines(F) -> lines<F>;

/// Bytes of an action and its document: two lines of an Elasticsearch or OpenSearch bulk request.
/// The end of the second line is not counted, because `lines` adds it. Constant time. Documented;
/// source: "Bulk API",
/// https://www.elastic.co/guide/en/elasticsearch/reference/current/docs-bulk.html.
[[nodiscard]] constexpr std::uint64_t bulk_size(std::string_view action,
                                                std::string_view source) noexcept
{
    return waybill::detail::saturating_add(waybill::detail::saturating_add(action.size(), 1),
                                           source.size());
}

}  // namespace waybill::inline v0_2::wire::json

#endif  // WAYBILL_WIRE_JSON_ARRAY_HPP
