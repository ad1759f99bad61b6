// SPDX-License-Identifier: MIT
//
// fiba: a peer that accepts late samples, written after Tangwongsan, Hirzel and Schneider, "Optimal
// and General Out-of-Order Sliding-Window Aggregation" (VLDB 2019): a B-tree with two fingers.
//
// The leaves contain all samples and have the same depth. A node has `Min` to 2 * `Min` items. The
// root may have 2, and a node of the left spine 1, so a removal moves no items. Of `Min` from 2 to
// 16, 8 was the fastest. Measures depend on the place of a node:
//   - A branch stores the measure of its subtree, unless the subtree is on a spine.
//   - A level of the right spine stores the measure of its node and of all upper levels, without
//     their items on a spine.
//   - The left spine does the same without the root. Its leaf stores a measure for each sample:
//     that of the samples from this one on.
// The result combines the measures of both leaves. A finger is an array of the nodes of a spine, so
// nodes need no parent. Nodes come from a pool, which grows if a window has more than n samples.
//
// Cost, in combines and nodes: O(log d) amortised to insert a sample that is older than d others,
// O(1) amortised to remove the oldest, and 1 combine for the result. The order of samples is kept,
// so `combine` need not be commutative.

#ifndef WAYBILL_BENCH_WINDOW_FIBA_HPP
#define WAYBILL_BENCH_WINDOW_FIBA_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "data.hpp"
#include "peers.hpp"

namespace window_bench {

template <std::size_t Min = 8>
class basic_fiba {
    static_assert(Min >= 2);

public:
    static constexpr const char* name = "FiBA";
    static constexpr bool extremes = true;

    explicit basic_fiba(std::uint64_t n)
        : span_(static_cast<std::int64_t>(n) * step),
          leaves_(n / Min + 2),
          inners_((n / Min + 2) / (Min - 1) + levels)
    {
        leaf& only = leaves_.take();
        left_[0].node = right_[0].node = &only;
        clear(only);
        suffixes_.fill(none);
    }
    basic_fiba(const basic_fiba&) = delete;
    basic_fiba& operator=(const basic_fiba&) = delete;

    [[gnu::always_inline]] answer take(std::int64_t at, double value)
    {
        return take(at, at, value);
    }

    /// The same for a sample whose time is not `now`. A sample that has left is not inserted.
    [[gnu::always_inline]] answer take(std::int64_t now, std::int64_t at, double value)
    {
        const std::int64_t from = now - span_;
        while (oldest_leaf().items[oldest_leaf().begin].at <= from) {
            if (++oldest_leaf().begin >= border_) [[unlikely]]
                next_leaf();
        }
        if (at <= from) [[unlikely]]
            return statistics_or_none();
        leaf& newest = newest_leaf();
        if (newest_ <= at && newest.end != max) [[likely]] {
            newest.items[newest.end++] = {at, value};
            newest_ = at;
            right_[0].measure = kept::combine(right_[0].measure, kept::of(value));
        } else {
            insert({at, value});
        }
        return all().statistics();
    }

private:
    static constexpr std::size_t max = 2 * Min;
    static constexpr std::size_t levels = 34;  // enough for 2^32 samples
    static constexpr kept none{0, 0, std::numeric_limits<double>::infinity(),
                               -std::numeric_limits<double>::infinity()};

    /// The items from `begin` on and before `end` are in use.
    struct node_base {
        std::size_t begin = 0;
        std::size_t end = 0;

        std::size_t count() const { return end - begin; }
    };

    template <class Item>
    struct node_of : node_base {
        std::array<Item, max> items;

        /// The place of the last item that is not after a time, or of the first item.
        std::size_t last_until(std::int64_t at) const
        {
            std::size_t n = this->end - 1;
            while (n > this->begin && at < items[n].at) --n;
            return n;
        }
        /// Inserts an item at place n. Requires: the node is not full.
        void insert(std::size_t n, const Item& i)
        {
            if (this->end == max) {
                std::copy(place(this->begin), place(max), place(0));
                n -= this->begin;
                this->end -= this->begin;
                this->begin = 0;
            }
            std::copy_backward(place(n), place(this->end), place(this->end + 1));
            items[n] = i;
            ++this->end;
        }
        /// The same for a full node: moves its newest items to an empty one.
        void split(std::size_t n, const Item& i, node_of& newer)
        {
            constexpr std::size_t older = max + 1 - Min;
            const bool here = n < older;
            const std::size_t kept_items = here ? older - 1 : older;
            std::copy(place(kept_items), place(max), newer.place(0));
            newer.begin = 0;
            newer.end = max - kept_items;
            this->end = kept_items;
            if (here) insert(n, i);
            else newer.insert(n - older, i);
        }

    private:
        auto place(std::size_t n) { return items.begin() + static_cast<std::ptrdiff_t>(n); }
    };

    struct branch {
        std::int64_t at;  // no sample of the child is older, no sample of the children before newer
        kept measure;     // not used if the child is on a spine
        node_base* child;
    };
    using leaf = node_of<timed>;
    using inner = node_of<branch>;

    /// Nodes whose addresses do not change, and a list of those not in use.
    template <class Node>
    class pool {
    public:
        explicit pool(std::size_t n) { add(n); }

        Node& take()
        {
            if (free_.empty()) add(count_);
            Node& n = *free_.back();
            free_.pop_back();
            return n;
        }
        void give(Node& n) { free_.push_back(&n); }

    private:
        void add(std::size_t n)
        {
            blocks_.push_back(std::make_unique<Node[]>(n));
            count_ += n;
            free_.reserve(count_);
            while (n != 0) free_.push_back(&blocks_.back()[--n]);
        }

        std::vector<std::unique_ptr<Node[]>> blocks_;
        std::vector<Node*> free_;
        std::size_t count_ = 0;
    };

    /// The node of one level of a spine.
    struct spine_node {
        node_base* node = nullptr;
        kept measure = none;
    };
    /// A node on the way to a leaf, and the place of the way's next node in it.
    struct path_node {
        node_base* node;
        std::size_t next;
    };
    /// The newer part of a node after a split; without a node if there was none.
    struct newer_part {
        node_base* node = nullptr;
        std::int64_t at = 0;
    };

    static inner& inner_of(node_base* n) { return *static_cast<inner*>(n); }
    leaf& oldest_leaf() { return *static_cast<leaf*>(left_[0].node); }
    leaf& newest_leaf() { return *static_cast<leaf*>(right_[0].node); }

    kept all() { return kept::combine(suffixes_[oldest_leaf().begin], right_[0].measure); }
    [[gnu::noinline]] answer statistics_or_none()
    {
        const kept k = all();
        return k.count == 0 ? answer{} : k.statistics();
    }

    static const kept& measure(const branch& b) { return b.measure; }
    static kept measure(const timed& t) { return kept::of(t.value); }

    /// The measure of older samples and of the items in [first, last).
    template <class Item>
    static kept add(kept older, const node_of<Item>& n, std::size_t first, std::size_t last)
    {
        for (; first < last; ++first) older = kept::combine(older, measure(n.items[first]));
        return older;
    }
    /// The measure of all samples below a node.
    static kept total(std::size_t level, const node_base* n)
    {
        if (level == 0) return add(none, *static_cast<const leaf*>(n), n->begin, n->end);
        return add(none, *static_cast<const inner*>(n), n->begin, n->end);
    }

    /// Makes the window empty. The first item is a mark that never leaves.
    void clear(leaf& only)
    {
        only.begin = only.end = 0;
        only.items[0].at = std::numeric_limits<std::int64_t>::max();
    }

    /// Called after the last sample with a suffix measure has left.
    [[gnu::noinline]] void next_leaf()
    {
        leaf& oldest = oldest_leaf();
        std::size_t level = 0;
        if (height_ == 0) {
            if (oldest.count() == 0) clear(oldest);
        } else {
            leaves_.give(oldest);
            node_base* parent = left_[level = 1].node;
            for (; ++parent->begin == parent->end; parent = left_[++level].node)
                inners_.give(inner_of(parent));
            if (level == height_ && parent->count() == 1) level = remove_root();
            for (std::size_t n = level; n != 0; --n) {
                const inner& above = inner_of(left_[n].node);
                left_[n - 1].node = above.items[above.begin].child;
            }
        }
        update_left(level);
        if (level == height_) update_right(level);
    }
    /// Replaces the root by its only child, which is on the right spine. Returns the new height.
    std::size_t remove_root()
    {
        inners_.give(inner_of(left_[height_].node));
        --height_;
        left_[height_].node = right_[height_].node;
        return height_;
    }

    /// Inserts a sample that is late, or whose leaf is full.
    [[gnu::noinline]] void insert(const timed& t)
    {
        newest_ = std::max(newest_, t.at);
        std::size_t top = 0;
        while (top != height_ && t.at < newest_branch(top + 1).at) ++top;
        node_base* n = right_[top].node;
        for (std::size_t level = top; level != 0; --level) {
            const inner& parent = inner_of(n);
            path_[level] = {n, parent.last_until(t.at)};
            n = parent.items[path_[level].next].child;
        }
        path_[0] = {n, 0};
        leaf& own = *static_cast<leaf*>(n);
        std::size_t place = own.end;
        while (place != own.begin && t.at < own.items[place - 1].at) --place;
        update(top, put(leaves_, own, place, t));
    }
    branch& newest_branch(std::size_t level)
    {
        inner& n = inner_of(right_[level].node);
        return n.items[n.end - 1];
    }

    /// Inserts an item, and splits its node if it is full.
    template <class Item>
    static newer_part put(pool<node_of<Item>>& nodes, node_of<Item>& n, std::size_t place,
                          const Item& i)
    {
        if (n.count() != max) {
            n.insert(place, i);
            return {};
        }
        node_of<Item>& newer = nodes.take();
        n.split(place, i, newer);
        return {&newer, newer.items[0].at};
    }

    /// Updates parents and measures after an insertion into the leaf at the end of the path, which
    /// leaves the right spine at the level `top`. `newer` is the newer part of the leaf.
    void update(std::size_t top, newer_part newer)
    {
        std::size_t level = 0;
        std::size_t left_levels = height_ == 0 ? 1 : 0;
        for (; level != height_; ++level) {
            const bool on_left = path_[level].node == left_[level].node;
            if (on_left) left_levels = level + 1;
            if (!newer.node && (on_left || level >= top)) break;
            if (level >= top) {
                right_[level].node = newer.node;
                node_base* const parent = right_[level + 1].node;
                path_[level + 1] = {parent, parent->end - 1};
            }
            newer = update_parent(level, newer);
        }
        if (newer.node) {
            add_root(newer);
            left_levels = ++level;
        } else if (level > top) {
            add_last_but_one(level--);
        }
        if (left_levels != 0) update_left(left_levels - 1);
        if (level >= top) update_right(level);
    }
    /// Adds to the measure of a node of the right spine the branch before its newest one.
    void add_last_but_one(std::size_t level)
    {
        const inner& n = inner_of(right_[level].node);
        right_[level].measure = add(right_[level].measure, n, n.end - 2, n.end - 1);
    }
    /// Updates the parent of the path's node of a level. Returns the newer part of the parent.
    newer_part update_parent(std::size_t level, const newer_part& newer)
    {
        const auto [parent, place] = path_[level + 1];
        inner& p = inner_of(parent);
        node_base* const own = path_[level].node;
        if (own != left_[level].node) p.items[place].measure = total(level, own);
        if (!newer.node) return {};
        const bool on_right = newer.node == right_[level].node;
        const kept measure = on_right ? none : total(level, newer.node);
        return put(inners_, p, place + 1, {newer.at, measure, newer.node});
    }
    /// Adds a root above the former one and its newer part.
    void add_root(const newer_part& newer)
    {
        inner& root = inners_.take();
        root.begin = 0;
        root.end = 2;
        root.items[0] = {std::numeric_limits<std::int64_t>::min(), none, left_[height_].node};
        root.items[1] = {newer.at, none, newer.node};
        right_[height_].node = newer.node;
        ++height_;
        left_[height_].node = right_[height_].node = &root;
    }

    /// Computes the measures of the left spine from a level down.
    void update_left(std::size_t level)
    {
        for (; level != 0; --level) {
            const inner& n = inner_of(left_[level].node);
            kept own = none;
            if (level != height_)
                own = kept::combine(add(none, n, n.begin + 1, n.end), left_[level + 1].measure);
            left_[level].measure = own;
        }
        const leaf& oldest = oldest_leaf();
        border_ = oldest.end;
        kept own = height_ < 2 ? none : left_[1].measure;
        suffixes_[oldest.begin] = own;  // if there are no samples
        for (std::size_t n = oldest.end; n != oldest.begin; --n)
            suffixes_[n - 1] = own = kept::combine(kept::of(oldest.items[n - 1].value), own);
    }
    /// The same for the right spine. Called after `update_left` if the root is a leaf.
    void update_right(std::size_t level)
    {
        kept own = level == height_ ? none : right_[level + 1].measure;
        for (; level != 0; --level) {
            const inner& n = inner_of(right_[level].node);
            own = add(own, n, level == height_ ? n.begin + 1 : n.begin, n.end - 1);
            right_[level].measure = own;
        }
        const leaf& newest = newest_leaf();
        right_[0].measure = add(own, newest, height_ == 0 ? border_ : newest.begin, newest.end);
    }

    std::int64_t span_;
    std::int64_t newest_ = std::numeric_limits<std::int64_t>::min();
    std::size_t height_ = 0;  // the level of the root; that of the leaves is 0
    std::size_t border_ = 0;  // the samples of the oldest leaf before it are in suffixes_
    std::array<kept, max> suffixes_;
    std::array<spine_node, levels> left_;
    std::array<spine_node, levels> right_;
    std::array<path_node, levels> path_;
    pool<leaf> leaves_;
    pool<inner> inners_;
};

using fiba = basic_fiba<>;

}  // namespace window_bench

#endif  // WAYBILL_BENCH_WINDOW_FIBA_HPP
