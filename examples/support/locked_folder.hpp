// SPDX-License-Identifier: MIT
//
// locked_folder: the folder of a program's databases, for one run at a time and one input.

#ifndef WAYBILL_EXAMPLES_SUPPORT_LOCKED_FOLDER_HPP
#define WAYBILL_EXAMPLES_SUPPORT_LOCKED_FOLDER_HPP

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include "cleanup.hpp"
#include "input.hpp"
#include "program.hpp"

namespace support {

/// The fingerprint of the input, in the folder.
inline constexpr std::string_view fingerprint_file = "input.fingerprint";

class locked_folder {
public:
    /// Creates the folder, or a temporary one if `dir` is empty, and locks it. Child processes
    /// inherit the lock. The constructor waits for those of a killed run, which are about to end.
    locked_folder(const std::string& dir, const std::string& program) : path_(dir)
    {
        namespace fs = std::filesystem;
        if (dir.empty()) path_ = temporary_.emplace(program).path();
        std::error_code e;
        fs::create_directories(path_, e);
        std::error_code ignored;
        if (!fs::is_directory(path_, ignored)) {
            if (!e) e = std::make_error_code(std::errc::not_a_directory);
            throw complaint(
                fmt::format("{} is no folder and cannot be made one: {}; name another "
                            "folder",
                            path_, e.message()));
        }
        lock(program);
    }
    locked_folder(const locked_folder&) = delete;
    locked_folder& operator=(const locked_folder&) = delete;
    /// A temporary folder is removed.
    ~locked_folder() { close(lock_); }

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] bool temporary() const noexcept { return temporary_.has_value(); }

    /// Records the input of the folder, if there is no record. Throws if the record differs.
    void belongs_to(const std::string& input) const
    {
        const std::string now = fingerprint(input);
        std::ifstream file(fingerprint_path(), std::ios::binary);
        const std::string then{std::istreambuf_iterator<char>(file), {}};
        if (then == now) return;
        if (!then.empty()) throw another_input(path_, input, "folder");
        const std::string fresh = fingerprint_path() + ".new";
        write_file("fingerprint of the input", fresh, now);
        std::filesystem::rename(fresh, fingerprint_path());
    }

private:
    [[nodiscard]] std::string fingerprint_path() const
    {
        return fmt::format("{}/{}", path_, fingerprint_file);
    }

    void lock(const std::string& program)
    {
        const std::string file = path_ + "/lock";
        lock_ = open(file.c_str(), O_RDWR | O_CREAT, 0600);
        if (lock_ < 0) {
            const std::string why = std::strerror(errno);
            throw complaint(fmt::format("the folder {} cannot be written: {}; name another folder",
                                        path_, why));
        }
        for (int tries = 0; tries != 300; ++tries) {
            if (flock(lock_, LOCK_EX | LOCK_NB) == 0) return;
            usleep(10'000);
        }
        close(lock_);
        throw complaint(
            fmt::format("another {} is at work here: {} is locked; wait for its end, "
                        "or name another folder",
                        program, file));
    }

    std::optional<temporary_folder> temporary_{};
    std::string path_;
    int lock_ = -1;
};

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_LOCKED_FOLDER_HPP
