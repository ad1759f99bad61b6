// SPDX-License-Identifier: MIT
//
// folder: where the databases are, for one order_pipeline at a time.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_FOLDER_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_FOLDER_HPP

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

namespace order_pipeline {

class folder {
public:
    /// Makes it, or a temporary one if `dir` is empty, and locks it. Workers have the lock, too:
    /// those of somebody who was killed are waited for.
    explicit folder(const std::string& dir) : path_(dir), temporary_(dir.empty())
    {
        namespace fs = std::filesystem;
        std::error_code e;
        if (temporary_) {
            path_ = (fs::temp_directory_path() / "order_pipeline-XXXXXX").string();
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
            throw support::complaint(fmt::format("{}: {}", file, std::strerror(errno)));
        }
        for (int tries = 0; tries != 300; ++tries) {
            if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
            usleep(10'000);
        }
        close(lock_);
        throw support::complaint("another order_pipeline is at work here: " + file);
    }

    std::string path_;
    bool temporary_;
    int lock_ = -1;
};

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_FOLDER_HPP
