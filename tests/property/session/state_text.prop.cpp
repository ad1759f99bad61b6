// SPDX-License-Identifier: MIT
//
// Every state of text is equal after it was written and read. If a failure does not fit, only the
// end of its text is lost. Changed bytes never decode to another state.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <support/brief.hpp>
#include <support/dice.hpp>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/session/detail/text_state_codec.hpp>
#include <waybill/session/state_text.hpp>

namespace state_text_prop {
namespace {

using namespace waybill;
using tests_support::dice;

constexpr int episodes = tests_support::brief ? 2'000 : 50'000;

std::uint64_t any_number(dice& roll)
{
    return roll.bits() >> roll(64);  // as often short as long
}

wall_time any_time(dice& roll)
{
    if (roll.one_in(4)) return {};
    return wall_time::at(duration::nanoseconds(static_cast<std::int64_t>(any_number(roll))));
}

std::string any_bytes(dice& roll, std::uint64_t most)
{
    constexpr std::string_view words[] = {
        "\n",   "\n\n", "\\", "\\n", "done 3\n", "failed ", " ", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
        "\xC3", "text"};
    std::string out;
    for (std::uint64_t n = roll(most + 1); out.size() < n;) {
        if (roll.one_in(3)) out += roll.any_of(words);
        else out += static_cast<char>(roll(256));
    }
    return out;
}

text_state any_state(dice& roll)
{
    text_state s;
    s.own = any_bytes(roll, roll.one_in(2) ? 20 : 500);
    s.version = {static_cast<std::uint16_t>(3), static_cast<std::uint16_t>(roll(4) + 5)};
    session_progress& p = s.progress;
    if (!roll.one_in(3)) p.done = any_number(roll);
    if (!roll.one_in(3)) p.total = any_number(roll);
    if (roll.one_in(3)) p.dead_lettered = any_number(roll);
    if (roll.one_in(3)) p.tries = any_number(roll);
    if (roll.one_in(3)) p.first = any_number(roll);
    p.begun = any_time(roll);
    p.changed = any_time(roll);
    if (roll.one_in(2)) {
        p.failed = session_progress::failure{
            any_number(roll), any_number(roll),     static_cast<dead_letter_reason>(roll(8)),
            any_number(roll), any_bytes(roll, 300), any_time(roll)};
    }
    for (std::uint64_t n = roll(4); n > 1; --n) {
        s.later += "later" + std::to_string(roll(100)) + (roll.one_in(2) ? " and more\n" : "\n");
    }
    return s;
}

}  // namespace

TEST_CASE("state_text: reads equal writes, except for cut failure texts; changed bytes are corrupt")
{
    dice roll(6'2026);
    std::uint64_t whole = 0;
    std::uint64_t cut = 0;
    for (int n = 0; n != episodes; ++n) {
        CAPTURE(n);
        text_state s = any_state(roll);
        const text_state::options o{
            .budget = {.bytes = 600 + roll(800), .failure_reserve = 512 + roll(80)},
            .version = {3, 5}};
        const auto out = detail::write_text_state(s, o);
        const std::uint64_t value = 48 + s.later.size() + s.own.size();
        if (!out) {
            CHECK(value > o.budget.max_value_bytes());
            continue;
        }
        const bool all = out->size() == detail::text_state_size(s);
        CHECK(detail::write_text_state(s, o) == out);
        text_state::read_result r = detail::read_text_state(*out, o);
        REQUIRE(r.outcome == state_read::ok);
        CHECK(detail::write_text_state(r.state, o) == out);
        if (!all) {
            REQUIRE(s.progress.failed.has_value());
            CHECK(out->size() <= o.budget.bytes);
            CHECK(out->size() + 16 > o.budget.bytes);
            CHECK(s.progress.failed->text.starts_with(r.state.progress.failed->text));
            s.progress.failed->text = r.state.progress.failed->text;
            ++cut;
        }
        CHECK(r.state == s);
        ++whole;

        std::string bad = *out;
        for (std::uint64_t changes = 1 + roll(3); changes != 0; --changes) {
            bad[roll(bad.size())] = static_cast<char>(roll(256));
        }
        if (bad != *out) CHECK(detail::read_text_state(bad, o).outcome == state_read::corrupt);
    }
    CHECK(whole > episodes / 2);
    CHECK(cut > episodes / 50);
}

}  // namespace state_text_prop
