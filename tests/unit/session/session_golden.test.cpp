// SPDX-License-Identifier: MIT
//
// States of version 1 in golden/session stay readable, and changed bytes are refused. The states in
// JSON and CBOR are read by the tests of ext_json; their envelopes are here, too.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <golden/session/text_states.hpp>
#include <support/golden.hpp>

#include <waybill/session/detail/sealed_state.hpp>
#include <waybill/session/detail/text_state_codec.hpp>
#include <waybill/session/envelope.hpp>
#include <waybill/session/state_text.hpp>

namespace session_golden_test {
namespace {

using namespace waybill;

/// The names of all files that have an envelope.
std::vector<std::string> sealed_files()
{
    std::filesystem::path folder(__FILE__);
    folder = folder.parent_path() / ".." / ".." / "golden" / "session";
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = "session/" + entry.path().filename().string();
        if (tests_support::golden(name).starts_with("waybill/")) all.push_back(name);
    }
    return all;
}

}  // namespace

TEST_CASE("stored text states of version 1 are read, and written with the same bytes")
{
    std::size_t read = 0;
    golden_states::each([&](std::string_view name, const text_state& s) {
        CAPTURE(name);
        const std::string bytes = tests_support::golden("session/" + std::string(name) + ".text");
        const auto written = detail::write_text_state(s, golden_states::options);
        REQUIRE(written.has_value());
        CHECK(*written == bytes);
        CHECK(detail::text_state_size(s) == bytes.size());
        const text_state::read_result r = detail::read_text_state(bytes, golden_states::options);
        CHECK(r.outcome == state_read::ok);
        CHECK(r.state == s);
        ++read;
    });
    CHECK(read == 11);
}

TEST_CASE("stored states that are truncated or have any bit changed are corrupt")
{
    const std::vector<std::string> names = sealed_files();
    CHECK(names.size() >= 8);
    std::uint64_t refused = 0;
    std::uint64_t tried = 0;
    for (const std::string& name : names) {
        CAPTURE(name);
        const std::string good = tests_support::golden(name);
        CHECK(detail::open_state(good, 262'144).outcome == state_read::ok);
        for (std::size_t n = 0; n != good.size(); ++n) {
            const opened_state s = detail::open_state(std::string_view(good).substr(0, n), 262'144);
            refused += s.outcome == state_read::corrupt ? 1U : 0U;
            std::string bad = good;
            for (unsigned bit = 0; bit != 8; ++bit) {
                bad[n] = static_cast<char>(static_cast<unsigned char>(good[n]) ^ (1U << bit));
                refused +=
                    detail::open_state(bad, 262'144).outcome == state_read::corrupt ? 1U : 0U;
            }
            bad[n] = good[n];
        }
        tried += 9 * good.size();
        for (const std::uint64_t most : {std::uint64_t{0}, std::uint64_t{good.size() - 1}}) {
            CHECK(detail::open_state(good, most).outcome == state_read::too_large);
        }
        CHECK(detail::open_state(good, good.size()).outcome == state_read::ok);
    }
    CHECK(refused == tried);
}

}  // namespace session_golden_test
