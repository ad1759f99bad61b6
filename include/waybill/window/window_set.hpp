// SPDX-License-Identifier: MIT
//
// window_set: one sliding window for each key, for example for each metric of each resource.
//
//     using key = std::pair<std::string, std::string>;                   // (resource, metric)
//     using backlog = waybill::sliding_window<waybill::stats<std::int64_t>>;
//     waybill::window_set<key, backlog> metrics{{.window = {.span = 10min}, .idle = 1h}};
//     metrics.insert({"orders", "length"}, at, value, now);
//     if (auto s = metrics.query({"orders", "length"}, now)) scale(*s);
//     metrics.for_each(now, [](const key& k, const auto& s) { log(k, s.points, s.mean()); });
//
//   1. A key is removed when its newest sample is `idle` old. `idle` is at least the span, if that
//      is limited. No timer and no scan of all keys: each call with a time removes idle keys.
//   2. There are never more than `max_keys` keys. A sample of one key too many is refused and
//      counted. A sample that is not inserted creates no window.
//   3. All windows have one clock, the latest time passed in. An unknown or idle key has no
//      summary; a key without samples in the span has that of an empty window, never an old value.
//   4. Keys are iterated in their order, independent of the order of insertion.
//
// A value without locks: one thread at a time.

#ifndef WAYBILL_WINDOW_WINDOW_SET_HPP
#define WAYBILL_WINDOW_WINDOW_SET_HPP

#include <concepts>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <waybill/core/config_error.hpp>
#include <waybill/core/detail/saturating.hpp>
#include <waybill/core/time.hpp>
#include <waybill/window/merged_windows.hpp>
#include <waybill/window/sliding_window.hpp>
#include <waybill/window/window_options.hpp>

namespace waybill::inline v0_2 {

/// The options of a set of windows. A plain value; `validate` checks it. A window with
/// `max_points` allocates memory for all of them when its key is created. A sample after the clock
/// keeps its key until its time, so set `window.ahead` and pass the time with each sample.
struct window_set_options {
    window_options window{};  ///< The options of each window.
    /// The age of a key's newest sample at which the key is removed. More than 0; at least
    /// `window.span`, if that is limited.
    duration idle = duration::highest();
    std::uint64_t max_keys = detail::highest_size;  ///< At least 1.

    friend bool operator==(const window_set_options&, const window_set_options&) = default;
};

[[nodiscard]] constexpr std::optional<config_error> validate(const window_set_options& o) noexcept
{
    if (std::optional<config_error> bad = validate(o.window)) {
        if (bad->field == "span") bad->field = "window.span";
        else if (bad->field == "ahead") bad->field = "window.ahead";
        else bad->field = "window.max_points";
        return bad;
    }
    const auto idle = static_cast<std::uint64_t>(o.idle.count());
    if (o.idle <= duration{}) {
        return config_error{.field = "idle",
                            .value = 0 - idle,
                            .rule = "nanoseconds must be more than",
                            .bound = 0,
                            .negative = o.idle < duration{}};
    }
    if (o.window.span != duration::highest() && o.idle < o.window.span) {
        return config_error{"idle", idle, "nanoseconds must be at least window.span",
                            static_cast<std::uint64_t>(o.window.span.count())};
    }
    if (o.max_keys == 0) return config_error{"max_keys", 0, "must be at least", 1};
    return {};
}

namespace detail {

/// A key of a window: any copyable value with == and <.
template <class Key>
concept window_key =
    std::copyable<Key> && std::equality_comparable<Key> && requires(const Key& a, const Key& b) {
        { a < b } -> std::convertible_to<bool>;
    };

}  // namespace detail

/// Windows by key. `Window` is a sliding_window.
template <detail::window_key Key, class Window>
class window_set {
public:
    using key_type = Key;
    using value_type = typename Window::value_type;
    using time_type = typename Window::time_type;
    using sample_type = typename Window::sample_type;
    using summary = typename Window::summary;

    explicit window_set(detail::no_options = {}) : window_set(window_set_options{}) {}
    explicit window_set(const window_set_options& o) : options_(o)
    {
        options_.idle = detail::greater(options_.idle, duration::nanoseconds(1));
        if (options_.window.span != duration::highest()) {
            options_.idle = detail::greater(options_.idle, options_.window.span);
        }
        if (options_.max_keys == 0) options_.max_keys = 1;
    }

    window_set(const window_set&) = default;
    window_set(window_set&&) = default;
    ~window_set() = default;

    /// If an allocation fails, nothing changes.
    window_set& operator=(const window_set& o) { return *this = window_set(o); }
    window_set& operator=(window_set&&) = default;

    /// Inserts a sample, and creates its window if needed. Returns an empty optional if there are
    /// too many keys. A sample so old that its key would be idle is too old for a new window.
    /// O(log n) for n keys, plus the insertion into the window.
    std::optional<insert_result> insert(const Key& key, time_type at, value_type value)
    {
        return insert(key, sample_type{at, value});
    }
    std::optional<insert_result> insert(const Key& key, time_type at, value_type value,
                                        std::uint64_t weight)
        requires(Window::weighted)
    {
        return insert(key, sample_type{at, value, detail::weight_or_zero(weight)});
    }
    /// Deleted: a floating-point weight. A weight is a whole number of events.
    template <std::floating_point Weight, class... Rest>
        requires(Window::weighted)
    std::optional<insert_result> insert(const Key&, time_type, value_type, Weight,
                                        Rest...) = delete;

    std::optional<insert_result> insert(const Key& key, const sample_type& s)
    {
        if (const auto found = entries_.find(key); found != entries_.end()) {
            return insert(found->second, s);
        }
        if (is_full()) {
            ++refused_;
            return {};
        }
        if (is_idle(s.at)) {
            ++removed_losses_.too_old;
            return insert_result::too_old;
        }
        entry created{Window(options_.window), s.at};
        const insert_result result = insert(created, s);
        if (created.window.size() != 0) add_entry(key, std::move(created));
        else add(removed_losses_, created.window.losses());
        return result;
    }

    /// Moves the clock to `now`, then inserts the sample.
    std::optional<insert_result> insert(const Key& key, time_type at, value_type value,
                                        time_type now)
    {
        advance(now);
        return insert(key, at, value);
    }
    std::optional<insert_result> insert(const Key& key, time_type at, value_type value,
                                        std::uint64_t weight, time_type now)
        requires(Window::weighted)
    {
        advance(now);
        return insert(key, at, value, weight);
    }
    std::optional<insert_result> insert(const Key& key, const sample_type& s, time_type now)
    {
        advance(now);
        return insert(key, s);
    }

    /// Merges the samples of a window that was stored or comes from another partition: see
    /// merged(). Moves the clock of the set to that of `w`. Returns false if there are too many
    /// keys.
    bool merge(const Key& key, const Window& w)
    {
        if (w.clock()) evict_idle(*w.clock());
        const auto found = entries_.find(key);
        const bool known = found != entries_.end();
        Window both = merged(known ? found->second.window : Window(options_.window), w);
        if (clock_) both.advance(*clock_);
        time_type last = known ? found->second.last : time_type::lowest();
        if (both.size() != 0) last = detail::later(last, both[both.size() - 1].at);
        if (known) {
            add(removed_losses_, found->second.window.losses());
            found->second = {std::move(both), last};
        } else if (both.size() != 0 && !is_idle(last)) {
            if (is_full()) return false;
            add_entry(key, {std::move(both), last});
        }
        add(removed_losses_, w.losses());
        return true;
    }

    /// Moves the clock to `now` and returns the summary of a key. Empty if the key is unknown or
    /// idle.
    [[nodiscard]] std::optional<summary> query(const Key& key, time_type now)
    {
        evict_idle(now);
        const auto found = entries_.find(key);
        if (found == entries_.end()) return {};
        return found->second.window.query(*clock_);
    }

    /// Moves the clock to `now` and calls f(key, summary) for all keys in their order.
    template <class F>
        requires std::invocable<F&, const Key&, const summary&>
    void for_each(time_type now, F f)
    {
        evict_idle(now);
        for (auto& [key, e] : entries_) f(key, e.window.query(*clock_));
    }

    /// Moves the clock to `now` and removes idle keys.
    void advance(time_type now) { evict_idle(now); }
    /// Moves the clock to `now` and removes idle keys. Returns their number. Every call with a time
    /// does this, too.
    std::uint64_t evict_idle(time_type now)
    {
        const bool first = !clock_;
        if (!clock_ || *clock_ < now) clock_ = now;
        if (first) rebuild_index();
        std::uint64_t n = 0;
        while (!by_sample_time_.empty() && is_idle(by_sample_time_.begin()->first)) {
            auto node = by_sample_time_.extract(by_sample_time_.begin());
            const auto found = entries_.find(node.mapped());
            if (found == entries_.end()) continue;
            if (!is_idle(found->second.last)) {
                node.key() = found->second.last;
                by_sample_time_.insert(std::move(node));
                continue;
            }
            add(removed_losses_, found->second.window.losses());
            entries_.erase(found);
            ++n;
        }
        return n;
    }

    /// The window of a key, to be stored. A null pointer if the key is unknown.
    [[nodiscard]] const Window* find(const Key& key) const
    {
        const auto found = entries_.find(key);
        return found == entries_.end() ? nullptr : &found->second.window;
    }
    /// Calls f(key, window) for all windows in the order of their keys, to store them.
    template <class F>
        requires std::invocable<F&, const Key&, const Window&>
    void for_each_window(F f) const
    {
        for (const auto& [key, e] : entries_) f(key, e.window);
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return entries_.size(); }
    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

    /// The number of samples that were refused because there were too many keys.
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    /// The losses of all windows, removed windows included.
    [[nodiscard]] window_losses losses() const
    {
        window_losses all = removed_losses_;
        for (const auto& [key, e] : entries_) add(all, e.window.losses());
        return all;
    }

    /// The latest time passed to the set. Empty before the first.
    [[nodiscard]] std::optional<time_type> clock() const noexcept { return clock_; }
    /// The options in use: corrected if `validate` would refuse them, with `idle` at least the
    /// span.
    [[nodiscard]] const window_set_options& options() const noexcept { return options_; }

    friend bool operator==(const window_set& a, const window_set& b)
    {
        return a.options_ == b.options_ && a.clock_ == b.clock_ && a.refused_ == b.refused_ &&
               a.removed_losses_ == b.removed_losses_ && a.entries_ == b.entries_;
    }

private:
    struct entry {
        Window window;
        time_type last{};  // time of the newest sample ever, also if it has left the window

        friend bool operator==(const entry&, const entry&) = default;
    };
    struct by_less {
        [[nodiscard]] bool operator()(const Key& a, const Key& b) const { return a < b; }
    };

    [[nodiscard]] bool is_full() const noexcept { return entries_.size() >= options_.max_keys; }
    [[nodiscard]] bool is_idle(time_type last) const noexcept
    {
        return options_.idle != duration::highest() && clock_ && *clock_ - last >= options_.idle;
    }

    /// For the first time passed in: removes samples that are too far ahead of it, and indexes all
    /// keys again by their newest sample.
    void rebuild_index()
    {
        by_sample_time_.clear();
        for (auto& [key, e] : entries_) {
            e.window.advance(*clock_);
            const std::uint64_t n = e.window.size();
            e.last = n == 0 ? time_type::lowest() : e.window[n - 1].at;
            if (options_.idle != duration::highest()) by_sample_time_.emplace(e.last, key);
        }
    }

    insert_result insert(entry& e, const sample_type& s)
    {
        if (clock_) e.window.advance(*clock_);
        const insert_result result = e.window.insert(s);
        if (result == insert_result::newest) e.last = detail::later(e.last, s.at);
        return result;
    }

    // `by_sample_time_` comes first: if the second allocation fails, an indexed key without a
    // window is removed later. A window that is not indexed would stay for ever.
    void add_entry(const Key& key, entry&& e)
    {
        if (options_.idle != duration::highest()) by_sample_time_.emplace(e.last, key);
        entries_.emplace(key, std::move(e));
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
    std::map<Key, entry, by_less> entries_;
    // Indexes each key by the time of one of its samples, not always the newest. If that time is
    // idle, the key is removed or, if its newest sample is not idle, indexed by that one. So this
    // index needs no update when a sample is inserted.
    std::multimap<time_type, Key> by_sample_time_;
    std::optional<time_type> clock_;
    std::uint64_t refused_ = 0;
    window_losses removed_losses_;
};

}  // namespace waybill::inline v0_2

#endif  // WAYBILL_WINDOW_WINDOW_SET_HPP
