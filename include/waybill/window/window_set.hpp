// SPDX-License-Identifier: MIT
//
// window_set: many windows side by side, one a key.
//
//     using key = std::pair<std::string, std::string>;                   // (resource, metric)
//     using backlog = waybill::sliding_window<waybill::stats<std::int64_t>>;
//     waybill::window_set<key, backlog> metrics{{.window = {.span = 10min}, .idle = 1h}};
//     metrics.insert({"orders", "length"}, at, value, now);
//     if (auto s = metrics.query({"orders", "length"}, now)) scale(*s);
//     metrics.for_each(now, [](const key& k, const auto& s) { log(k, s.points, s.mean()); });
//
// Keys come from outside, and what comes from outside comes without end. So:
//   1. a key goes when its last sample is `idle` old; that takes neither a timer nor a walk over
//      all keys, for every question tells the time. Never earlier than its window is empty: where
//      the span is longer than `idle`, the span counts. A window without a span goes with its
//      samples;
//   2. there are never more than `max_keys`; samples of one more are refused, counted, and answered
//      with an empty optional. A sample that is not taken opens no window;
//   3. all windows hear one clock, the latest time that was told, so that answers for several keys
//      go together. A key that is idle or unknown has no answer; one that is silent for the span
//      alone has the answer of an empty window, never that of its last value;
//   4. keys are gone through in their order, whatever came first.
//
// A window with `max_points` takes the room for all of them when its key comes. A sample that is
// dated in the future keeps its key until then, so `ahead` is worth having here, and telling the
// time with each sample.
// A value without locks: one thread at a time.

#ifndef WAYBILL_WINDOW_WINDOW_SET_HPP
#define WAYBILL_WINDOW_WINDOW_SET_HPP

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <waybill/core/check.hpp>
#include <waybill/core/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/merged_windows.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/window_options.hpp>

namespace waybill::inline v0_2 {

/// How windows are kept. A plain value; `check` finds what cannot work.
struct window_set_options {
    window_options window{};               ///< Of each of them.
    duration idle = duration::highest();   ///< A key goes when its last sample is so old.
    std::uint64_t max_keys = highest_size;

    friend bool operator==(const window_set_options&, const window_set_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> check(const window_set_options& o) noexcept
{
    if (std::optional<config_error> bad = check(o.window)) {
        bad->field = bad->field == "span" ? "window.span"
                   : bad->field == "ahead" ? "window.ahead"
                                           : "window.max_points";
        return bad;
    }
    const auto idle = static_cast<std::uint64_t>(o.idle.count());
    if (o.idle <= duration{}) {
        return config_error{"idle", 0 - idle, "nanoseconds must be more than", 0,
                            o.idle < duration{}};
    }
    if (o.window.span != duration::highest() && o.idle < o.window.span) {
        return config_error{"idle", idle, "nanoseconds must be at least window.span",
                            static_cast<std::uint64_t>(o.window.span.count())};
    }
    if (o.max_keys == 0) return config_error{"max_keys", 0, "must be at least", 1};
    return {};
}

/// What windows are told apart by: any value that has == and <.
template <class Key>
concept window_key =
    std::copyable<Key> && std::equality_comparable<Key> && requires(const Key& a, const Key& b) {
        { a < b } -> std::convertible_to<bool>;
    };

/// `Window` is a sliding_window.
template <window_key Key, class Window>
class window_set {
public:
    using key_type = Key;
    using value_type = typename Window::value_type;
    using time_type = typename Window::time_type;
    using sample_type = typename Window::sample_type;
    using summary = typename Window::summary;

    explicit window_set(const window_set_options& o = {}) : options_(o)
    {
        options_.idle = greater(options_.idle, duration::nanoseconds(1));
        if (options_.window.span != duration::highest()) {
            options_.idle = greater(options_.idle, options_.window.span);
        }
        if (options_.max_keys == 0) options_.max_keys = 1;
    }

    window_set(const window_set&) = default;
    window_set(window_set&&) = default;
    ~window_set() = default;

    /// All of it or, where memory does not do, nothing.
    window_set& operator=(const window_set& o) { return *this = window_set(o); }
    window_set& operator=(window_set&&) = default;

    /// What became of a sample; empty if there are too many keys for it. A sample so old that its
    /// key would be idle is too old for a new window.
    std::optional<inserted> insert(const Key& key, time_type at, value_type value)
    {
        return insert(key, sample_type{at, value});
    }
    std::optional<inserted> insert(const Key& key, time_type at, value_type value,
                                   std::uint64_t weight)
        requires(Window::weighted)
    {
        return insert(key, sample_type{at, value, detail::known_weight(weight)});
    }
    /// A weight is a number of events, and half an event is none.
    template <std::floating_point Weight, class... Rest>
        requires(Window::weighted)
    std::optional<inserted> insert(const Key&, time_type, value_type, Weight, Rest...) = delete;

    std::optional<inserted> insert(const Key& key, const sample_type& s)
    {
        if (const auto found = kept_.find(key); found != kept_.end()) {
            return insert(found->second, s);
        }
        if (is_full()) {
            ++refused_;
            return {};
        }
        if (is_idle(s.at)) {
            ++gone_.too_old;
            return inserted::too_old;
        }
        entry fresh{Window(options_.window), s.at};
        const inserted what = insert(fresh, s);
        if (fresh.window.size() != 0) keep(key, std::move(fresh));
        else add(gone_, fresh.window.losses());
        return what;
    }

    /// Tells the time, and takes a sample then.
    std::optional<inserted> insert(const Key& key, time_type at, value_type value, time_type now)
    {
        advance(now);
        return insert(key, at, value);
    }
    std::optional<inserted> insert(const Key& key, time_type at, value_type value,
                                   std::uint64_t weight, time_type now)
        requires(Window::weighted)
    {
        advance(now);
        return insert(key, at, value, weight);
    }
    std::optional<inserted> insert(const Key& key, const sample_type& s, time_type now)
    {
        advance(now);
        return insert(key, s);
    }

    /// Adds the samples of a window that was stored, or comes from another partition: see merged().
    /// The time that it was told is told to all. False if there are too many keys for it.
    bool merge(const Key& key, const Window& w)
    {
        if (w.clock()) evict_idle(*w.clock());
        const auto found = kept_.find(key);
        const bool known = found != kept_.end();
        Window both = merged(known ? found->second.window : Window(options_.window), w);
        if (clock_) both.advance(*clock_);
        time_type last = known ? found->second.last : time_type::lowest();
        if (both.size() != 0) last = later(last, both[both.size() - 1].at);
        if (known) {
            add(gone_, found->second.window.losses());
            found->second = {std::move(both), last};
        } else if (both.size() != 0 && !is_idle(last)) {
            if (is_full()) return false;
            keep(key, {std::move(both), last});
        }
        add(gone_, w.losses());
        return true;
    }

    /// The answer for one key; empty where it is unknown or idle.
    [[nodiscard]] std::optional<summary> query(const Key& key, time_type now)
    {
        evict_idle(now);
        const auto found = kept_.find(key);
        if (found == kept_.end()) return {};
        return found->second.window.query(*clock_);
    }

    /// The answers for all keys, in their order: f(key, summary).
    template <class F>
        requires std::invocable<F&, const Key&, const summary&>
    void for_each(time_type now, F f)
    {
        evict_idle(now);
        for (auto& [key, e] : kept_) f(key, e.window.query(*clock_));
    }

    /// Tells the time; keys that are idle by then go.
    void advance(time_type now) { evict_idle(now); }
    /// The same, and how many they are. Questions do it, too.
    std::uint64_t evict_idle(time_type now)
    {
        const bool first = !clock_;
        if (!clock_ || *clock_ < now) clock_ = now;
        if (first) file_anew();
        std::uint64_t n = 0;
        while (!filed_.empty() && is_idle(filed_.begin()->first)) {
            auto node = filed_.extract(filed_.begin());
            const auto found = kept_.find(node.mapped());
            if (found == kept_.end()) continue;
            if (!is_idle(found->second.last)) {
                node.key() = found->second.last;
                filed_.insert(std::move(node));
                continue;
            }
            add(gone_, found->second.window.losses());
            kept_.erase(found);
            ++n;
        }
        return n;
    }

    /// The window of a key, to be stored; a null pointer where there is none.
    [[nodiscard]] const Window* find(const Key& key) const
    {
        const auto found = kept_.find(key);
        return found == kept_.end() ? nullptr : &found->second.window;
    }
    /// All windows, to be stored, in the order of their keys: f(key, window).
    template <class F>
        requires std::invocable<F&, const Key&, const Window&>
    void for_each_window(F f) const
    {
        for (const auto& [key, e] : kept_) f(key, e.window);
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return kept_.size(); }
    [[nodiscard]] bool empty() const noexcept { return kept_.empty(); }

    /// How many samples were refused because there were too many keys.
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    /// What all windows have lost, those that are gone among them.
    [[nodiscard]] window_losses losses() const
    {
        window_losses all = gone_;
        for (const auto& [key, e] : kept_) add(all, e.window.losses());
        return all;
    }

    /// The latest time that was told.
    [[nodiscard]] std::optional<time_type> clock() const noexcept { return clock_; }
    /// As they are followed: see `idle`.
    [[nodiscard]] const window_set_options& options() const noexcept { return options_; }

    friend bool operator==(const window_set& a, const window_set& b)
    {
        return a.options_ == b.options_ && a.clock_ == b.clock_ && a.refused_ == b.refused_ &&
               a.gone_ == b.gone_ && a.kept_ == b.kept_;
    }

private:
    struct entry {
        Window window;
        time_type last{};  // of its newest sample ever

        friend bool operator==(const entry&, const entry&) = default;
    };
    struct by_less {
        [[nodiscard]] bool operator()(const Key& a, const Key& b) const { return a < b; }
    };

    [[nodiscard]] bool is_full() const noexcept { return kept_.size() >= options_.max_keys; }
    [[nodiscard]] bool is_idle(time_type last) const noexcept
    {
        return options_.idle != duration::highest() && clock_ && *clock_ - last >= options_.idle;
    }

    /// What came before any time was told may have been dated too far ahead of it, and is gone now.
    void file_anew()
    {
        filed_.clear();
        for (auto& [key, e] : kept_) {
            e.window.advance(*clock_);
            const std::uint64_t n = e.window.size();
            e.last = n == 0 ? time_type::lowest() : e.window[n - 1].at;
            if (options_.idle != duration::highest()) filed_.emplace(e.last, key);
        }
    }

    inserted insert(entry& e, const sample_type& s)
    {
        if (clock_) e.window.advance(*clock_);
        const inserted what = e.window.insert(s);
        if (what == inserted::newest) e.last = later(e.last, s.at);
        return what;
    }

    // Filed first: one that is filed and not kept is found and dropped, but not the other way
    // round.
    void keep(const Key& key, entry&& e)
    {
        if (options_.idle != duration::highest()) filed_.emplace(e.last, key);
        kept_.emplace(key, std::move(e));
    }

    static void add(window_losses& sum, const window_losses& l) noexcept
    {
        sum.too_old += l.too_old;
        sum.future += l.future;
        sum.not_finite += l.not_finite;
        sum.no_weight += l.no_weight;
        sum.pushed_out += l.pushed_out;
    }

    window_set_options options_;
    std::map<Key, entry, by_less> kept_;
    // Each key by the time of a sample of it, not always the last: whoever comes first here is
    // looked at when that is idle, and filed anew if there were others since. So a sample costs
    // nothing more.
    std::multimap<time_type, Key> filed_;
    std::optional<time_type> clock_;
    std::uint64_t refused_ = 0;
    window_losses gone_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_WINDOW_SET_HPP
