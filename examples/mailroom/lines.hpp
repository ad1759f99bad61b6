// SPDX-License-Identifier: MIT
//
// lines: a file, line by line, in bounded memory.
//
// std::getline keeps a line of any length. This reader keeps at most `longest` bytes and only
// counts the rest. So a line of ten megabytes is an event that is too large, and takes little
// memory.

#ifndef WAYBILL_EXAMPLES_MAILROOM_LINES_HPP
#define WAYBILL_EXAMPLES_MAILROOM_LINES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace mailroom {

/// The position from which reading continues.
struct place {
    std::uint64_t byte = 0;
    std::uint64_t line = 0;  ///< The number of lines before it.

    friend bool operator==(const place&, const place&) = default;
};

struct line {
    std::uint64_t number = 0;  ///< The first line is 1.
    std::uint64_t begin = 0;   ///< Its position, in bytes.
    std::uint64_t length = 0;  ///< Its bytes, without the newline.
    place next{};              ///< After its newline.
    std::string text{};        ///< All of it, or its beginning.

    [[nodiscard]] bool whole() const noexcept { return text.size() == length; }
    /// Only white space. Blank lines are skipped.
    [[nodiscard]] bool blank() const noexcept
    {
        return whole() && text.find_first_not_of(" \t\r") == std::string::npos;
    }
};

class line_reader {
public:
    /// Keeps up to `longest` bytes of a line.
    line_reader(const std::string& path, place from, std::size_t longest)
        : file_(path, std::ios::binary), at_(from), longest_(longest), buffer_(65'536)
    {
        file_.seekg(static_cast<std::streamoff>(from.byte));
        if (!file_) throw std::runtime_error("cannot read " + path);
    }

    /// The next line; the last one need not end in a newline. Empty at the end of the file.
    [[nodiscard]] std::optional<line> next()
    {
        line l{.number = at_.line + 1, .begin = at_.byte};
        bool any = false;
        while (used_ != filled_ || fill()) {
            any = true;
            const char* const from = buffer_.data() + used_;
            const std::size_t there = filled_ - used_;
            const void* const end = std::memchr(from, '\n', there);
            const std::size_t n =
                end ? static_cast<std::size_t>(static_cast<const char*>(end) - from) : there;
            keep(l, from, n);
            used_ += n + (end ? 1 : 0);
            at_.byte += n + (end ? 1 : 0);
            if (end) break;
        }
        if (!any) return {};
        l.next = {at_.byte, ++at_.line};
        return l;
    }

private:
    void keep(line& l, const char* from, std::size_t n) const
    {
        l.length += n;
        const std::size_t room = longest_ - l.text.size();
        l.text.append(from, n < room ? n : room);
    }

    bool fill()
    {
        file_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
        if (file_.bad()) throw std::runtime_error("the input cannot be read any further");
        used_ = 0;
        filled_ = static_cast<std::size_t>(file_.gcount());
        return filled_ != 0;
    }

    std::ifstream file_;
    place at_;
    std::size_t longest_;
    std::vector<char> buffer_;
    std::size_t used_ = 0;
    std::size_t filled_ = 0;
};

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_LINES_HPP
