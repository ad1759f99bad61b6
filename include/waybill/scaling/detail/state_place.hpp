// SPDX-License-Identifier: MIT
//
// state_place: the place of the state of an autoscaler: an object of the caller, or a store.

#ifndef WAYBILL_SCALING_DETAIL_STATE_PLACE_HPP
#define WAYBILL_SCALING_DETAIL_STATE_PLACE_HPP

#include <concepts>
#include <type_traits>
#include <utility>

#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/scaling/autoscale_state.hpp>

namespace waybill::inline v0_2::scaling::detail {

/// A state that the caller owns: every change is in it at once.
class owned_state {
public:
    explicit owned_state(autoscale_state& s) noexcept : state_(s) {}

    [[nodiscard]] fault load() const noexcept { return {}; }
    [[nodiscard]] fault save() const noexcept { return {}; }
    [[nodiscard]] autoscale_state& get() const noexcept { return state_; }

private:
    autoscale_state& state_;
};

/// A state in a store. After a failed `save` the copy here is newer than the stored one, and the
/// next `load` keeps it.
template <class Store>
class stored_state {
    static_assert(
        state_store<Store>,
        "autoscale: the state must be an autoscale_state or a state_store: load() returns "
        "a result<autoscale_state>, save(state) returns a fault");

public:
    explicit stored_state(Store& s) noexcept : store_(s) {}

    [[nodiscard]] fault load()
    {
        if (unsaved_) return {};
        result<autoscale_state> loaded = store_.load();
        if (!loaded) return std::move(loaded).error();
        state_ = *std::move(loaded);
        return {};
    }
    [[nodiscard]] fault save()
    {
        unsaved_ = true;
        fault f = store_.save(std::as_const(state_));
        unsaved_ = !f.ok();
        return f;
    }
    [[nodiscard]] autoscale_state& get() noexcept { return state_; }

private:
    Store& store_;
    std::conditional_t<std::is_void_v<Store>, void, autoscale_state> state_{};
    bool unsaved_ = false;
};

template <class State>
using state_place =
    std::conditional_t<std::same_as<State, autoscale_state>, owned_state, stored_state<State>>;

}  // namespace waybill::inline v0_2::scaling::detail

#endif  // WAYBILL_SCALING_DETAIL_STATE_PLACE_HPP
