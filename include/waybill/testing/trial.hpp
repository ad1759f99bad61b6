// SPDX-License-Identifier: MIT
//
// trial: what the parts of the conformance suite do with a store, and the rules that did not hold.

#ifndef WAYBILL_TESTING_TRIAL_HPP
#define WAYBILL_TESTING_TRIAL_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <waybill/consume/stores.hpp>

namespace waybill::inline v0_1::testing {

/// There is no second connection: what needs one is left out.
struct no_second {
    template <class S>
    S& operator()(S& s) const noexcept
    {
        return s;
    }
};

/// Two things that should happen at the same time happen one after the other.
struct in_turn {
    template <class F, class G>
    void operator()(F f, G g) const
    {
        f();
        g();
    }
};

namespace detail {

/// What all parts of the suite do with a store, and the rules that did not hold.
class trial {
public:
    void holds(bool it_does, std::string_view rule)
    {
        if (it_does) return;
        for (const std::string& known : broken) {
            if (known == rule) return;
        }
        broken.emplace_back(rule);
    }

    template <class S>
    std::optional<typename S::transaction> open(S& s)
    {
        auto begun = s.begin();
        holds(begun.has_value(), "begin opens a transaction where no other is open");
        if (!begun) return {};
        return *std::move(begun);
    }

    /// Advances in a transaction of its own; true if that took effect.
    template <class S>
    bool set(S& s, const partition_key& key, const std::optional<position>& from, const position& to,
             std::uint64_t epoch)
    {
        auto tx = open(s);
        if (!tx) return false;
        const auto a = s.advance(*tx, key, from, to, epoch);
        if (!a || *a != advance_outcome::applied) return false;
        return committed(*tx);
    }

    template <class S>
    bool park(S& s, const dead_letter& letter)
    {
        auto tx = open(s);
        return tx && s.put(*tx, letter) && committed(*tx);
    }

    template <class Tx>
    static bool committed(Tx& tx)
    {
        const auto c = tx.commit();
        return c && *c == commit_outcome::applied;
    }

    template <class S>
    static bool stands(S& s, const partition_key& key, const std::optional<checkpoint>& at)
    {
        const auto r = s.load(key);
        return r && *r == at;
    }

    template <class S>
    static bool has(S& s, const dead_letter& letter)
    {
        const auto r = s.find(letter.key, letter.at.sequence);
        return r && *r && **r == letter;
    }

    template <class S>
    static bool lacks(S& s, const dead_letter& letter)
    {
        const auto r = s.find(letter.key, letter.at.sequence);
        return r && !*r;
    }

    std::vector<std::string> broken;
};

inline constexpr std::uint64_t largest = ~std::uint64_t{0};

[[nodiscard]] inline partition_key key_of(std::string source, std::string group, std::string partition)
{
    return {std::move(source), std::move(group), std::move(partition)};
}

/// Keys that a store could take for one another.
[[nodiscard]] inline std::vector<partition_key> similar_keys()
{
    return {key_of("a", "b", "c"), key_of("a", "b", "d"), key_of("a", "c", "c"), key_of("b", "b", "c"),
            key_of("ab", "", "c"), key_of("", "ab", "c"), key_of("", "", ""),    key_of("A", "b", "c"),
            key_of("it's", "\"b\"; --", "%_\\")};
}

/// Keys that differ from `key` in one part each.
[[nodiscard]] inline std::vector<partition_key> neighbours(const partition_key& key)
{
    return {key_of(key.source, key.group, key.partition + "1"), key_of(key.source, "audit", key.partition),
            key_of("invoices", key.group, key.partition)};
}

[[nodiscard]] inline dead_letter letter_of(const partition_key& key, std::uint64_t sequence,
                                           std::string reason)
{
    dead_letter d;
    d.key = key;
    d.at = {sequence, "o" + std::to_string(sequence)};
    d.reason = std::move(reason);
    d.body = "body";
    d.tries = 1;
    return d;
}

}  // namespace detail

}  // namespace waybill::inline v0_1::testing

#endif  // WAYBILL_TESTING_TRIAL_HPP
