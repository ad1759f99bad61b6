// SPDX-License-Identifier: MIT
//
// choices: all runs of a small program, one after the other.
//
// Random tests find what they happen to hit. Where a case is small, all of it can be tried: the code
// under test asks `pick(n)` wherever something can go one way or another, and is run again until
// every answer has been given everywhere.
//
//     waybill::testing::choices c;
//     do {
//         run(c);                                  // calls c.pick(n); must ask the same when answered the same
//         if (wrong) report(c.line());             // "2/4 0/3 1/2"
//     } while (c.next());
//     c.completed();                               // how many runs that were, all different
//
//     auto again = waybill::testing::choices::replay("2/4 0/3 1/2");      // that one run, and no other
//
// Depth first: the last question is the first to get another answer. So the runs are all different
// by construction, and only those that came to their end are counted.

#ifndef WAYBILL_TESTING_CHOICES_HPP
#define WAYBILL_TESTING_CHOICES_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace waybill::inline v0_2::testing {

class choices {
public:
    choices() = default;

    /// Repeats the one run that a line describes; none where it is not such a line.
    [[nodiscard]] static std::optional<choices> replay(std::string_view line)
    {
        choices c;
        c.only_one_ = true;
        std::size_t at = 0;
        while (at != line.size()) {
            const auto chosen = number(line, at, '/');
            if (!chosen) return {};
            const auto of = number(line, at, ' ');
            if (!of || *of < 2 || *chosen >= *of) return {};
            c.made_.push_back({*chosen, *of});
        }
        return c;
    }

    /// A number below `n`; 0 where there is nothing to choose from.
    [[nodiscard]] std::uint32_t pick(std::uint32_t n)
    {
        if (n < 2) return 0;
        if (asked_ == made_.size()) made_.push_back({0, n});
        choice& c = made_[asked_++];
        if (c.of != n) {
            diverged_ = true;
            return c.chosen < n ? c.chosen : n - 1;
        }
        return c.chosen;
    }

    /// This run has come to its end: counts it, and says whether there is another one.
    bool next()
    {
        ++completed_;
        return advance();
    }

    /// This run leads nowhere: goes on without counting it.
    bool cut()
    {
        ++cut_;
        return advance();
    }

    [[nodiscard]] std::uint64_t completed() const noexcept { return completed_; }
    [[nodiscard]] std::uint64_t cut_short() const noexcept { return cut_; }

    /// The same answers have led to other questions: what is run depends on more than the choices,
    /// and the counts mean nothing.
    [[nodiscard]] bool diverged() const noexcept { return diverged_; }

    /// What was chosen so far in this run, for `replay`.
    [[nodiscard]] std::string line() const
    {
        std::string text;
        for (std::size_t i = 0; i != asked_; ++i) {
            if (i != 0) text += ' ';
            text += std::to_string(made_[i].chosen);
            text += '/';
            text += std::to_string(made_[i].of);
        }
        return text;
    }

private:
    struct choice {
        std::uint32_t chosen;
        std::uint32_t of;
    };

    /// Reads digits up to `stop` or the end of the line, and steps over `stop`.
    static std::optional<std::uint32_t> number(std::string_view line, std::size_t& at, char stop)
    {
        std::uint32_t n = 0;
        const std::size_t first = at;
        for (; at != line.size() && line[at] != stop; ++at) {
            const char digit = line[at];
            if (digit < '0' || digit > '9' || n > 99'999'999) return {};
            n = n * 10 + static_cast<std::uint32_t>(digit - '0');
        }
        if (at == first) return {};
        if (at == line.size()) {
            if (stop == '/') return {};
            return n;
        }
        ++at;
        return n;
    }

    bool advance()
    {
        // Answers that were foreseen and never asked for mean that the run went another way.
        if (asked_ < made_.size()) diverged_ = true;
        made_.resize(asked_);
        asked_ = 0;
        if (only_one_) return false;
        while (!made_.empty() && made_.back().chosen + 1 == made_.back().of) made_.pop_back();
        if (made_.empty()) return false;
        ++made_.back().chosen;
        return true;
    }

    std::vector<choice> made_;
    std::size_t asked_ = 0;
    std::uint64_t completed_ = 0;
    std::uint64_t cut_ = 0;
    bool only_one_ = false;
    bool diverged_ = false;
};

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_CHOICES_HPP
