// SPDX-License-Identifier: MIT
//
// States of text: five outcomes, and the budget with its reserve at every size around it. Each
// accepted state can be written as failed.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>
#include <golden/session/text_states.hpp>
#include <support/golden.hpp>

#include <waybill/core/detail/saturating.hpp>
#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/detail/text_state_codec.hpp>
#include <waybill/session/state_text.hpp>

namespace state_text_test {
namespace {

using namespace waybill;

static_assert(!validate(state_budget{}) && !validate(text_state::options{}));
static_assert(state_budget{}.max_value_bytes() == 260'096);
static_assert(state_budget{.bytes = 10, .failure_reserve = 11}.max_value_bytes() == 0);
static_assert(name(text_state::read_result::problem_type::none) == "none");
static_assert(name(text_state::read_result::problem_type::no_reserve) == "no_reserve");
static_assert(name(static_cast<text_state::read_result::problem_type>(99)) == "?");

constexpr wall_time noon = wall_time::at(duration::seconds(1'709'208'000));
constexpr text_state::options small{.budget = {.bytes = 1'000, .failure_reserve = 512},
                                    .version = {2, 1}};

text_state::read_result read(std::optional<std::string_view> bytes)
{
    return detail::read_text_state(bytes, small);
}

text_state state(std::string own, session_progress p = {.done = 2, .total = 5})
{
    return {std::move(own), std::move(p), small.version, {}};
}

std::string written(const text_state& s, const text_state::options& o = small)
{
    const auto out = detail::write_text_state(s, o);
    return out ? *out : describe(out.error());
}

session_progress longest(std::string text)
{
    session_progress p{.done = detail::highest_size,
                       .total = detail::highest_size,
                       .dead_lettered = detail::highest_size,
                       .tries = detail::highest_size,
                       .begun = wall_time::highest(),
                       .changed = wall_time::lowest()};
    p.failed = session_progress::failure{
        detail::highest_size, detail::highest_size, dead_letter_reason::session_failed,
        detail::highest_size, std::move(text),      wall_time::highest()};
    return p;
}

}  // namespace

TEST_CASE("state_text: the bytes equal the example of the header")
{
    text_state s;
    s.own = "receipt=r17";
    s.progress = {.done = 2, .total = 5};
    s.progress.failed = session_progress::failure{
        3, 17, dead_letter_reason::exhausted, 5, "no printer answers", noon};
    const std::string bytes = written(s, {});
    CHECK("\n" + bytes + "\n" == R"text(
waybill/1 text 00001.00000 0000000091 c886cb30
done 2
total 5
failed 3 17 exhausted 5 2024-02-29T12:00:00Z no printer answers

receipt=r17
)text");
    const text_state::read_result r = detail::read_text_state(bytes, {});
    CHECK(r.outcome == state_read::ok);
    CHECK(r.state == s);
    CHECK(r.envelope.body.empty());
    CHECK(describe(r) == "state: ok, 138 bytes, text of version 1.0");
}

TEST_CASE("state_text: an absent state is new, and other formats and bad lines are corrupt")
{
    const text_state::read_result none = read(std::nullopt);
    CHECK(none.outcome == state_read::absent);
    CHECK(none.state == text_state{{}, {}, small.version, {}});
    CHECK(describe(none) == "state: absent: the session is new or has ended");
    CHECK(read("").outcome == state_read::corrupt);
    CHECK(describe(read("")) == describe(detail::open_state("", 1'000)));
    CHECK(read(std::string(1'001, '{')).outcome == state_read::too_large);
    CHECK(read(written(state("x")).substr(1)).outcome == state_read::corrupt);

    const text_state::read_result json = read(R"({"IsFailedSession":true})");
    CHECK(json.outcome == state_read::corrupt);
    CHECK(json.problem == text_state::read_result::problem_type::other_format);
    CHECK(describe(json) ==
          "state: corrupt: it is json, not text: "
          "read it with waybill/ext/json/state_codec.hpp");
    CHECK(read(detail::seal_state(state_format::cbor, {2, 0}, "\n")).problem ==
          text_state::read_result::problem_type::other_format);

    const auto sealed = [](std::string_view body) {
        return read(detail::seal_state(state_format::text, {2, 0}, body));
    };
    CHECK(sealed("\n").outcome == state_read::ok);
    CHECK(describe(sealed("done 3\n")) ==
          "state: corrupt: the checksum matches, but there is no blank line: find its writer, and "
          "do not treat the state as a new session");
    CHECK(sealed("").problem == text_state::read_result::problem_type::bad_line);
    CHECK(describe(sealed("done 3\ntotal x\n\n")) ==
          "state: corrupt: the checksum matches, but waybill does not write a line like number 2: "
          "find its writer, and do not treat the state as a new session");
    const text_state::read_result meteor =
        sealed("failed 3 17 meteor 5 2024-02-29T12:00:00Z x\n\nown");
    CHECK(meteor.outcome == state_read::newer);
    CHECK(meteor.state == text_state{{}, {}, small.version, {}});
    CHECK(describe(meteor) ==
          "state: newer: it has an unknown reason of failure: update the program, and do not "
          "change the state");
}

TEST_CASE("state_text: a redriven session begins with the state that came")
{
    waybill::text_state s;
    s.own = "payment=paid";
    s.progress = {.done = 2, .total = 5};
    s.progress.failed.emplace(waybill::session_progress::failure{}).text = "no template";
    const std::string came = *waybill::detail::write_text_state(s);
    const auto begun = waybill::detail::read_text_state({}, {}, came);
    CHECK(begun.outcome == waybill::state_read::absent);
    CHECK(describe(begun) == describe(waybill::detail::read_text_state({})));
    CHECK(begun.state.own == "payment=paid");
    CHECK(begun.state.progress == waybill::session_progress{});
    CHECK(waybill::detail::read_text_state({}, {}, "") == waybill::detail::read_text_state({}));
    s.own = "payment=mine";
    const std::string mine = *waybill::detail::write_text_state(s);
    CHECK(waybill::detail::read_text_state(mine, {}, came) ==
          waybill::detail::read_text_state(mine));
    const std::string_view cut = std::string_view(came).substr(0, came.size() - 1);
    CHECK(waybill::detail::read_text_state({}, {}, cut).outcome == waybill::state_read::corrupt);
    CHECK(waybill::detail::read_text_state({}, {}, cut).state.own.empty());
    // A failed state may be larger than the budget of a running one. Then the session cannot
    // continue.
    const waybill::text_state::options o{.budget = {.bytes = 2'048, .failure_reserve = 1'024}};
    for (std::size_t own_size = 940; own_size != 1'020; ++own_size) {
        s.own.assign(own_size, 'r');
        s.progress = {};
        const bool goes_on = detail::write_text_state(s, o).has_value();
        s.progress.failed.emplace(waybill::session_progress::failure{}).text = "no";
        const auto large = waybill::detail::read_text_state({}, o, *detail::write_text_state(s, o));
        CHECK(large.outcome ==
              (goes_on ? waybill::state_read::absent : waybill::state_read::too_large));
        CHECK(large.state.own.empty() != goes_on);
    }
}

TEST_CASE(
    "state_text: later minor versions of the user's part are kept, later major ones are newer")
{
    const auto of = [](schema_version v) {
        return read(detail::seal_state(state_format::text, v, "done 1\n\nown"));
    };
    const text_state::read_result newer = of({3, 0});
    CHECK(newer.outcome == state_read::newer);
    CHECK(newer.state.own.empty());
    CHECK(describe(newer) ==
          "state: newer: its version is 3.0, and 2 is the latest known version: update the "
          "program, and do not change the state");
    for (const schema_version v : {schema_version{0, 0}, {1, 9}, {2, 0}, {2, 1}, {2, 8}}) {
        const text_state::read_result r = of(v);
        CHECK(r.outcome == state_read::ok);
        CHECK(r.state.version == v);
        const schema_version again = read(written(r.state)).state.version;
        CHECK(again == (v == schema_version{2, 8} ? v : small.version));
    }
    // A later minor version of the lines is kept unchanged, byte for byte.
    const std::string later =
        detail::seal_state(state_format::text, {2, 8}, "done 1\nspeed 17\n\nown");
    CHECK(read(later).state.later == "speed 17\n");
    CHECK(written(read(later).state) == later);

    text_state bad = state("own");
    for (const char* lines : {"\n", "x", "done 3\n", "x\n\n", "x\nfailed\n"}) {
        bad.later = lines;
        CHECK(written(bad) == written(state("own")));
        CHECK(detail::text_state_size(bad) == written(bad).size());
    }
}

TEST_CASE("state_text: files of an older version of the user's own part are read, and upgraded")
{
    std::size_t files = 0;
    golden_states::each_old([&](std::string_view name, const text_state& old) {
        CAPTURE(name);
        const std::string bytes = tests_support::golden("session/" + std::string(name) + ".text");
        CHECK(written(old, golden_states::old_options) == bytes);
        text_state::read_result r = detail::read_text_state(bytes, golden_states::options);
        REQUIRE(r.outcome == state_read::ok);
        CHECK(r.state == old);
        CHECK(r.state.version.major == 1);
        r.state.own = "receipt=" + r.state.own;
        const std::string now = written(r.state, golden_states::options);
        const text_state::read_result again = detail::read_text_state(now, golden_states::options);
        REQUIRE(again.outcome == state_read::ok);
        CHECK(again.state.version == golden_states::options.version);
        CHECK(again.state.own == "receipt=r17");
        CHECK(again.state.progress == old.progress);
        CHECK(again.state.later == old.later);
        // A program of the earlier version does not change it.
        CHECK(detail::read_text_state(now, golden_states::old_options).outcome ==
              state_read::newer);
        ++files;
    });
    CHECK(files == 2);
}

TEST_CASE("state_text: each accepted state can be written as failed, for sizes around the limit")
{
    const std::uint64_t most = small.budget.max_value_bytes() - detail::envelope_bytes - 1;
    std::uint64_t accepted = 0;
    for (std::uint64_t n = most - 20; n != most + 20; ++n) {
        text_state s = state(std::string(n, 'x'));
        const auto out = detail::write_text_state(s, small);
        CHECK(out.has_value() == (n <= most));
        const std::string unchecked =
            detail::seal_state(state_format::text, small.version, "done 2\n\n" + s.own);
        CHECK(read(unchecked).outcome == (n <= most ? state_read::ok : state_read::too_large));
        if (!out) {
            CHECK(out.error() == state_budget::too_large{n + 48, 488});
            CHECK(read(unchecked).problem == text_state::read_result::problem_type::no_reserve);
            continue;
        }
        ++accepted;
        CHECK(out->size() == detail::text_state_size(s));
        CHECK(read(*out).state == s);
        // Any progress, and a failure with texts of any length.
        for (std::size_t length = 0; length < 600; ++length) {
            std::string why;
            while (why.size() < length) why += length % 3 == 0 ? "\xE2\x82\xAC" : "\n";
            s.progress = longest(why);
            const auto failed = detail::write_text_state(s, small);
            REQUIRE(failed.has_value());
            CHECK(failed->size() <= small.budget.bytes);
            const text_state::read_result r = read(*failed);
            REQUIRE(r.outcome == state_read::ok);
            const std::string& kept = r.state.progress.failed->text;
            CHECK(why.starts_with(kept));
            CHECK((kept.size() == why.size() || failed->size() + 4 > small.budget.bytes));
            CHECK(r.state.own == s.own);
        }
        s.progress.failed.reset();
        CHECK(detail::write_text_state(s, small).has_value());
        CHECK(read(written(s)).state == s);
    }
    CHECK(accepted == 21);
}

TEST_CASE("state_text: a failed state is read up to the whole budget")
{
    text_state s = state(std::string(800, 'x'));
    CHECK(written(s) ==
          "state: too large: 848 bytes, and 488 is the maximum without the bytes "
          "reserved for a failure: increase the budget, or store the large part "
          "elsewhere");
    s.progress.failed =
        session_progress::failure{3, 17, dead_letter_reason::gap, 0, "a step is missing", noon};
    const std::string bytes = written(s);
    CHECK(read(bytes).state == s);

    // It can be written again with its progress, and with no longer one if it is full.
    s.own.resize(s.own.size() + small.budget.bytes - bytes.size());
    REQUIRE(detail::write_text_state(s, small).has_value());
    for (const bool with_text : {true, false}) {
        if (!with_text) s.progress.failed->text.clear();
        const std::string full = written(s);
        CHECK(read(full).state == s);
        CHECK(written(read(full).state) == full);
    }
    s.own.append(small.budget.bytes - written(s).size(), 'x');
    CHECK(written(s).size() == small.budget.bytes);
    s.progress.dead_lettered = 1;
    CHECK_FALSE(detail::write_text_state(s, small).has_value());
    s.progress.dead_lettered = 0;
    s.own.resize(800);
    s.progress.failed->text = "a step is missing";
    CHECK(written(s) == bytes);

    // A budget that was lowered between two versions of a program.
    const text_state::options tight{.budget = {.bytes = 870, .failure_reserve = 512},
                                    .version = {2, 1}};
    CHECK(detail::read_text_state(bytes, tight).outcome == state_read::too_large);
    const auto out = detail::write_text_state(s, tight);
    REQUIRE_FALSE(out.has_value());
    CHECK(out.error().max_bytes == 870);
    CHECK(out.error().size > 870);
    CHECK(written(state("x"), {.budget = {.bytes = 0, .failure_reserve = 0}})
              .starts_with("state: too large: 49 bytes, and 0 is the maximum"));
    CHECK(describe(
              read(detail::seal_state(state_format::text, {2, 0}, "\n" + std::string(600, 'x')))) ==
          "state: too_large: 648 bytes, and 488 is the maximum without the bytes reserved for a "
          "failure: increase the budget");
}

TEST_CASE("state_text: validate refuses budgets below the reserve")
{
    CHECK(describe(validate(state_budget{.failure_reserve = 511}).value()) ==
          "failure_reserve is 511: must be at least (512)");
    CHECK(describe(validate(text_state::options{.budget = {.bytes = 2'048}}).value()) ==
          "bytes is 2048: must be more than failure_reserve (2048)");
    CHECK_FALSE(validate(state_budget{.bytes = 513, .failure_reserve = 512}).has_value());
}

}  // namespace state_text_test
