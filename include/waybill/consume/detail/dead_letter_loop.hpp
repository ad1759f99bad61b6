// SPDX-License-Identifier: MIT
//
// dead_letter_loop: tries each selected dead letter of a store. Part of resubmit and reprocess_all.

#ifndef WAYBILL_CONSUME_DETAIL_DEAD_LETTER_LOOP_HPP
#define WAYBILL_CONSUME_DETAIL_DEAD_LETTER_LOOP_HPP

#include <concepts>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include <waybill/consume/dead_letter_run.hpp>
#include <waybill/consume/detail/checked_stores.hpp>
#include <waybill/consume/position.hpp>
#include <waybill/consume/stores.hpp>
#include <waybill/core/act.hpp>
#include <waybill/core/config_error.hpp>
#include <waybill/core/fault.hpp>
#include <waybill/core/result.hpp>
#include <waybill/core/time.hpp>
#include <waybill/core/variant.hpp>
#include <waybill/retry/decide.hpp>

namespace waybill::inline v0_2::detail {

/// A store that lists its keys.
template <class S>
inline constexpr bool lists_keys = requires(S& s) {
    { s.dead_letter_keys() } -> std::same_as<result<std::vector<partition_key>>>;
};

template <class S>
constexpr void check_lists_keys() noexcept
{
    static_assert(lists_keys<S>,
                  "store: without dead_letter_keys(), which returns "
                  "result<std::vector<partition_key>>, the policy must contain the "
                  "keys");
}

enum class letter_state : std::uint8_t {
    settled,  ///< The dead letter is counted in the report.
    refused,  ///< It stays, for `reason`.
    retry,    ///< A call failed with `reason`.
    stopped,  ///< A stop was requested.
};

/// The result of one attempt of one dead letter.
struct letter_attempt {
    letter_state state = letter_state::settled;
    fault reason{};
    duration retry_after{};
};

/// `Try` has two functions. `letter_attempt try_one(const dead_letter&)` is called again for a
/// retry of the same dead letter. `void leave()` is called if a dead letter is not settled.
template <class Store, class Clock, class Try>
class dead_letter_loop {
    static_assert(checked_dead_letter_queue<Store>::ok);
    using report_type = dead_letter::run_report;
    // std::vector<dead_letter>. It depends on the store, so that reading this header instantiates
    // nothing of it.
    using letters_type = std::remove_cvref_t<decltype(*std::declval<Store&>().list(
        std::declval<const partition_key&>(), std::declval<const std::optional<std::uint64_t>&>(),
        std::uint64_t{}))>;
    enum class ending : std::uint8_t { go_on, end };

public:
    dead_letter_loop(Store& store, Clock& clock, const dead_letter::run_policy& policy,
                     report_type& report, Try& each)
        : store_(store), clock_(clock), policy_(policy), report_(report), each_(each)
    {
        report_.outcome = report_type::run_outcome::running;
        report_.reason = {};
    }

    void run()
    {
        if (const auto bad = validate(policy_)) return stop(permanent(describe(*bad)));
        if (!policy_.keys.empty()) return run(policy_.keys);
        if constexpr (lists_keys<Store>) {
            std::remove_cvref_t<decltype(*store_.dead_letter_keys())> keys;
            if (read(keys, [&] { return store_.dead_letter_keys(); }) == ending::end) return;
            run(keys);
        } else {
            stop(permanent("the store has no dead_letter_keys(): set run_policy::keys"));
        }
    }

private:
    template <class Keys>
    void run(const Keys& keys)
    {
        for (const auto& key : keys) {
            if (run_key(key) == ending::end) return;
        }
        report_.outcome = report_type::run_outcome::finished;
    }

    [[nodiscard]] ending run_key(const partition_key& key)
    {
        std::optional<std::uint64_t> after;
        for (;;) {
            letters_type page;
            const auto list = [&] { return store_.list(key, after, policy_.page); };
            if (read(page, list) == ending::end) return ending::end;
            const std::optional<std::uint64_t> before = after;
            for (const auto& letter : page) {
                if (after && letter.at.sequence <= *after) continue;
                if (!selects(letter)) ++report_.filtered;
                else if (try_letter(letter) == ending::end) return ending::end;
                after = letter.at.sequence;
            }
            if (after == before) return ending::go_on;
        }
    }

    [[nodiscard]] bool selects(const dead_letter& d) const
    {
        const bool kind_selected = policy_.kind == fault_kind::none || policy_.kind == d.kind;
        return kind_selected && d.dead_lettered_at >= policy_.dead_lettered_from &&
               d.dead_lettered_at <= policy_.dead_lettered_to;
    }

    /// Reads from the store, with retries.
    template <class To, class F>
    [[nodiscard]] ending read(To& to, F&& f)
    {
        for (std::uint32_t tries = 1;; ++tries) {
            if (clock_.stop_requested()) return ending::end;
            auto r = f();
            if (r) {
                to = *std::move(r);
                return ending::go_on;
            }
            const letter_attempt failed{.reason = std::move(r).error()};
            if (pause(failed, tries)) continue;
            if (gave_up_) stop(failed.reason);
            return ending::end;
        }
    }

    [[nodiscard]] ending try_letter(const dead_letter& letter)
    {
        for (std::uint32_t tries = 1;; ++tries) {
            if (clock_.stop_requested()) return leave(ending::end);
            letter_attempt a = each_.try_one(letter);
            if (a.state == letter_state::stopped) return leave(ending::end);
            if (a.state == letter_state::settled) {
                exhausted_before_ = false;
                return ending::go_on;
            }
            if (a.state == letter_state::refused) {
                add_failure(letter, std::move(a.reason));
                return leave(ending::go_on);
            }
            if (pause(a, tries)) continue;
            if (!gave_up_) return leave(ending::end);
            // A single message can cause a transient fault. If two dead letters in a row use up
            // their attempts, the broker is the cause.
            const bool transient = a.reason.kind == fault_kind::transient;
            if (!transient || std::exchange(exhausted_before_, true)) {
                stop(std::move(a.reason));
                return leave(ending::end);
            }
            add_failure(letter, std::move(a.reason));
            return leave(ending::go_on);
        }
    }

    [[nodiscard]] ending leave(ending e)
    {
        each_.leave();
        return e;
    }

    /// Sleeps before the next attempt. False if there is none: `gave_up_` is then true, except
    /// after a stop request.
    [[nodiscard]] bool pause(const letter_attempt& failed, std::uint32_t tries)
    {
        const retry_action next = decide(policy_.retry, tries, failed.reason.kind, clock_.random(),
                                         clock_.now(), failed.retry_after);
        gave_up_ = holds_alternative<give_up>(next);
        if (gave_up_) return false;
        const auto* wait = get_if<wait_until>(&next);
        return wait == nullptr || clock_.sleep_until(wait->time);
    }

    void add_failure(const dead_letter& letter, fault reason)
    {
        report_.failed.push_back(
            {.key = letter.key, .sequence = letter.at.sequence, .reason = std::move(reason)});
    }

    void stop(fault reason)
    {
        report_.outcome = report_type::run_outcome::stopped;
        report_.reason = std::move(reason);
    }

    Store& store_;
    Clock& clock_;
    const dead_letter::run_policy& policy_;
    report_type& report_;
    Try& each_;
    bool gave_up_ = false;
    bool exhausted_before_ = false;  // the attempts of the previous dead letter were used up
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_CONSUME_DETAIL_DEAD_LETTER_LOOP_HPP
