// SPDX-License-Identifier: MIT
//
// attempt_conformance: what a store has to do at `attempted`, `note` and `forget`.
//
// A part of conformance.hpp, for a store that keeps attempts.

#ifndef WAYBILL_TESTING_ATTEMPT_CONFORMANCE_HPP
#define WAYBILL_TESTING_ATTEMPT_CONFORMANCE_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/testing/trial.hpp>

namespace waybill::inline v0_1::testing {

/// The rules of `attempted`, `note` and `forget`.
template <class Make, class Again = no_second>
[[nodiscard]] std::vector<std::string> attempt_conformance(Make make, Again again = {})
{
    detail::trial t;
    const partition_key key = detail::key_of("orders", "billing", "0");
    const attempt row{17, 117, 100, 2, 0x9E3779B97F4A7C15U, 5};

    const auto stands = [&](auto& s, const partition_key& k, const std::optional<attempt>& at) {
        const auto r = s.attempted(k);
        return r && *r == at;
    };
    const auto noted = [&](auto& s, const partition_key& k, const attempt& a) {
        auto tx = t.open(s);
        return tx && s.note(*tx, k, a) && t.committed(*tx);
    };
    const auto forgotten = [&](auto& s, const partition_key& k) {
        auto tx = t.open(s);
        return tx && s.forget(*tx, k) && t.committed(*tx);
    };

    {
        auto s = make();
        t.holds(stands(s, key, {}), "attempted: a row that was never noted is absent");
        t.holds(forgotten(s, key) && stands(s, key, {}), "forget: where there is no row that is no error");
        t.holds(noted(s, key, row) && stands(s, key, row), "attempted: answers what was committed, every field");
        constexpr std::uint64_t half = std::uint64_t{1} << 63U;
        constexpr std::uint64_t odd = (std::uint64_t{1} << 53U) + 1;
        constexpr std::uint64_t all = detail::largest;
        const attempt rows[] = {{{}, 3, 1, 0, 0, 2},
                                {0, 0, 0, 0, 1, 0},
                                {all, all, all, UINT32_MAX, all, all},
                                {half, odd, half, 1U << 31U, odd, half},
                                {odd, half, odd, 1, half, odd}};
        for (const attempt& a : rows) {
            t.holds(noted(s, key, a) && stands(s, key, a),
                    "note: replaces the row, with numbers of all bits, and absent is not 0");
        }
        t.holds(forgotten(s, key) && stands(s, key, {}), "forget: removes the row");
        t.holds(noted(s, key, row) && stands(s, key, row), "note: works again after a forget");
    }
    {
        auto s = make();
        {
            auto tx = t.open(s);
            if (tx) (void)s.note(*tx, key, row);
        }
        t.holds(stands(s, key, {}), "a row is gone with a transaction that goes out of scope");
        (void)noted(s, key, row);
        if (auto tx = t.open(s)) {
            (void)s.forget(*tx, key);
            tx->rollback();
        }
        t.holds(stands(s, key, row), "a row that was forgotten is back after a rollback");
        if (auto tx = t.open(s)) {
            const attempt other{18, 68, 50, 2, 3, 6};
            const bool done = s.forget(*tx, key) && s.note(*tx, key, other) && t.committed(*tx);
            t.holds(done && stands(s, key, other), "note: within a transaction the last one counts");
        }
    }
    {
        auto s = make();
        const std::vector<partition_key> keys = detail::similar_keys();
        bool set = true;
        for (std::uint64_t i = 0; i != keys.size(); ++i) set = noted(s, keys[i], {i, i + 2, i + 1, 0, 1, 1}) && set;
        for (std::uint64_t gone = 0; gone != keys.size(); ++gone) {
            for (std::uint64_t i = gone; i != keys.size(); ++i) {
                set = stands(s, keys[i], attempt{i, i + 2, i + 1, 0, 1, 1}) && set;
            }
            set = forgotten(s, keys[gone]) && stands(s, keys[gone], {}) && set;
        }
        t.holds(set, "rows of different keys are independent, whatever characters are in them");
    }
    if constexpr (requires(std::remove_cvref_t<std::invoke_result_t<Make&>>& s) { s.load(key); }) {
        auto s = make();
        (void)noted(s, key, row);
        const position five{5, ""};
        if (auto tx = t.open(s)) {
            (void)s.advance(*tx, key, {}, five, 1);
            (void)s.forget(*tx, key);
            tx->rollback();
            t.holds(stands(s, key, row) && t.stands(s, key, {}), "row and checkpoint are rolled back together");
        }
        if (auto tx = t.open(s)) {
            (void)s.advance(*tx, key, {}, five, 1);
            (void)s.forget(*tx, key);
            t.holds(t.committed(*tx) && stands(s, key, {}) && t.stands(s, key, checkpoint{five, 1}),
                    "row and checkpoint are committed together");
        }
    }
    if constexpr (!std::is_same_v<Again, no_second>) {
        auto s = make();
        decltype(auto) other = again(s);
        if (auto tx = t.open(s)) {
            (void)s.note(*tx, key, row);
            const auto seen = other.attempted(key);
            t.holds(!seen || !*seen, "a row is seen by nobody before it is committed");
            (void)tx->commit();
        }
        t.holds(stands(other, key, row), "a committed row is seen by everybody");
    }
    return std::move(t.broken);
}

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_ATTEMPT_CONFORMANCE_HPP
