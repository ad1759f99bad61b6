// SPDX-License-Identifier: MIT

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <waybill/batch/send_all.hpp>

namespace send_all_replace_throwing_test {

using namespace waybill;

TEST_CASE("send_all: a store that throws is called again; nothing is sent or lost in between")
{
    constexpr auto size = [](const std::string& s) { return s.size(); };
    std::vector<std::string> words{"a", "far too large", "b"};
    batch_sender s({.limit = {.bytes = 10}, .on_too_large = send_policy::when_too_large::replace});
    std::vector<std::vector<std::string>> sent;
    const auto send = [&](const auto& batch) -> send_outcome {
        sent.emplace_back(batch.begin(), batch.end());
        return batch_sender::accepted{};
    };
    int asked = 0;
    const auto store = [&](std::string& item, const batch_sender::replace& r) -> fault {
        CHECK(r.item == 1);
        if (++asked < 3) throw std::runtime_error("no route to the store");
        item = "#";
        return {};
    };
    CHECK_THROWS_AS((void)send_all(words, size, s, send, steady_time(), store), std::runtime_error);
    const batch_sender asking = s;
    CHECK(!s.finished());
    CHECK(s.in_flight() == 0);
    CHECK_THROWS_AS((void)send_all(words, size, s, send, steady_time(), store), std::runtime_error);
    CHECK(s == asking);
    CHECK(sent.empty());
    const send_report r = send_all(words, size, s, send, steady_time(), store);
    CHECK(r.accepted == 3);
    CHECK(sent == std::vector<std::vector<std::string>>{{"a", "#", "b"}});
    CHECK(asked == 3);
    CHECK(s.finished());

    // Another input afterwards finds the sender as if nothing had happened.
    std::vector<std::string> more{"c"};
    CHECK(send_all(more, size, s, send, steady_time(), store).accepted == 1);
}

}  // namespace send_all_replace_throwing_test
