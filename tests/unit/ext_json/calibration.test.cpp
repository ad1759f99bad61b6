// SPDX-License-Identifier: MIT

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <waybill/batch/batch_sender.hpp>
#include <waybill/ext/json/batch.hpp>

namespace json_calibration_test {

using namespace waybill;

TEST_CASE("a refuted limit is stored; without one the JSON has no field for it")
{
    const calibration before{.documented = 9'000, .limit = 9'000, .ceiling = 9'000};
    const nlohmann::json without = before;
    CHECK(!without.contains("refuted_limit"));
    CHECK(*parse_json<calibration>(without.dump()) == before);

    calibration refuted = before;
    refuted.refuted_limit = 256;
    const nlohmann::json form = refuted;
    CHECK(form.at("refuted_limit") == 256);
    const auto again = parse_json<calibration>(form.dump());
    REQUIRE(again.has_value());
    CHECK(*again == refuted);
    CHECK(detail::calibrator(*again).state() == refuted);
}

}  // namespace json_calibration_test
