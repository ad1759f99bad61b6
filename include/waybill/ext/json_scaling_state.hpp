// SPDX-License-Identifier: MIT
//
// ext/json_scaling_state: the state of the autoscaler, read and written, to fit into a table's row.
//
//     {"version": 1, "last_id": 3, "ready": 4, "last_up": "2024-02-29T12:40:00Z",
//      "highest": "czm5oy0b5dkw 4 czm6i9qr0hog 2", "lowest": "", "made": "czm5oy0b5dkw 2 4"}
//
// Values that people may look for are separate fields. Three lists are compact, to keep the largest
// state below 2 KB: numbers in base 36, separated by spaces. `highest` and `lowest` contain pairs
// (time, instances), `made` contains triples (time, from, to). Times are nanoseconds.
//
// Reading refuses an impossible state: `highest` or `lowest` out of order, too many entries,
// `warm_at` without `last_up` (the warm-up could not end), and a pending command without a known
// id or without a change.

#ifndef WAYBILL_EXT_JSON_SCALING_STATE_HPP
#define WAYBILL_EXT_JSON_SCALING_STATE_HPP

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include <waybill/core/time.hpp>
#include <waybill/ext/json_policy.hpp>
#include <waybill/ext/json_read.hpp>
#include <waybill/scaling/few.hpp>
#include <waybill/scaling/state.hpp>

namespace waybill::inline v0_2::scaling {

/// Format version of the written state.
inline constexpr std::uint64_t state_version = 1;

namespace detail {

/// Appends a whole number in base 36, after a space unless it is the first.
template <class N>
void put_base36(std::string& to, N n)
{
    char digits[16];
    const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, n, 36);
    if (!to.empty()) to += ' ';
    to.append(digits, end.ptr);
}

inline void put_entry(std::string& to, const recommendation& r)
{
    put_base36(to, r.at.since_epoch().count());
    put_base36(to, r.instances);
}

inline void put_entry(std::string& to, const made_change& c)
{
    put_base36(to, c.at.since_epoch().count());
    put_base36(to, c.from);
    put_base36(to, c.to);
}

template <class T, std::size_t N>
[[nodiscard]] std::string in_base36(const few<T, N>& list)
{
    std::string written;
    for (const T& t : list) put_entry(written, t);
    return written;
}

/// Consumes numbers from the front of a text in the format above.
class base36_reader {
public:
    explicit base36_reader(std::string_view text) : left_(text) {}

    [[nodiscard]] bool ended() const noexcept { return left_.empty(); }

    /// Returns false if the text does not continue with a number.
    template <class N>
    [[nodiscard]] bool take(N& into)
    {
        if (!first_ && (left_.empty() || left_.front() != ' ')) return false;
        if (!first_) left_.remove_prefix(1);
        first_ = false;
        const char* end = left_.data() + left_.size();
        const std::from_chars_result r = std::from_chars(left_.data(), end, into, 36);
        if (r.ec != std::errc()) return false;
        left_.remove_prefix(static_cast<std::size_t>(r.ptr - left_.data()));
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
    [[nodiscard]] bool take(made_change& into)
    {
        return take(into.at) && take(into.from) && take(into.to);
    }

private:
    std::string_view left_;
    bool first_ = true;
};

/// Reads entries into `list`.
template <class T, std::size_t N>
struct few_in_base36 {
    few<T, N>& list;
};

template <class T, std::size_t N>
void read_value(const json_place& at, few_in_base36<T, N>& into)
{
    const auto* written = at.value.get_ptr<const std::string*>();
    if (!written) return at.fail("numbers in base 36");
    base36_reader reader(*written);
    while (!reader.ended()) {
        T one{};
        const std::size_t n = into.list.size();
        if (!reader.take(one)) {
            return at.fail("a time and instances in base 36 as entry " + std::to_string(n));
        }
        if (!into.list.push(one)) return at.fail("at most " + std::to_string(N) + " entries");
    }
    // Another notation of the same numbers was not written by this library: the state was modified.
    if (in_base36(into.list) != *written) at.fail("numbers in base 36 as they are written here");
}

/// Checks that times do not decrease, and that instances fall (`falls`) or rise with each entry.
inline void check_order(const json_place& at, const char* field,
                        const few<recommendation, state::recommendations>& list, bool falls)
{
    if (at.error) return;
    const json_place place{at.value[field], waybill::detail::path_to(at.path, field), at.error};
    for (std::size_t n = 1; n < list.size(); ++n) {
        const recommendation& a = list[n - 1];
        const recommendation& b = list[n];
        const std::string which = " as entry " + std::to_string(n);
        if (b.at < a.at) place.fail("no earlier time" + which);
        if (falls ? b.instances >= a.instances : b.instances <= a.instances) {
            place.fail((falls ? "fewer instances" : "more instances") + which);
        }
    }
}

}  // namespace detail

inline void to_json(nlohmann::json& j, const pending_command& p)
{
    j = {{"id", p.ordered.id},
         {"from", p.ordered.from},
         {"to", p.ordered.to},
         {"at", p.at},
         {"warm_up", p.warm_up}};
}

inline void read_value(const json_place& at, pending_command& into)
{
    json_fields(at)
        .must("id", into.ordered.id)
        .must("from", into.ordered.from)
        .must("to", into.ordered.to)
        .must("at", into.at)
        .must("warm_up", into.warm_up)
        .done();
    if (into.ordered.from == into.ordered.to) at.fail("\"to\" other than \"from\"");
}

/// Leaves out times that are not set.
inline void to_json(nlohmann::json& j, const state& s)
{
    j = {{"version", state_version},
         {"last_id", s.last_id},
         {"ready", s.ready},
         {"highest", detail::in_base36(s.highest)},
         {"lowest", detail::in_base36(s.lowest)},
         {"made", detail::in_base36(s.made)}};
    if (s.pending) j["pending"] = *s.pending;
    if (s.last_up) j["last_up"] = *s.last_up;
    if (s.last_down) j["last_down"] = *s.last_down;
    if (s.last_failure) j["last_failure"] = *s.last_failure;
    if (s.warm_at) j["warm_at"] = *s.warm_at;
    if (s.inactive_since) j["inactive_since"] = *s.inactive_since;
}

inline void read_value(const json_place& at, state& into)
{
    state s;
    detail::few_in_base36<recommendation, state::recommendations> highest{s.highest};
    detail::few_in_base36<recommendation, state::recommendations> lowest{s.lowest};
    detail::few_in_base36<made_change, state::changes> made{s.made};
    json_fields(at)
        .version(state_version)
        .must("last_id", s.last_id)
        .must("ready", s.ready)
        .must("highest", highest)
        .must("lowest", lowest)
        .must("made", made)
        .may("pending", s.pending)
        .may("last_up", s.last_up)
        .may("last_down", s.last_down)
        .may("last_failure", s.last_failure)
        .may("warm_at", s.warm_at)
        .may("inactive_since", s.inactive_since)
        .done();
    detail::check_order(at, "highest", s.highest, true);
    detail::check_order(at, "lowest", s.lowest, false);
    if (s.warm_at && !s.last_up && !at.error) {
        json_place{at.value["warm_at"], waybill::detail::path_to(at.path, "warm_at"), at.error}
            .fail("\"last_up\" beside it, which it comes of");
    }
    if (s.pending && (s.pending->ordered.id == 0 || s.pending->ordered.id > s.last_id)) {
        json_place{at.value["pending"], waybill::detail::path_to(at.path, "pending"), at.error}
            .fail("an \"id\" of 1 to \"last_id\"");
    }
    if (!at.error) into = s;
}

}  // namespace waybill::inline v0_2::scaling

#endif  // WAYBILL_EXT_JSON_SCALING_STATE_HPP
