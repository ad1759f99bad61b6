// SPDX-License-Identifier: MIT
//
// ext/json/detail/base36: lists of a scaling state as text: numbers in base 36, separated by
// spaces.

#ifndef WAYBILL_EXT_JSON_DETAIL_BASE36_HPP
#define WAYBILL_EXT_JSON_DETAIL_BASE36_HPP

#include <waybill/ext/json/detail/package.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <waybill/core/time.hpp>
#include <waybill/ext/json/detail/json_value.hpp>
#include <waybill/ext/json/read.hpp>
#include <waybill/scaling/bounded_list.hpp>
#include <waybill/scaling/state.hpp>

namespace waybill::inline v0_2::scaling::detail {

using waybill::detail::json_value;

/// Appends a whole number in base 36, after a space unless it is the first.
template <class N>
void put_base36(std::string& to, N n)
{
    char digits[16];  // 2^64 - 1 has 13 digits; a time may have a sign
    const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, n, 36);
    if (!to.empty()) to += ' ';
    to.append(digits, end.ptr);
}

inline void put_entry(std::string& to, const recommendation& r)
{
    put_base36(to, r.at.since_epoch().count());
    put_base36(to, r.instances);
}

inline void put_entry(std::string& to, const applied_change& c)
{
    put_base36(to, c.at.since_epoch().count());
    put_base36(to, c.from);
    put_base36(to, c.to);
}

template <class T, std::size_t N>
[[nodiscard]] std::string in_base36(const bounded_list<T, N>& list)
{
    std::string written;
    for (const T& t : list) put_entry(written, t);
    return written;
}

/// Consumes numbers from the front of a text that `in_base36` wrote.
class base36_reader {
public:
    explicit base36_reader(std::string_view text) : rest_(text) {}

    [[nodiscard]] bool ended() const noexcept { return rest_.empty(); }

    /// Returns false if the text does not continue with a number.
    template <class N>
    [[nodiscard]] bool take(N& into)
    {
        if (!first_ && (rest_.empty() || rest_.front() != ' ')) return false;
        if (!first_) rest_.remove_prefix(1);
        first_ = false;
        const char* end = rest_.data() + rest_.size();
        const std::from_chars_result r = std::from_chars(rest_.data(), end, into, 36);
        if (r.ec != std::errc()) return false;
        rest_.remove_prefix(static_cast<std::size_t>(r.ptr - rest_.data()));
        return true;
    }

    [[nodiscard]] bool take(wall_time& into)
    {
        std::int64_t ns = 0;
        if (!take(ns)) return false;
        into = wall_time::at(duration::nanoseconds(ns));
        return true;
    }

    [[nodiscard]] bool take(recommendation& into) { return take(into.at) && take(into.instances); }
    [[nodiscard]] bool take(applied_change& into)
    {
        return take(into.at) && take(into.from) && take(into.to);
    }

private:
    std::string_view rest_;
    bool first_ = true;
};

/// A target of `read_value` that reads entries into `list`.
template <class T, std::size_t N>
struct list_in_base36 {
    bounded_list<T, N>& list;
};

template <json_value Json, class T, std::size_t N>
void read_value(const json_place<Json>& at, list_in_base36<T, N>& into)
{
    const auto* written = at.value.template get_ptr<const std::string*>();
    if (!written) return at.fail("numbers in base 36");
    base36_reader reader(*written);
    while (!reader.ended()) {
        T entry{};
        const std::size_t n = into.list.size();
        if (!reader.take(entry)) {
            return at.fail("a time and instances in base 36 as entry " + std::to_string(n));
        }
        if (!into.list.push(entry)) return at.fail("at most " + std::to_string(N) + " entries");
    }
    // Another notation of the same numbers was not written by this library: the state was modified.
    if (in_base36(into.list) != *written) at.fail("numbers in base 36 as waybill writes them");
}

/// The change of the instances from one entry of a list to the next.
enum class instance_order : bool { falling, rising };

/// Checks that times do not decrease, and that instances fall or rise as `order` requires.
template <json_value Json>
void check_order(const json_place<Json>& at, const char* field,
                 const bounded_list<recommendation, state::recommendations>& list,
                 instance_order order)
{
    if (at.error) return;
    const json_place list_place{at.value[field], waybill::detail::path_to(at.path, field),
                                at.error};
    const bool falls = order == instance_order::falling;
    for (std::size_t n = 1; n < list.size(); ++n) {
        const recommendation& previous = list[n - 1];
        const recommendation& current = list[n];
        const std::string entry_name = "entry " + std::to_string(n);
        if (current.at < previous.at) {
            list_place.fail(entry_name + " not earlier than entry " + std::to_string(n - 1));
        }
        const bool in_order =
            falls ? current.instances < previous.instances : current.instances > previous.instances;
        if (!in_order) {
            list_place.fail((falls ? "fewer than " : "more than ") +
                            std::to_string(previous.instances) + " instances in " + entry_name);
        }
    }
}

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_EXT_JSON_DETAIL_BASE36_HPP
