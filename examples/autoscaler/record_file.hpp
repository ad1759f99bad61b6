// SPDX-License-Identifier: MIT
//
// record_file: each decision with all its numbers, one JSON object a line.
//
// The state contains the length of the file. A run that continues from the state truncates the file
// to that length. Each decision is in the file exactly once, after any number of kills.

#ifndef WAYBILL_EXAMPLES_AUTOSCALER_RECORD_FILE_HPP
#define WAYBILL_EXAMPLES_AUTOSCALER_RECORD_FILE_HPP

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "../support/program.hpp"

namespace autoscaler {

class record_file {
public:
    /// An empty path means no file. Throws a complaint if the file is shorter than `kept` bytes or
    /// cannot be written.
    record_file(std::string path, std::uint64_t kept) : path_(std::move(path)), bytes_(kept)
    {
        namespace fs = std::filesystem;
        if (path_.empty()) {
            bytes_ = 0;
            return;
        }
        std::error_code e;
        if (kept != 0) {
            const std::uint64_t there = fs::file_size(path_, e);
            if (e || there < kept) {
                throw support::complaint(
                    fmt::format("the records {} are shorter than in the state: {} bytes of {}",
                                path_, e ? 0 : there, kept));
            }
            fs::resize_file(path_, kept, e);
        }
        errno = 0;
        file_.open(path_, std::ios::binary | (kept != 0 ? std::ios::app : std::ios::trunc));
        if (!file_ || e) fail();
    }

    void add(std::string_view line)
    {
        if (path_.empty()) return;
        errno = 0;
        file_ << line << '\n' << std::flush;
        if (!file_) fail();
        bytes_ += line.size() + 1;
    }

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
    [[noreturn]] void fail() const
    {
        const char* const why = errno == 0 ? "unknown error" : std::strerror(errno);
        throw support::complaint(
            fmt::format("the records cannot be written to {}: {}", path_, why));
    }

    std::string path_;
    std::uint64_t bytes_;
    std::ofstream file_{};
};

}  // namespace autoscaler

#endif  // WAYBILL_EXAMPLES_AUTOSCALER_RECORD_FILE_HPP
