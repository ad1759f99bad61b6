// SPDX-License-Identifier: MIT
//
// lines: the lines of an untrusted file, and the errors in a line.
//
//     support::line_source from(path);                       // "-" is the standard input
//     while (from.next(line, too_long)) ...
//     throw support::in_field("time", "is no time");          // the caller adds the line's number

#ifndef WAYBILL_EXAMPLES_SUPPORT_LINES_HPP
#define WAYBILL_EXAMPLES_SUPPORT_LINES_HPP

#include <cstddef>
#include <fstream>
#include <iostream>
#include <istream>
#include <streambuf>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "input.hpp"
#include "program.hpp"

namespace support {

inline constexpr std::size_t longest_line = 65'536;

/// The error in a line, with its field.
struct flaw {
    std::string text{};
};

[[nodiscard]] inline flaw in_field(std::string_view field, std::string_view what)
{
    return {fmt::format("{} {}", field, what)};
}

[[nodiscard]] inline bool is_blank(std::string_view line)
{
    return line.find_first_not_of(" \t\r") == line.npos;
}

/// A file that is open, or the standard input.
class line_source {
public:
    /// `as` is the purpose of the file. Throws a complaint if it cannot be read, or is empty.
    explicit line_source(const std::string& path, std::string_view as = "input") : path_(path)
    {
        expect_input(path, as);
        if (path == "-") return;
        file_.open(path, std::ios::binary);
        if (!file_) throw complaint(fmt::format("{} cannot be opened", path));
    }

    /// The next line without its newline; of a line that is too long, its beginning. Returns false
    /// after the last line.
    [[nodiscard]] bool next(std::string& line, bool& too_long)
    {
        std::istream& in = path_ == "-" ? std::cin : file_;
        std::streambuf& bytes = *in.rdbuf();
        constexpr int end = std::char_traits<char>::eof();
        line.clear();
        too_long = false;
        int c = bytes.sbumpc();
        if (c == end) return false;
        for (; c != end && c != '\n'; c = bytes.sbumpc()) {
            if (line.size() < longest_line) line += static_cast<char>(c);
            else too_long = true;
        }
        if (line.ends_with('\r')) line.pop_back();
        return true;
    }

private:
    std::string path_;
    std::ifstream file_{};
};

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_LINES_HPP
