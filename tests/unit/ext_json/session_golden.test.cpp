// SPDX-License-Identifier: MIT
//
// States of version 1 stay readable: golden/session has the files. Incomplete or changed bytes are
// corrupt, tested byte by byte and bit by bit.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <golden/session/json_states.hpp>
#include <support/golden.hpp>

#include <waybill/ext/json/session.hpp>

namespace json_session_golden_test {
namespace {

using namespace waybill;
using golden_json_states::codec_for;
using golden_json_states::state;

std::string stored(std::string_view name, std::string_view form)
{
    return tests_support::golden("session/" + std::string(name) + '.' + std::string(form));
}

constexpr std::string_view forms[] = {"json", "cbor", "bare"};

/// f(form, file, state) for each file.
template <class F>
std::size_t each_file(F f)
{
    std::size_t files = 0;
    for (const std::string_view form : forms) {
        golden_json_states::each([&](std::string_view name, const state& s) {
            CAPTURE(name);
            CAPTURE(form);
            const std::string bytes = stored(name, form);
            REQUIRE(!bytes.empty());
            f(form, bytes, s);
            ++files;
        });
    }
    return files;
}

TEST_CASE("stored states of version 1 are read, and written the same")
{
    const std::size_t files =
        each_file([](std::string_view form, std::string_view bytes, const state& s) {
            const auto codec = codec_for(form);
            const state again = codec.decode(bytes);
            REQUIRE_MESSAGE(again.outcome == state_read::ok, describe(again));
            CHECK(again.problem == json_state_problem::none);
            CHECK(again.value == s.value);
            CHECK(again.progress == s.progress);
            CHECK(again.version == s.version);
            CHECK(again.read.unknown_fields == s.read.unknown_fields);
            const auto written = codec.encode(again);
            REQUIRE_MESSAGE(written.has_value(), describe(written.error()));
            CHECK(*written == bytes);
            CHECK_FALSE(codec.changed(again, *written));
            CHECK(*codec.encode(s) == bytes);
            CHECK(codec.size(s) == bytes.size());

            // Each codec reads all the forms, and writes its own.
            for (const std::string_view other : forms) {
                const auto others = codec_for(other);
                const state read = others.decode(bytes);
                REQUIRE_MESSAGE(read.outcome == state_read::ok, describe(read));
                CHECK(read.value == s.value);
                CHECK(read.progress == s.progress);
                const auto out = others.encode(read);
                REQUIRE(out.has_value());
                CHECK(others.changed(read, *out) == (other != form));
                CHECK(codec.decode(*out).value == s.value);
                CHECK(codec.decode(*out).progress == s.progress);
            }
        });
    CHECK(files == 36);
}

TEST_CASE(
    "stored states of an older schema version are upgraded, and written with the current "
    "version")
{
    std::size_t files = 0;
    for (const std::string_view form : forms) {
        golden_json_states::each_old([&](std::string_view name, const auto& old) {
            CAPTURE(name);
            CAPTURE(form);
            const std::string bytes = stored(name, form);
            CHECK(*golden_json_states::old_codec_for(form).encode(old) == bytes);

            const auto codec = codec_for(form);
            state s = codec.decode(bytes);
            REQUIRE_MESSAGE(s.outcome == state_read::ok, describe(s));
            CHECK(s.problem == json_state_problem::none);
            CHECK(s.version == old.version);
            CHECK(s.value == golden_json_states::order{17, true, "r17", {}, {}});
            CHECK(s.progress == old.progress);
            CHECK(s.read.unknown_fields == old.read.unknown_fields);

            const auto written = codec.encode(s);
            REQUIRE_MESSAGE(written.has_value(), describe(written.error()));
            CHECK(codec.changed(s, *written));
            const state again = codec.decode(*written);
            REQUIRE_MESSAGE(again.outcome == state_read::ok, describe(again));
            CHECK(again.version == schema_version{2, 1});
            CHECK(again.value == s.value);
            CHECK(again.progress == s.progress);
            CHECK(again.read.unknown_fields == s.read.unknown_fields);
            CHECK_FALSE(again.read.user.contains("no"));
            CHECK(again.read.user.contains("colour") == (name == "old_later"));

            // A program of the earlier version does not change it.
            CHECK(golden_json_states::old_codec_for(form).decode(*written).outcome ==
                  state_read::newer);
            ++files;
        });
    }
    CHECK(files == 9);
}

TEST_CASE("every truncation of a state is corrupt")
{
    std::size_t cuts = 0;
    each_file([&](std::string_view form, std::string_view bytes, const state&) {
        const auto codec = codec_for(form);
        for (std::size_t n = 0; n != bytes.size(); ++n, ++cuts) {
            const state s = codec.decode(bytes.substr(0, n));
            if (s.outcome == state_read::corrupt) continue;
            FAIL_CHECK(n);
        }
    });
    CHECK(cuts > 6'000);
}

TEST_CASE("a flipped bit is corrupt, and never newer, absent or another state")
{
    std::size_t bits = 0;
    each_file([&](std::string_view form, std::string_view bytes, const state&) {
        if (form == "bare") return;  // it has no checksum
        const auto codec = codec_for(form);
        std::string turned(bytes);
        for (std::size_t n = 0; n != bytes.size() * 8; ++n, ++bits) {
            const auto bit = static_cast<char>(1U << n % 8);
            turned[n / 8] = static_cast<char>(turned[n / 8] ^ bit);
            const state s = codec.decode(turned);
            turned[n / 8] = static_cast<char>(turned[n / 8] ^ bit);
            if (s.outcome == state_read::corrupt) continue;
            FAIL_CHECK(n);
        }
    });
    CHECK(bits > 35'000);
}

TEST_CASE("without an envelope, a failed session is read as failed or refused for any flipped bit")
{
    const auto codec = codec_for("bare");
    std::size_t read = 0;
    for (const std::string_view name : {"failed", "escaped", "ends", "later_failed"}) {
        const std::string bytes = stored(name, "bare");
        std::string turned = bytes;
        for (std::size_t n = 0; n != bytes.size() * 8; ++n) {
            const auto bit = static_cast<char>(1U << n % 8);
            turned[n / 8] = static_cast<char>(turned[n / 8] ^ bit);
            const state s = codec.decode(turned);
            turned[n / 8] = static_cast<char>(turned[n / 8] ^ bit);
            CHECK(s.outcome != state_read::absent);
            if (s.outcome != state_read::ok) continue;
            CHECK(s.progress.failed.has_value());  // both parts have it
            ++read;
        }
    }
    CHECK(read > 1'000);
}

TEST_CASE(
    "a failed state from before waybill is never read as a running session after a flipped "
    "bit")
{
    std::size_t said = 0;
    for (const std::string_view form : {"bare", "json"}) {
        const auto codec = codec_for(form);
        for (const std::string_view name : {"legacy", "legacy_fields"}) {
            const std::string bytes = stored(name, "bare");
            std::string turned = bytes;
            for (std::size_t n = 0; n != bytes.size() * 8; ++n) {
                CAPTURE(n);
                const auto bit = static_cast<char>(1U << n % 8);
                turned[n / 8] = static_cast<char>(turned[n / 8] ^ bit);
                const state s = codec.decode(turned);
                turned[n / 8] = static_cast<char>(turned[n / 8] ^ bit);
                CHECK(s.outcome != state_read::absent);
                CHECK((s.outcome != state_read::ok || s.progress.failed.has_value()));
                if (s.problem == json_state_problem::bad_progress) ++said;
            }
        }
    }
    CHECK(said > 4 * 15 * 5);  // of each letter of the mark nearly every bit
}

TEST_CASE("a plain object from before waybill, with its failure mark")
{
    const auto codec = codec_for("bare");
    state s = codec.decode(stored("legacy", "bare"));
    REQUIRE(s.outcome == state_read::ok);
    REQUIRE(s.progress.failed.has_value());
    CHECK(*s.progress.failed == session_progress::failure{.text = "IsFailedSession"});
    CHECK(s.version == schema_version{0, 0});
    CHECK(s.value == golden_json_states::order{});

    s = codec.decode(stored("legacy_fields", "bare"));
    REQUIRE(s.outcome == state_read::ok);
    CHECK(s.progress.failed.has_value());
    CHECK(s.value.number == 4);
    CHECK(*codec.encode(s) ==
          R"({"IsFailedSession":true,"Receipt":"r17","lines":[],"notes":{},"number":4,)"
          R"("paid":false,"receipt":"","waybill":{"failed":{"at":"1970-01-01T00:00:00Z",)"
          R"("reason":"failed","sequence":0,"step":0,"text":"IsFailedSession",)"
          R"("tries":0},"version":"2.1"}})");
    s.progress.failed.reset();  // the session was repaired
    const auto mended = codec.encode(s);
    REQUIRE(mended.has_value());
    CHECK(mended->find("IsFailedSession") == std::string::npos);
    CHECK_FALSE(codec.decode(*mended).progress.failed.has_value());

    s = codec.decode(stored("legacy_going", "bare"));
    REQUIRE(s.outcome == state_read::ok);
    CHECK_FALSE(s.progress.failed.has_value());
    CHECK(codec_for("json").encode(s)->find("IsFailedSession") == std::string::npos);
}

}  // namespace
}  // namespace json_session_golden_test
