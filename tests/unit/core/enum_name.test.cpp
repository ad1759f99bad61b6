// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string_view>

#include <waybill/core/enum_name.hpp>

namespace enum_name_test {
namespace {

enum class colour : std::uint8_t { red, dark_green, blue };
constexpr std::string_view texts_of(colour) noexcept
{
    return "red, dark green, blue";
}

enum class single { only };
constexpr std::string_view texts_of(single) noexcept
{
    return "only";
}

enum class without_texts { one };

struct owner {
    enum class state { open, closed };
    friend constexpr std::string_view texts_of(state) noexcept { return "open, closed"; }
};

using waybill::name;

static_assert(name(colour::red) == "red");
static_assert(name(colour::dark_green) == "dark green");
static_assert(name(colour::blue) == "blue");
static_assert(name(single::only) == "only");
static_assert(name(owner::state::closed) == "closed");

// A value that is no enumerator, such as one of a later version.
static_assert(name(static_cast<colour>(3)) == "?");
static_assert(name(static_cast<colour>(255)) == "?");
static_assert(name(static_cast<single>(-1)) == "?");

static_assert(waybill::detail::named_enum<colour>);
static_assert(!waybill::detail::named_enum<without_texts>);
static_assert(!waybill::detail::named_enum<int>);
static_assert(!waybill::detail::named_enum<owner>);

}  // namespace
}  // namespace enum_name_test
