// SPDX-License-Identifier: MIT
//
// input: the lines of a file or a pipe, read once. For the check at the end it keeps 16 bytes for
// each line, and 8 bytes for each blank line.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_INPUT_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_INPUT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <string>
#include <vector>

#include "../support/input.hpp"

namespace send_batches {

using support::checksum;

/// The data that is kept of each line.
struct trace {
    std::uint64_t size = 0;
    std::uint64_t sum = 0;
};

/// Converts the number of an item to the number of its line. Blank lines are counted as lines, but
/// they are no items.
class line_numbers {
public:
    void blank_after(std::uint64_t items) { blanks_.push_back(items); }
    /// The first line is 1, and the first item is 0.
    [[nodiscard]] std::uint64_t of(std::uint64_t item) const
    {
        const auto behind = std::upper_bound(blanks_.begin(), blanks_.end(), item);
        return item + 1 + static_cast<std::uint64_t>(behind - blanks_.begin());
    }
    [[nodiscard]] std::uint64_t blank() const noexcept { return blanks_.size(); }

private:
    std::vector<std::uint64_t> blanks_{};  // for each blank line, the number of items before it
};

/// A single-pass range of lines, without blank ones.
class lines {
public:
    explicit lines(std::istream& in) : in_(in) {}

    class iterator {
    public:
        using iterator_concept = std::input_iterator_tag;
        using value_type = std::string;
        using difference_type = std::ptrdiff_t;

        explicit iterator(lines& of) : of_(&of) {}
        [[nodiscard]] const std::string& operator*() const { return of_->line_; }
        iterator& operator++()
        {
            of_->advance();
            return *this;
        }
        void operator++(int) { ++*this; }
        [[nodiscard]] friend bool operator==(const iterator& i, std::default_sentinel_t)
        {
            return i.of_->over();
        }

    private:
        lines* of_;
    };

    [[nodiscard]] iterator begin()
    {
        advance();
        return iterator(*this);
    }
    [[nodiscard]] std::default_sentinel_t end() const { return {}; }

    /// True if there are no more lines.
    [[nodiscard]] bool over() const noexcept { return over_; }
    /// The lines that have been read so far.
    [[nodiscard]] const std::vector<trace>& read() const noexcept { return read_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] const line_numbers& numbers() const noexcept { return numbers_; }
    /// True if a read error has ended the input.
    [[nodiscard]] bool broken() const { return in_.bad(); }

private:
    void advance()
    {
        while (std::getline(in_, line_)) {
            bytes_ += line_.size() + (in_.eof() ? 0 : 1);  // the last one may have no newline
            if (line_.find_first_not_of(" \t\r") != std::string::npos) {
                read_.push_back({line_.size(), checksum(line_)});
                return;
            }
            numbers_.blank_after(read_.size());
        }
        over_ = true;
    }

    std::istream& in_;
    std::string line_{};
    std::vector<trace> read_{};
    std::uint64_t bytes_ = 0;
    line_numbers numbers_{};
    bool over_ = false;
};

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_INPUT_HPP
