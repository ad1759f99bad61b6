// SPDX-License-Identifier: MIT
//
// folder: where the databases are, for one outbox at a time.

#ifndef WAYBILL_EXAMPLES_OUTBOX_FOLDER_HPP
#define WAYBILL_EXAMPLES_OUTBOX_FOLDER_HPP

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

#include "../support/program.hpp"

namespace outbox {

class folder {
public:
    /// Makes the folder, or a temporary one if `dir` is empty, and locks it. The processes that are
    /// started have the lock, too: they end with this one, and that is waited for.
    explicit folder(const std::string& dir) : path_(dir), temporary_(dir.empty())
    {
        namespace fs = std::filesystem;
        std::error_code e;
        if (temporary_) {
            path_ = (fs::temp_directory_path() / "outbox-XXXXXX").string();
            if (!mkdtemp(path_.data())) throw support::complaint("no temporary folder can be made");
        }
        fs::create_directories(path_, e);
        if (!fs::is_directory(path_, e)) {
            throw support::complaint(path_ + " is no folder and cannot be made one");
        }
        lock();
    }
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    /// A temporary one is removed.
    ~folder()
    {
        std::error_code ignored;
        if (temporary_) std::filesystem::remove_all(path_, ignored);
        close(lock_);
    }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    void lock()
    {
        const std::string file = path_ + "/lock";
        lock_ = open(file.c_str(), O_RDWR | O_CREAT, 0644);
        if (lock_ < 0) {
            const std::string why = std::strerror(errno);
            throw support::complaint(fmt::format("cannot write {}: {}", file, why));
        }
        for (int tries = 0; tries != 300; ++tries) {
            if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
            usleep(10'000);
        }
        close(lock_);
        throw support::complaint(fmt::format("another outbox is at work here: {} is locked", file));
    }

    std::string path_;
    bool temporary_;
    int lock_ = -1;
};

}  // namespace outbox

#endif  // WAYBILL_EXAMPLES_OUTBOX_FOLDER_HPP
