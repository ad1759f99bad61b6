// SPDX-License-Identifier: MIT
//
// input: checks that a file can be the input of a program, and that it is that of an earlier run.
//
//     support::expect_input(o.input);                       // before any work
//     const support::locked_folder here(o.db, "mailroom");
//     here.belongs_to(o.input);                             // see locked_folder.hpp
//
// The texts of the complaints are the same in all programs.

#ifndef WAYBILL_EXAMPLES_SUPPORT_INPUT_HPP
#define WAYBILL_EXAMPLES_SUPPORT_INPUT_HPP

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <sys/stat.h>

#include "program.hpp"

namespace support {

inline constexpr std::uint64_t checksum_of_nothing = 14'695'981'039'346'656'037U;

/// FNV-1a, 64 bits. `before` is the checksum of the bytes before these.
[[nodiscard]] constexpr std::uint64_t checksum(std::string_view text,
                                               std::uint64_t before = checksum_of_nothing) noexcept
{
    for (const char c : text)
        before = (before ^ static_cast<unsigned char>(c)) * 1'099'511'628'211U;
    return before;
}

/// Throws unless this is a regular file that can be read. `as` is the purpose of the file.
inline void expect_regular(const std::string& path, std::string_view as)
{
    struct stat s = {};
    const auto refuse = [&](std::string_view what, std::string_view instead) {
        throw complaint(fmt::format("{} {}: name {} as the {}", path, what, instead, as));
    };
    if (stat(path.c_str(), &s) != 0) {
        const int why = errno;
        if (why == ENOENT) {
            throw complaint(fmt::format("there is no file {}: name one as the {}", path, as));
        }
        refuse(fmt::format("cannot be read ({})", std::strerror(why)), "another file");
    }
    if (S_ISDIR(s.st_mode)) refuse("is a folder", "a regular file");
    if (S_ISFIFO(s.st_mode)) refuse("is a FIFO, which can be read only once", "a regular file");
    if (!S_ISREG(s.st_mode)) refuse("is no regular file", "one");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(fmt::format("cannot be read ({})", std::strerror(errno)), "another file");
}

/// Throws unless this is a regular file with at least one byte that can be read. "-" is the
/// standard input, which may be a pipe or empty, but not a folder.
inline void expect_input(const std::string& path, std::string_view as = "input")
{
    if (path == "-") {
        struct stat s = {};
        if (fstat(0, &s) != 0 || !S_ISDIR(s.st_mode)) return;
        throw complaint(fmt::format("the standard input is a folder: give a file as the {}", as));
    }
    expect_regular(path, as);
    if (std::ifstream(path, std::ios::binary).peek() != std::ifstream::traits_type::eof()) return;
    throw complaint(
        fmt::format("{} is empty: name a file with at least one line as the {}", path, as));
}

/// Size and checksum of a file, as a line of text.
[[nodiscard]] inline std::string fingerprint(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    std::string part(65'536, '\0');
    std::uint64_t bytes = 0;
    std::uint64_t sum = checksum_of_nothing;
    while (file) {
        file.read(part.data(), static_cast<std::streamsize>(part.size()));
        const auto n = static_cast<std::size_t>(file.gcount());
        sum = checksum(std::string_view(part).substr(0, n), sum);
        bytes += n;
    }
    if (!file.eof()) throw complaint(fmt::format("{} cannot be read to its end", path));
    return fmt::format("{} bytes, FNV-1a {:016x}\n", bytes, sum);
}

/// The complaint if a folder or state of an earlier run was made from another input.
[[nodiscard]] inline complaint another_input(const std::string& where, const std::string& input,
                                             std::string_view kind)
{
    return complaint(
        fmt::format("{} holds the work of another input than {}, or of what that was "
                    "before it changed: name another {}",
                    where, input, kind));
}

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_INPUT_HPP
