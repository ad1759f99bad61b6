// SPDX-License-Identifier: MIT
//
// terminal: colours and lines of a program whose output is read on a terminal.
//
//     support::wrap_lines();                      // first: fmt::print and std::puts
//     support::wrap_lines(std::cout);             // the same for a stream
//     if (support::coloured()) ...
//
// support::say (program.hpp) breaks the lines of stderr.
//
// Output into a file or pipe has no colours, and its lines are as long as they are.

#ifndef WAYBILL_EXAMPLES_SUPPORT_TERMINAL_HPP
#define WAYBILL_EXAMPLES_SUPPORT_TERMINAL_HPP

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace support {

/// True if stdout is a terminal, and NO_COLOR is not set (https://no-color.org).
[[nodiscard]] inline bool coloured()
{
    const char* no_color = std::getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) == 1 && (no_color == nullptr || *no_color == '\0');
}

/// The width of a terminal, or 0 if this is no terminal.
[[nodiscard]] inline std::size_t columns_of(int stream)
{
    if (isatty(stream) != 1) return 0;
    winsize w{};
    const bool known = ioctl(stream, TIOCGWINSZ, &w) == 0 && w.ws_col != 0;
    return known ? w.ws_col : 80;
}

/// Breaks lines between words. A further part of a line is indented by two more spaces than the line.
class word_wrap {
public:
    /// `text` with line breaks, for a terminal of this width. It continues the earlier texts.
    [[nodiscard]] std::string operator()(std::string_view text, std::size_t columns)
    {
        std::string out;
        while (!text.empty()) {
            if (text.front() == '\n' || text.front() == '\r') {
                out += text.front();
                text.remove_prefix(1);
                column_ = indent_ = 0;
                continue;
            }
            const std::size_t spaces = length_until(text, text.find_first_not_of(' '));
            const std::string_view gap = text.substr(0, spaces);
            text.remove_prefix(spaces);
            const std::string_view word =
                text.substr(0, length_until(text, text.find_first_of(" \n\r")));
            text.remove_prefix(word.size());
            const std::size_t width = width_of(word);
            if (column_ == 0) indent_ = spaces;
            if (column_ > indent_ && column_ + spaces + width > columns) {
                out += '\n' + std::string(indent_ + 2, ' ');
                column_ = indent_ + 2;
            } else {
                out += gap;
                column_ += spaces;
            }
            out += word;
            column_ += width;
        }
        return out;
    }

private:
    static std::size_t length_until(std::string_view text, std::size_t end)
    {
        return end == text.npos ? text.size() : end;
    }

    /// Without the control sequences of colours, and with one column for each character of UTF-8.
    static std::size_t width_of(std::string_view word)
    {
        std::size_t width = 0;
        bool in_sequence = false;
        for (const char c : word) {
            if (c == '\x1b') in_sequence = true;
            else if (in_sequence) in_sequence = c == '[' || c < '@';
            else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) ++width;
        }
        return width;
    }

    std::size_t column_ = 0;
    std::size_t indent_ = 0;
};

namespace detail {

inline ssize_t write_wrapped(void* wrap, const char* text, std::size_t size)
{
    const std::string all =
        (*static_cast<word_wrap*>(wrap))(std::string_view(text, size), columns_of(STDOUT_FILENO));
    for (std::size_t done = 0; done != all.size();) {
        const ssize_t n = write(STDOUT_FILENO, all.data() + done, all.size() - done);
        if (n < 0) return 0;
        done += static_cast<std::size_t>(n);
    }
    return static_cast<ssize_t>(size);
}

struct stdout_buffer : std::streambuf {
    int_type overflow(int_type c) override
    {
        return traits_type::eq_int_type(c, traits_type::eof()) ? 0 : std::putc(c, stdout);
    }
    std::streamsize xsputn(const char* text, std::streamsize size) override
    {
        return static_cast<std::streamsize>(
            std::fwrite(text, 1, static_cast<std::size_t>(size), stdout));
    }
    int sync() override { return std::fflush(stdout); }
};

}  // namespace detail

/// From now on, lines of stdout are broken between words if it is a terminal.
inline void wrap_lines()
{
    if (columns_of(STDOUT_FILENO) == 0) return;
    cookie_io_functions_t calls{};
    calls.write = detail::write_wrapped;
    // Both live until the end of the process, which writes the last line.
    std::FILE* wrapped = fopencookie(new word_wrap, "w", calls);
    if (wrapped == nullptr) return;
    std::setvbuf(wrapped, nullptr, _IOLBF, BUFSIZ);
    std::fflush(stdout);
    stdout = wrapped;
}
inline void wrap_lines(std::ostream& out)
{
    if (columns_of(STDOUT_FILENO) == 0) return;
    wrap_lines();
    out.rdbuf(new detail::stdout_buffer);
}

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_TERMINAL_HPP
