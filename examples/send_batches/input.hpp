// SPDX-License-Identifier: MIT
//
// input: the lines of a file or a pipe, read once, and what is needed to check later what became of
// them: 16 bytes a line.

#ifndef WAYBILL_EXAMPLES_SEND_BATCHES_INPUT_HPP
#define WAYBILL_EXAMPLES_SEND_BATCHES_INPUT_HPP

#include <cstddef>
#include <cstdint>
#include <istream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace send_batches {

/// FNV-1a: enough to tell lines apart, and nothing else.
[[nodiscard]] constexpr std::uint64_t checksum(std::string_view text)
{
    std::uint64_t sum = 14'695'981'039'346'656'037U;
    for (const char c : text) sum = (sum ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
    return sum;
}

/// What is kept of each line.
struct trace {
    std::uint64_t size = 0;
    std::uint64_t sum = 0;
};

/// A range that can be walked once. Blank lines are no lines.
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

    /// Whether there are no more.
    [[nodiscard]] bool over() const noexcept { return over_; }
    /// The lines that have been read so far.
    [[nodiscard]] const std::vector<trace>& read() const noexcept { return read_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t blank() const noexcept { return blank_; }
    /// Reading ended before the end of the input.
    [[nodiscard]] bool broken() const { return in_.bad(); }

private:
    void advance()
    {
        while (std::getline(in_, line_)) {
            bytes_ += line_.size() + 1;
            if (line_.find_first_not_of(" \t\r") != std::string::npos) {
                read_.push_back({line_.size(), checksum(line_)});
                return;
            }
            ++blank_;
        }
        over_ = true;
    }

    std::istream& in_;
    std::string line_{};
    std::vector<trace> read_{};
    std::uint64_t bytes_ = 0;
    std::uint64_t blank_ = 0;
    bool over_ = false;
};

}  // namespace send_batches

#endif  // WAYBILL_EXAMPLES_SEND_BATCHES_INPUT_HPP
