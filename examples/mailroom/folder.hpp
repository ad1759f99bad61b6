// SPDX-License-Identifier: MIT
//
// folder: where queue and sink are, for one mailroom at a time and for one input.

#ifndef WAYBILL_EXAMPLES_MAILROOM_FOLDER_HPP
#define WAYBILL_EXAMPLES_MAILROOM_FOLDER_HPP

#include <cstdint>
#include <string>

#include "../support/program.hpp"

namespace mailroom {

using support::complaint;

/// The size of a file that can be read from any place. Throws a complaint if it is none.
[[nodiscard]] std::uint64_t input_size(const std::string& path);

class folder {
public:
    /// Makes the folder, or a temporary one if `dir` is empty, and locks it. The lock is passed on
    /// to the worker, so it is free only when both are gone; a worker whose parent was killed goes
    /// at once, and that is waited for.
    explicit folder(const std::string& dir);
    folder(const folder&) = delete;
    folder& operator=(const folder&) = delete;
    /// A temporary one is removed.
    ~folder();

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] bool temporary() const noexcept { return temporary_; }

    /// Notes which input this folder is for. Throws a complaint if it is for another one: its queue
    /// and sink would be a mixture of the two.
    void belongs_to(const std::string& input, std::uint64_t bytes) const;

private:
    std::string path_;
    bool temporary_ = false;
    int lock_ = -1;
};

}  // namespace mailroom

#endif  // WAYBILL_EXAMPLES_MAILROOM_FOLDER_HPP
