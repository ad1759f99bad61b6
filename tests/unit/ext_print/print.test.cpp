// SPDX-License-Identifier: MIT
//
// Values of waybill in a std::ostream, beside other headers and operators that print.

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/ext/print.hpp>

namespace host {

struct order {
    int number = 0;
};
std::ostream& operator<<(std::ostream& to, const order& o)
{
    return to << "order " << o.number;
}

// Convertible to a type of waybill, but not one.
struct own_fault {
    operator waybill::fault() const { return waybill::permanent("converted"); }
};
struct own_report : waybill::item_report {};

enum class colour : std::uint8_t { red, green };
[[nodiscard]] constexpr std::string_view texts_of(colour) noexcept
{
    return "red, green";
}

}  // namespace host

// An operator of the caller for a type of waybill.
namespace waybill {
inline std::ostream& operator<<(std::ostream& to, const give_up&)
{
    return to << "my own text";
}
}  // namespace waybill

namespace ext_print_test {
namespace {

template <class T>
concept printable = requires(std::ostream& to, const T& value) { to << value; };

// As without the header.
static_assert(!printable<host::own_fault> && !printable<host::own_report>);
static_assert(!printable<host::colour>);
static_assert(printable<host::order> && printable<int>);

template <class T>
std::string printed(const T& value)
{
    std::ostringstream to;
    to << value;
    return to.str();
}

TEST_CASE("operator<< prints the text of describe, without a using-directive")
{
    const waybill::fault f = waybill::transient("no\nroute");
    CHECK(printed(f) == "transient: no\\nroute");
    CHECK(printed(f) == describe(f));
    CHECK(printed(waybill::retry_policy{}) == describe(waybill::retry_policy{}));
    CHECK(printed(waybill::batch_sender::started{3}) == "started: attempt 3");
    CHECK(printed(waybill::item_outcome::in_doubt) == "in_doubt");
    CHECK(printed(waybill::duration::seconds(90)) == "90s");
    CHECK(printed(waybill::wall_time{}) == "1970-01-01T00:00:00Z");
    CHECK(printed(waybill::steady_time::at(waybill::duration::seconds(5))) == "steady 5s");
    std::ostringstream to;
    std::ostream& base = to;
    base << waybill::duration::seconds(1) << ' ' << waybill::wall_time{};
    CHECK(to.str() == "1s 1970-01-01T00:00:00Z");
}

TEST_CASE("operator<< prints types of nested namespaces, nested types and variants")
{
    CHECK(printed(waybill::scaling::bounds{.lowest = 1, .highest = 4}) == "1 to 4 instances");
    CHECK(printed(waybill::scaling::verdict::held) == "held");
    CHECK(printed(waybill::wire::answer::throttled) == "throttled");
    CHECK(printed(waybill::retry_action(waybill::retry_now{})) == "retry now");
    const waybill::variant<waybill::idle, waybill::complete> own{waybill::complete{}};
    CHECK(printed(own) == "complete");
}

TEST_CASE("an operator of the caller takes precedence, also for its own types")
{
    CHECK(printed(waybill::give_up{}) == "my own text");
    CHECK(printed(host::order{7}) == "order 7");
}

TEST_CASE("chunks and item_ranges are printed as one line, not as ranges")
{
    const std::vector<int> sizes{1, 2, 9};
    const auto size = [](int n) { return static_cast<std::uint64_t>(n); };
    const auto chunks = waybill::chunk_by(sizes, waybill::batch_limits{.bytes = 3}, size);
    CHECK(printed(*chunks.begin()) == "2 items, 3 bytes, closed by bytes");
    CHECK(printed(waybill::batch_sender::item_ranges()) == "no items");
}

#ifdef __cpp_lib_format
TEST_CASE("std::format prints the text of describe")
{
    CHECK(std::format("{}", waybill::idle{}) == "idle");
    CHECK(std::format("{:>6}", waybill::fault_kind::none) == "  none");
    CHECK(std::format("{}", waybill::batch_sender::item_ranges()) == "no items");
    CHECK(std::format("{}", waybill::retry_action(waybill::retry_now{})) == "retry now");
}
#endif

}  // namespace
}  // namespace ext_print_test
