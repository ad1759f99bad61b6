// SPDX-License-Identifier: MIT
//
// program: common parts of the larger programs: messages, numbers and options of the command line,
// the verdict, and the output files.
//
//     support::expect_file("report", o.report, {{"the input", o.input}});    // before any work
//     support::write_file("report", o.report, text);                         // after the work
//
// Both throw a complaint that names the file and the reason.

#ifndef WAYBILL_EXAMPLES_SUPPORT_PROGRAM_HPP
#define WAYBILL_EXAMPLES_SUPPORT_PROGRAM_HPP

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "../engines/number.hpp"
#include "terminal.hpp"

namespace support {

/// An error that the user can correct. Its text is the whole message.
struct complaint : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Writes a message to stderr, with its lines broken between words if it is a terminal. Has no effect
/// if stderr is closed.
inline void say(const std::string& what)
{
    static word_wrap wrap;
    const std::size_t columns = columns_of(STDERR_FILENO);
    std::fputs(columns == 0 ? what.c_str() : wrap(what, columns).c_str(), stderr);
    std::fflush(stderr);
}

/// Opens closed standard streams. Otherwise the next opened file would become one of them.
inline void keep_standard_streams()
{
    for (int stream = 0; stream != 3; ++stream) {
        if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) std::_Exit(1);
    }
}

using engines::number_in;  // digits only, for the value of an option

/// The error in the value of an option, if any. A null pointer is a missing value.
[[nodiscard]] inline std::optional<std::string> value_error(std::string_view name,
                                                            const char* value)
{
    if (value == nullptr) return fmt::format("{} needs a value", name);
    if (*value == '\0') return fmt::format("{} must not be empty: give it a value", name);
    return {};
}

/// The error for a word that is no option.
[[nodiscard]] inline std::string no_option(std::string_view word)
{
    if (word.empty()) return "an argument is empty: remove it, or write an option in its place";
    return fmt::format("there is no option {}", word);
}

/// 8,812
[[nodiscard]] inline std::string grouped(std::uint64_t n)
{
    std::string s = std::to_string(n);
    for (std::size_t at = s.size(); at > 3;) s.insert(at -= 3, 1, ',');
    return s;
}

/// The last line of a failed run, with the first reasons: "WRONG: 2 events are lost; ...".
[[nodiscard]] inline std::string verdict_of(const std::vector<std::string>& reasons)
{
    constexpr std::size_t shown = 5;
    std::string all;
    for (std::size_t n = 0; n != reasons.size() && n != shown; ++n) {
        all += fmt::format("{}{}", n == 0 ? "" : "; ", reasons[n]);
    }
    if (reasons.size() > shown) all += fmt::format("; and {} more", reasons.size() - shown);
    return fmt::format("WRONG: {}\n", all);
}

/// 8,812 lines
[[nodiscard]] inline std::string counted(std::uint64_t n, std::string_view what)
{
    return fmt::format("{} {}{}", grouped(n), what, n == 1 ? "" : "s");
}

/// A file that must not be changed: its name for messages, and its path.
struct other_file {
    std::string_view name{};
    std::string path{};
};

/// Throws if the file cannot be written, or is one of the others under any name. An empty path
/// means no file. Changes no file and creates none.
inline void expect_file(std::string_view what, const std::string& path,
                        std::initializer_list<other_file> others)
{
    namespace fs = std::filesystem;
    if (path.empty()) return;
    const auto cannot = [&](std::string_view why) {
        throw complaint(fmt::format("the {} cannot be written to {}: {}", what, path, why));
    };
    std::error_code e;
    const bool there = fs::exists(path, e);
    if (there && !fs::is_regular_file(path, e) && !fs::is_directory(path, e)) {
        // Opening and closing a pipe here would look like the end of the report to its reader.
        if (access(path.c_str(), W_OK) != 0) cannot(std::strerror(errno));
        return;
    }
    for (const other_file& o : others) {
        const bool same = path == o.path || fs::equivalent(path, o.path, e);
        if (same) cannot(fmt::format("it is {}", o.name));
    }
    errno = 0;
    if (!std::ofstream(path, std::ios::app)) cannot(std::strerror(errno));
    if (!there) fs::remove(fs::canonical(path, e), e);
}

/// Throws if the text could not be written completely. An empty path means no file.
inline void write_file(std::string_view what, const std::string& path, std::string_view text)
{
    if (path.empty()) return;
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    file << text << std::flush;
    if (file) file.close();
    if (file) return;
    const std::string why = errno == 0 ? "unknown error" : std::strerror(errno);
    throw complaint(fmt::format("the {} cannot be written to {}: {}", what, path, why));
}

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_PROGRAM_HPP
