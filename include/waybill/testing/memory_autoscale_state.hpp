// SPDX-License-Identifier: MIT
//
// memory_autoscale_state: the stored state of an autoscaler in memory, for tests.
//
//     waybill::testing::memory_autoscale_state store;
//     (void)scaling::autoscale_once({{"orders", depth}}, policy, store, count, resize, env);
//     CHECK(store.saved().state.last_id == 1);
//
// It conforms to autoscale_state_conformance.hpp.

#ifndef WAYBILL_TESTING_MEMORY_AUTOSCALE_STATE_HPP
#define WAYBILL_TESTING_MEMORY_AUTOSCALE_STATE_HPP

#include <cstdint>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/scaling/autoscale_state.hpp>

namespace waybill::inline v0_2::testing {

class memory_autoscale_state {
public:
    [[nodiscard]] result<scaling::autoscale_state> load() const { return saved_; }

    [[nodiscard]] fault save(const scaling::autoscale_state& s)
    {
        saved_ = s;
        ++saves_;
        return {};
    }

    [[nodiscard]] const scaling::autoscale_state& saved() const noexcept { return saved_; }
    [[nodiscard]] std::uint64_t saves() const noexcept { return saves_; }

    friend bool operator==(const memory_autoscale_state&, const memory_autoscale_state&) = default;

private:
    scaling::autoscale_state saved_{};
    std::uint64_t saves_ = 0;
};

static_assert(scaling::state_store<memory_autoscale_state>);

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_MEMORY_AUTOSCALE_STATE_HPP
