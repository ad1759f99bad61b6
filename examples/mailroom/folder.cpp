// SPDX-License-Identifier: MIT

#include "folder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "../engines/sqlite.hpp"
#include "event.hpp"
#include "job.hpp"

namespace mailroom {

namespace {

/// A checksum of the first and the last bytes of the input, as recorded by version 0.1.
std::int64_t old_signature(const std::string& input, std::uint64_t bytes)
{
    constexpr std::uint64_t some = 65'536;
    std::string text(2 * some, '\0');
    std::ifstream file(input, std::ios::binary);
    file.read(text.data(), some);
    std::size_t n = static_cast<std::size_t>(file.gcount());
    file.clear();
    file.seekg(static_cast<std::streamoff>(bytes - std::min(bytes, some)));
    file.read(text.data() + n, some);
    n += static_cast<std::size_t>(file.gcount());
    return checksum(std::string_view(text).substr(0, n));
}

/// A folder of version 0.1 may have a table with the input's size and checksum.
bool is_of_another_input(const std::string& dir, const std::string& input)
{
    engines::database db(queue_in(dir));
    const std::uint64_t bytes = std::filesystem::file_size(input);
    bool any = false;
    bool same = false;
    const auto tables = engines::statement(db, "SELECT count(*) FROM sqlite_master WHERE name = ?")
                            .number(std::string_view("input"));
    if (tables != 1) return false;
    engines::statement rows(db, "SELECT bytes, signature FROM input");
    rows.each([&] {
        any = true;
        same = rows.size(0) == bytes && rows.integer(1) == old_signature(input, bytes);
    });
    return any && !same;
}

}  // namespace

void expect_same_input(const support::locked_folder& folder, const std::string& input)
{
    const bool is_old = !folder.has_input() && std::filesystem::exists(queue_in(folder.path()));
    if (is_old && is_of_another_input(folder.path(), input)) throw folder.another(input);
    folder.belongs_to(input);
}

}  // namespace mailroom
