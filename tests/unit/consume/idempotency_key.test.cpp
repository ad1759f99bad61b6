// SPDX-License-Identifier: MIT

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/consume/idempotency_key.hpp>

namespace idempotency_key_test {
namespace {

using waybill::idempotency_key;
using waybill::idempotency_keys;
using waybill::partition_key;
using idempotency_options = idempotency_keys::options;

// These keys are in users' tables. They must never change.
TEST_CASE("idempotency_key: golden keys")
{
    const partition_key plain{"orders", "billing", "0"};
    CHECK(idempotency_key(plain, 17) == "orders/billing/0/17");
    CHECK(idempotency_key(plain, 0) == "orders/billing/0/0");
    CHECK(idempotency_key(plain, ~std::uint64_t{0}) == "orders/billing/0/18446744073709551615");
    CHECK(idempotency_key(plain, 17, {.scope = idempotency_options::scope_type::event}) ==
          "orders/0/17");
    CHECK(idempotency_key({"a/b", "", "\xC3\xBC"}, 0) == "a%2Fb//%C3%BC/0");
    CHECK(idempotency_key({"", "", ""}, 1) == "///1");
    CHECK(idempotency_key({"~a", "B.c_d-e", "%41"}, 2) == "%7Ea/B.c_d-e/%2541/2");
    const partition_key longer{std::string(200, 'x'), "g", "0"};
    CHECK(idempotency_key(longer, 5) == "~9A3C4A03661CBC234DE0E845E203AB79/5");
    CHECK(idempotency_key(longer, 5, {.max_bytes = 300}) == std::string(200, 'x') + "/g/0/5");
}

TEST_CASE("idempotency_key: different events have different keys")
{
    const std::vector<std::string> names = {
        "",     "a",   "b",  "ab", "a/", "/a", "/",
        "%",    "%2F", "2F", "~",  "~a", "0",  std::string("\0", 1),
        "\xFF", "a b", "A"};
    for (const std::size_t most : {std::size_t{54}, std::size_t{128}}) {
        std::set<std::string> seen;
        std::size_t keys = 0;
        for (const auto& source : names) {
            for (const auto& group : names) {
                for (const auto& partition : names) {
                    for (const std::uint64_t n : {0U, 1U, 11U}) {
                        seen.insert(
                            idempotency_key({source, group, partition}, n, {.max_bytes = most}));
                        ++keys;
                    }
                }
            }
        }
        CHECK(seen.size() == keys);
    }
}

TEST_CASE("idempotency_key: keys with and without a group differ")
{
    std::set<std::string> seen;
    for (const char* a : {"", "a", "/", "a/a"}) {
        for (const char* b : {"", "a", "/"}) {
            seen.insert(idempotency_key({a, b, "0"}, 1));
            seen.insert(idempotency_key({a, "ignored", b}, 1,
                                        {.scope = idempotency_options::scope_type::event}));
        }
    }
    CHECK(seen.size() == 24);
}

TEST_CASE("idempotency_key: scope `event` omits the group")
{
    const idempotency_keys::options event{.scope = idempotency_options::scope_type::event};
    CHECK(idempotency_key({"s", "one", "0"}, 1, event) ==
          idempotency_key({"s", "other", "0"}, 1, event));
    CHECK(idempotency_key({"s", "one", "0"}, 1) != idempotency_key({"s", "other", "0"}, 1));
}

TEST_CASE("idempotency_key: a key has at most max_bytes; the keys of a partition have one form")
{
    for (std::size_t size = 0; size != 150; ++size) {
        for (const std::size_t most :
             {std::size_t{0}, std::size_t{54}, std::size_t{64}, std::size_t{128}}) {
            const partition_key key{std::string(size, 's'), "g", "0"};
            const std::string small = idempotency_key(key, 0, {.max_bytes = most});
            const std::string large = idempotency_key(key, ~std::uint64_t{0}, {.max_bytes = most});
            CHECK(large.size() <= (most < 54 ? 54 : most));
            CHECK((small[0] == '~') == (large[0] == '~'));
            for (const char c : large) CHECK((c > ' ' && c < 127));
        }
    }
}

TEST_CASE("idempotency_keys: a sequence of keys leaves no bytes of the previous one")
{
    idempotency_keys keys({"s", "g", "0"});
    CHECK(keys(~std::uint64_t{0}) == "s/g/0/18446744073709551615");
    CHECK(keys(7) == "s/g/0/7");
    CHECK(keys(10) == "s/g/0/10");
    CHECK(keys == idempotency_keys({"s", "g", "0"}));
    CHECK_FALSE(keys == idempotency_keys({"s", "g", "1"}));
    const auto copy = keys;
    CHECK(keys(8) == "s/g/0/8");
    CHECK(copy == keys);
}

static_assert(!validate(idempotency_keys::options{}));
static_assert(validate(idempotency_keys::options{.max_bytes = 53})->field ==
              "idempotency.max_bytes");
static_assert(name(idempotency_options::scope_type::event) == "event");

}  // namespace
}  // namespace idempotency_key_test
