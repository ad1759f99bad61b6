// SPDX-License-Identifier: MIT
//
// locked_folder: where the databases of a program are, for one of it at a time.

#ifndef WAYBILL_EXAMPLES_SUPPORT_LOCKED_FOLDER_HPP
#define WAYBILL_EXAMPLES_SUPPORT_LOCKED_FOLDER_HPP

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "program.hpp"

namespace support {

class locked_folder {
public:
    /// Makes the folder, or a temporary one if `dir` is empty, and locks it. The processes that are
    /// started have the lock, too: they end with this one, and that is waited for.
    locked_folder(const std::string& dir, const std::string& program)
        : path_(dir), temporary_(dir.empty())
    {
        namespace fs = std::filesystem;
        std::error_code e;
        if (temporary_) {
            path_ = (fs::temp_directory_path() / (program + "-XXXXXX")).string();
            if (!mkdtemp(path_.data())) throw complaint("no temporary folder can be made");
        }
        fs::create_directories(path_, e);
        if (!fs::is_directory(path_, e)) {
            throw complaint(path_ + " is no folder and cannot be made one");
        }
        lock(program);
    }
    locked_folder(const locked_folder&) = delete;
    locked_folder& operator=(const locked_folder&) = delete;
    /// A temporary one is removed.
    ~locked_folder()
    {
        std::error_code ignored;
        if (temporary_) std::filesystem::remove_all(path_, ignored);
        close(lock_);
    }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    void lock(const std::string& program)
    {
        const std::string file = path_ + "/lock";
        lock_ = open(file.c_str(), O_RDWR | O_CREAT, 0644);
        if (lock_ < 0) {
            const std::string why = std::strerror(errno);
            throw complaint(fmt::format("cannot write {}: {}", file, why));
        }
        for (int tries = 0; tries != 300; ++tries) {
            if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
            usleep(10'000);
        }
        close(lock_);
        throw complaint(
            fmt::format("another {} is at work here: {} is locked", program, file));
    }

    std::string path_;
    bool temporary_;
    int lock_ = -1;
};

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_LOCKED_FOLDER_HPP
