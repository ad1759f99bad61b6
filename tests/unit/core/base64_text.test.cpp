// SPDX-License-Identifier: MIT

#include <string>

#include <doctest/doctest.h>

#include <waybill/core/detail/base64_text.hpp>

namespace base64_text_test {

TEST_CASE("base64_text: encoding round-trips, and decoding accepts only canonical text")
{
    std::string bytes;
    for (int n = 0; n != 300; ++n) {
        const std::string text = waybill::detail::to_base64(bytes);
        CHECK(text.size() == waybill::detail::base64_characters(bytes.size()));
        CHECK(waybill::detail::base64_bytes(text.size()) == bytes.size());
        CHECK(waybill::detail::from_base64(text) == bytes);
        bytes += static_cast<char>(n * 37 % 256);
    }
    CHECK(waybill::detail::to_base64("foobar") == "Zm9vYmFy");  // RFC 4648, section 10
    CHECK(waybill::detail::to_base64("foob") == "Zm9vYg");
    CHECK(!waybill::detail::from_base64("Zm9vYg=="));
    CHECK(!waybill::detail::from_base64("Zm9vYh"));  // bits that are not used, and not zero
    CHECK(!waybill::detail::from_base64("Zm9vY"));
    CHECK(!waybill::detail::from_base64("Zm9-"));
}

}  // namespace base64_text_test
