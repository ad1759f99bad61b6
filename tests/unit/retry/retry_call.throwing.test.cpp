// SPDX-License-Identifier: MIT

#include <chrono>
#include <stdexcept>
#include <system_error>

#include <doctest/doctest.h>

#include <waybill/ext/exceptions.hpp>
#include <waybill/retry/retry_call.hpp>
#include <waybill/testing/manual_environment.hpp>

namespace throwing_call_test {

using namespace waybill;
using namespace std::chrono_literals;

namespace {

TEST_CASE("retry_call: an exception is passed on, and its try is not counted")
{
    testing::manual_environment env;
    retry_loop tries({.retry = {.max_attempts = 2}}, {});
    const auto throws = []() -> fault { throw std::runtime_error("no"); };
    CHECK_THROWS_AS((void)retry_call(tries, throws, env), std::runtime_error);
    CHECK(tries == retry_loop({.retry = {.max_attempts = 2}}, {}));
    CHECK(retry_call(tries, [] { return fault{}; }, env).tries == 1);
}

TEST_CASE("retry_call: an exception converted by catching is a fault")
{
    testing::manual_environment env;
    int calls = 0;
    const auto down = catching([&] {
        if (++calls < 3) throw std::system_error(std::make_error_code(std::errc::timed_out));
    });
    CHECK(retry_call({}, down, env).ok());
    CHECK(calls == 3);
    const auto bad = catching([] { throw std::runtime_error("bad address"); });
    const call_report r = retry_call({}, bad, env);
    CHECK(r.tries == 1);
    CHECK(r.reason == permanent("bad address"));
}

}  // namespace
}  // namespace throwing_call_test
