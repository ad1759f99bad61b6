// SPDX-License-Identifier: MIT
//
// choices: runs a small program once for each combination of its choices.
//
// The program calls `pick(n)` wherever n continuations are possible, and is run again until all
// combinations have been tried. Random tests may miss combinations.
//
//     waybill::testing::choices c;
//     do {
//         run(c);                     // calls c.pick(n); equal results must lead to equal calls
//         if (wrong) report(c.line());             // "2/4 0/3 1/2"
//     } while (c.next());
//     c.completed();                               // the number of runs, all different
//
//     auto again = waybill::testing::choices::replay("2/4 0/3 1/2");      // only that run
//
//   1. The order is depth first: the last choice changes first. So all runs differ.
//   2. `completed` counts only the runs that ended with `next`.
//   3. If a run depends on more than the choices, `diverged` becomes true.
//
// Cost: memory for the choices of one run. The number of runs may grow exponentially with them.

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

    /// Returns choices that repeat the run of `line` and no other. A choice after the end of `line`
    /// is 0. Empty if `line` is malformed. Each number in `line` is at most 999,999,999.
    [[nodiscard]] static std::optional<choices> replay(std::string_view line)
    {
        choices c;
        c.only_one_run_ = true;
        std::size_t at = 0;
        while (at != line.size()) {
            const auto chosen = number(line, at, '/');
            if (!chosen) return {};
            const auto count = number(line, at, ' ');
            if (!count || *count < 2 || *chosen >= *count) return {};
            c.choices_.push_back({*chosen, *count});
        }
        return c;
    }

    /// Returns the choice of this run, in [0, n). If `n` is below 2, returns 0 without a choice.
    /// Amortized constant time.
    [[nodiscard]] std::uint32_t pick(std::uint32_t n)
    {
        if (n < 2) return 0;
        if (next_choice_ == choices_.size()) choices_.push_back({0, n});
        choice& c = choices_[next_choice_++];
        if (c.count != n) {
            diverged_ = true;
            return c.chosen < n ? c.chosen : n - 1;
        }
        return c.chosen;
    }

    /// Ends this run and counts it as completed. Returns whether there is another run.
    bool next()
    {
        ++completed_;
        return advance();
    }

    /// Ends this run without counting it as completed, for example because it cannot happen.
    /// Returns whether there is another run.
    bool cut()
    {
        ++cut_short_;
        return advance();
    }

    /// The number of runs that ended with `next`.
    [[nodiscard]] std::uint64_t completed() const noexcept { return completed_; }
    /// The number of runs that ended with `cut`.
    [[nodiscard]] std::uint64_t cut_short() const noexcept { return cut_short_; }

    /// True if equal choices have led to different calls of `pick`. Then the program depends on
    /// more than the choices, and the counts are meaningless.
    [[nodiscard]] bool diverged() const noexcept { return diverged_; }

    /// The choices of this run so far, as `replay` reads them: "2/4 0/3 1/2".
    [[nodiscard]] std::string line() const
    {
        std::string text;
        for (std::size_t i = 0; i != next_choice_; ++i) {
            if (i != 0) text += ' ';
            text += std::to_string(choices_[i].chosen);
            text += '/';
            text += std::to_string(choices_[i].count);
        }
        return text;
    }

private:
    struct choice {
        std::uint32_t chosen;
        std::uint32_t count;
    };

    /// Reads digits up to `stop` and skips `stop`. At the end of the line, a blank may be missing,
    /// but not a slash. Empty if there is no number.
    static std::optional<std::uint32_t> number(std::string_view line, std::size_t& at, char stop)
    {
        constexpr std::uint32_t max_number = 999'999'999;
        std::uint32_t n = 0;
        const std::size_t first = at;
        for (; at != line.size() && line[at] != stop; ++at) {
            const char digit = line[at];
            if (digit < '0' || digit > '9' || n > max_number / 10) return {};
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
        // The run must use all choices that are already made. Otherwise it took another path.
        if (next_choice_ < choices_.size()) diverged_ = true;
        choices_.resize(next_choice_);
        next_choice_ = 0;
        if (only_one_run_) return false;
        while (!choices_.empty() && choices_.back().chosen + 1 == choices_.back().count)
            choices_.pop_back();
        if (choices_.empty()) return false;
        ++choices_.back().chosen;
        return true;
    }

    std::vector<choice> choices_;
    std::size_t next_choice_ = 0;
    std::uint64_t completed_ = 0;
    std::uint64_t cut_short_ = 0;
    bool only_one_run_ = false;
    bool diverged_ = false;
};

}  // namespace waybill::inline v0_2::testing

#endif  // WAYBILL_TESTING_CHOICES_HPP
