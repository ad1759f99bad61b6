// SPDX-License-Identifier: MIT

#include "folder.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "../engines/sqlite.hpp"
#include "event.hpp"
#include "job.hpp"

namespace mailroom {

namespace fs = std::filesystem;

namespace {

std::string temporary_folder()
{
    std::string name = (fs::temp_directory_path() / "mailroom-XXXXXX").string();
    if (!mkdtemp(name.data()))
        throw complaint(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
    return name;
}

int locked(const std::string& path)
{
    const int fd =
        open(path.c_str(), O_RDWR | O_CREAT, 0644);  // without O_CLOEXEC: the worker has it too
    if (fd < 0) throw complaint(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
    for (int tries = 0; tries < 500; ++tries) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
        usleep(10'000);
    }
    close(fd);
    throw complaint(fmt::format("another mailroom is at work here: {} is locked", path));
}

/// The first and the last bytes of the input: enough to tell one file from another.
std::int64_t signature(const std::string& input, std::uint64_t bytes)
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

}  // namespace

std::uint64_t input_size(const std::string& path)
{
    std::error_code e;
    const fs::file_status s = fs::status(path, e);
    if (s.type() == fs::file_type::not_found)
        throw complaint(fmt::format("there is no file {}", path));
    if (s.type() == fs::file_type::directory)
        throw complaint(fmt::format("{} is a folder; a file is expected", path));
    if (s.type() != fs::file_type::regular) {
        throw complaint(
            fmt::format("{} is no regular file, and could not be read on after a kill", path));
    }
    if (!std::ifstream(path))
        throw complaint(fmt::format("{} cannot be read: {}", path, std::strerror(errno)));
    const std::uintmax_t bytes = fs::file_size(path, e);
    if (e) throw complaint(fmt::format("{} cannot be read: {}", path, e.message()));
    return bytes;
}

folder::folder(const std::string& dir)
    : path_(dir.empty() ? temporary_folder() : dir), temporary_(dir.empty())
{
    std::error_code e;
    fs::create_directories(path_, e);
    if (!fs::is_directory(path_))
        throw complaint(fmt::format("{} is no folder and cannot be made one", path_));
    lock_ = locked(path_ + "/lock");
}

folder::~folder()
{
    std::error_code e;
    if (temporary_) fs::remove_all(path_, e);
    close(lock_);
}

void folder::belongs_to(const std::string& input, std::uint64_t bytes) const
{
    engines::database db(queue_in(path_));
    db.exec(
        "CREATE TABLE IF NOT EXISTS input (bytes INTEGER NOT NULL, signature INTEGER NOT NULL)");
    const std::int64_t sign = signature(input, bytes);
    if (!engines::statement(db, "SELECT count(*) FROM input").number().value_or(0)) {
        engines::statement(db, "INSERT INTO input VALUES (?, ?)").run(bytes, sign);
    }
    const auto same =
        engines::statement(db, "SELECT 1 FROM input WHERE bytes = ? AND signature = ?")
            .number(bytes, sign);
    if (!same) {
        throw complaint(fmt::format(
            "{} holds the queue and the sink of another input than {}, or of what that was before it "
            "changed; name another folder",
            path_, input));
    }
}

}  // namespace mailroom
