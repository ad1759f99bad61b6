// SPDX-License-Identifier: MIT
//
// A program with the extensions that its project requests.

#ifdef WITH_JSON
#include <waybill/ext/json.hpp>
#endif
#ifdef WITH_FMT
#include <waybill/ext/fmt.hpp>
#endif
#ifdef WITH_RANGES
#include <waybill/ext/ranges.hpp>
#endif
#include <waybill/waybill.hpp>

int main()
{
#ifdef WITH_JSON
    if (nlohmann::json::parse("{\"a\": 1}").at("a") != 1) return 1;
#endif
#ifdef WITH_FMT
    if (fmt::format("{}", 1) != "1") return 2;
#endif
    return WAYBILL_VERSION > 0 ? 0 : 3;
}
