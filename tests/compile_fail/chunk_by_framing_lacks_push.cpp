// expect: framing: envelope(item), delta(state, item) and push(state, item) must be const
// SPDX-License-Identifier: MIT

#include <cstdint>
#include <string>
#include <vector>

#include <waybill/batch/chunk_by.hpp>

struct json_array {
    struct state {
        bool any = false;
        friend bool operator==(const state&, const state&) = default;
    };
    std::uint64_t envelope(const std::string&) const { return 2; }
    std::uint64_t delta(const state& s, const std::string& t) const { return t.size() + s.any; }
};

auto cut(std::vector<std::string>& documents)
{
    return waybill::chunk_by(documents, {.bytes = 1'000}, json_array{});
}
