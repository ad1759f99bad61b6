// SPDX-License-Identifier: MIT
//
// late_samples: the very late samples of a window, in the order of times, and their measure.
//
// Part of the sliding window. To insert such a sample into the ring, all newer samples would have
// to move. Here it takes O(log n): the samples are in a binary tree ordered by time, and each node
// has the measure of its subtree. The tree is weight-balanced (Nievergelt and Reingold 1973). The
// parameters 3 and 2 are those of Hirai and Yamamoto, "Balancing weight-balanced trees", Journal of
// Functional Programming 2011. The weight of a subtree is the number of its samples plus 1. No
// subtree weighs more than three times its sibling, so its depth is at most 2.41 log2(n + 1). Every
// node has a link to the next by time.

#ifndef WAYBILL_WINDOW_DETAIL_LATE_SAMPLES_HPP
#define WAYBILL_WINDOW_DETAIL_LATE_SAMPLES_HPP

#include <cstdint>
#include <utility>
#include <vector>

namespace waybill::inline v0_2::detail {

/// `Measure` must be commutative.
template <class Sample, class Measure>
class late_samples {
public:
    using time_type = decltype(Sample::at);
    /// Refers to a sample. `none` is after the newest.
    using node = std::uint32_t;
    static constexpr node none = 0;

    late_samples() = default;
    ~late_samples() = default;
    late_samples(const late_samples&) = default;
    late_samples& operator=(const late_samples&) = default;
    late_samples(late_samples&& o) noexcept { swap(o); }
    late_samples& operator=(late_samples&& o) noexcept
    {
        swap(o);
        return *this;
    }

    [[nodiscard]] std::uint64_t size() const noexcept { return root_ == none ? 0 : count(root_); }
    [[nodiscard]] bool empty() const noexcept { return root_ == none; }

    /// The measure of all samples. Requires: !empty().
    [[nodiscard]] const Measure& all() const noexcept { return nodes_[root_].all; }

    /// The oldest sample. Requires: !empty().
    [[nodiscard]] const Sample& oldest() const noexcept { return at(first_); }

    [[nodiscard]] const Sample& at(node n) const noexcept { return nodes_[n].sample; }
    [[nodiscard]] node first() const noexcept { return first_; }
    [[nodiscard]] node after(node n) const noexcept { return nodes_[n].next; }

    /// Inserts a sample after those of the same time. O(log n). Allocates only for more samples
    /// than ever before or reserved.
    void insert(const Sample& s)
    {
        if (nodes_.empty()) nodes_.push_back({});
        node added = free_;
        if (added == none) {
            added = static_cast<node>(nodes_.size());
            nodes_.push_back({});
        }
        free_ = nodes_[added].next;
        const Measure own = Measure::of(s);
        nodes_[added] = {.sample = s, .all = own, .count = 1};
        root_ = insert_into(root_, added, own, none, none);
    }

    /// Removes the oldest sample. O(log n). Requires: !empty().
    void drop_oldest()
    {
        const node dropped = first_;
        first_ = nodes_[dropped].next;
        root_ = without_first(root_);
        nodes_[dropped].next = free_;
        free_ = dropped;
    }

    /// Removes all samples before `t`. O(log n) for each.
    void drop_before(time_type t)
    {
        while (root_ != none && oldest().at < t) drop_oldest();
    }

    /// Removes all samples, without freeing memory.
    void clear() noexcept
    {
        nodes_.clear();
        root_ = first_ = free_ = none;
    }

    /// Reserves memory for n samples.
    void reserve(std::uint64_t n) { nodes_.reserve(n + 1); }

    /// The newest sample of the time `at`, or `none`. O(log n).
    [[nodiscard]] node find(time_type at) const noexcept
    {
        node found = none;
        for (node n = root_; n != none;) {
            if (at < nodes_[n].sample.at) {
                n = nodes_[n].left;
            } else {
                found = n;
                n = nodes_[n].right;
            }
        }
        return found != none && nodes_[found].sample.at == at ? found : none;
    }

    [[nodiscard]] bool contains(time_type at) const noexcept { return find(at) != none; }

    /// Replaces the newest sample of the time of `s`. Returns false if there is none. O(log n).
    [[nodiscard]] bool replace(const Sample& s)
    {
        const node target = find(s.at);
        if (target == none) return false;
        nodes_[target].sample = s;
        update_path(root_, target);
        return true;
    }

    /// Calls f(sample) for each sample, from the newest to the oldest.
    template <class F>
    void for_each_from_newest(F f) const
    {
        visit_from_newest(root_, f);
    }

    /// A sample and its place among the samples of this class, from 0.
    struct place {
        node at = none;
        std::uint64_t rank = 0;
    };

    /// The oldest sample for which before(sample, rank) is false; `none` if it is true for all. If
    /// it is true for a sample, it must be true for all that are older. O(log n) calls.
    template <class F>
    [[nodiscard]] place first_not(F before) const
    {
        place found{.at = none, .rank = size()};
        std::uint64_t older = 0;  // than all samples below n
        for (node n = root_; n != none;) {
            const std::uint64_t rank = older + count(nodes_[n].left);
            if (before(nodes_[n].sample, rank)) {
                older = rank + 1;
                n = nodes_[n].right;
            } else {
                found = {.at = n, .rank = rank};
                n = nodes_[n].left;
            }
        }
        return found;
    }

private:
    struct entry {
        Sample sample{};
        Measure all = Measure::identity();  // of this subtree
        node left = none;
        node right = none;
        node next = none;         // by time; of an unused entry, the next unused one
        std::uint32_t count = 0;  // samples of this subtree
    };

    [[nodiscard]] std::uint64_t count(node n) const noexcept { return nodes_[n].count; }
    [[nodiscard]] std::uint64_t weight(node n) const noexcept { return count(n) + 1; }

    /// Inserts `added`, with the measure `own`, into the subtree `n`, which is between `older` and
    /// `newer`. Returns the new root of the subtree.
    node insert_into(node n, node added, const Measure& own, node older, node newer)
    {
        if (n == none) {
            nodes_[added].next = newer;
            (older == none ? first_ : nodes_[older].next) = added;
            return added;
        }
        if (nodes_[added].sample.at < nodes_[n].sample.at)
            nodes_[n].left = insert_into(nodes_[n].left, added, own, older, n);
        else nodes_[n].right = insert_into(nodes_[n].right, added, own, n, newer);
        ++nodes_[n].count;
        nodes_[n].all = Measure::combine(nodes_[n].all, own);
        return balanced(n);
    }

    node without_first(node n)
    {
        if (nodes_[n].left == none) return nodes_[n].right;
        nodes_[n].left = without_first(nodes_[n].left);
        update(n);
        return balanced(n);
    }

    template <class F>
    void visit_from_newest(node n, F& f) const
    {
        if (n == none) return;
        visit_from_newest(nodes_[n].right, f);
        f(nodes_[n].sample);
        visit_from_newest(nodes_[n].left, f);
    }

    void update_path(node n, node target)
    {
        if (n != target) {
            const bool is_older = nodes_[target].sample.at < nodes_[n].sample.at;
            update_path(is_older ? nodes_[n].left : nodes_[n].right, target);
        }
        update(n);
    }

    void update(node n)
    {
        entry& e = nodes_[n];
        e.count = nodes_[e.left].count + nodes_[e.right].count + 1;
        e.all = Measure::of(e.sample);
        if (e.left != none) e.all = Measure::combine(nodes_[e.left].all, e.all);
        if (e.right != none) e.all = Measure::combine(e.all, nodes_[e.right].all);
    }

    /// Balances the subtree `n` after one insertion or removal below it. Returns its new root.
    node balanced(node n)
    {
        const node root = relieved<&entry::left, &entry::right>(n);
        return root != n ? root : relieved<&entry::right, &entry::left>(n);
    }

    /// Rotates the subtree `n` if its child on the side `Heavy` weighs too much. Returns its new
    /// root.
    template <node entry::* Heavy, node entry::* Light>
    node relieved(node n)
    {
        const node child = nodes_[n].*Heavy;
        if (weight(child) <= 3 * weight(nodes_[n].*Light)) return n;
        if (weight(nodes_[child].*Light) >= 2 * weight(nodes_[child].*Heavy))
            nodes_[n].*Heavy = rotated<Light, Heavy>(child);
        return rotated<Heavy, Light>(n);
    }

    /// Makes the child on the side `Up` the root of the subtree `n`, and returns it.
    template <node entry::* Up, node entry::* Down>
    node rotated(node n)
    {
        const node root = nodes_[n].*Up;
        nodes_[n].*Up = std::exchange(nodes_[root].*Down, n);
        update(n);
        update(root);
        return root;
    }

    void swap(late_samples& o) noexcept
    {
        nodes_.swap(o.nodes_);
        std::swap(root_, o.root_);
        std::swap(first_, o.first_);
        std::swap(free_, o.free_);
    }

    std::vector<entry> nodes_;  // the first one is `none`, an empty subtree
    node root_ = none;
    node first_ = none;
    node free_ = none;
};

}  // namespace waybill::inline v0_2::detail

#endif  // WAYBILL_WINDOW_DETAIL_LATE_SAMPLES_HPP
