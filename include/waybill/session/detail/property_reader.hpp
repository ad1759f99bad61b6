// SPDX-License-Identifier: MIT
//
// property_reader: converts the properties of a message to texts, numbers and flags.

#ifndef WAYBILL_SESSION_DETAIL_PROPERTY_READER_HPP
#define WAYBILL_SESSION_DETAIL_PROPERTY_READER_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <waybill/core/text.hpp>
#include <waybill/session/row_key.hpp>

namespace waybill::inline v0_2::detail {

/// An error contains at most this many bytes of the value, so that it fits into a line of a log.
inline constexpr std::size_t max_shown_value_bytes = 64;

/// Reads properties into `Read`, a `step_properties::read_result`. Keeps the first error.
template <class F, class Read>
class property_reader {
    using read_outcome = typename Read::read_outcome;

public:
    property_reader(F& find, Read& read) : find_(find), read_(read) {}

    /// Returns false if the property is missing.
    bool read_text(std::string_view name, std::string& to)
    {
        const auto found = find_(name);
        if (found) to = std::string(std::string_view(*found));
        return static_cast<bool>(found);
    }
    /// Returns false if the property is missing or wrong, or if an error was found before.
    bool read_number(std::string_view name, std::uint64_t& to)
    {
        const auto found = find_(name);
        if (!found || !read_.ok()) return false;
        const std::string_view text(*found);
        const row_key parsed = row_key::read(text);  // with any number of digits
        if (parsed.readable()) {
            to = parsed.sequence;
            return true;
        }
        const bool large = parsed.outcome == row_key::read_outcome::too_large;
        return set_error(large ? read_outcome::too_large : read_outcome::not_number, name, text);
    }
    void read_flag(std::string_view name, bool& to)
    {
        const auto found = find_(name);
        if (!found || !read_.ok()) return;
        const std::string_view text(*found);
        to = text == "true" || text == "True" || text == "1";
        if (to || text == "false" || text == "False" || text == "0") return;
        set_error(read_outcome::not_bool, name, text);
    }
    /// Stores the first error. Returns false, for `return set_error(...)`.
    bool set_error(read_outcome outcome, std::string_view name, std::string_view value)
    {
        if (!read_.ok()) return false;
        read_.outcome = outcome;
        read_.property = name;
        read_.value = std::string(utf8_prefix(value, max_shown_value_bytes));
        return false;
    }

private:
    F& find_;
    Read& read_;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_SESSION_DETAIL_PROPERTY_READER_HPP
