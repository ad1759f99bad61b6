// SPDX-License-Identifier: MIT
//
// phases: what each worker is about, as far as others can still tell when it has been killed.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_PHASES_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_PHASES_HPP

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../support/program.hpp"

namespace order_pipeline {

enum class phase : std::uint8_t {
    asleep,   ///< It has no session.
    between,  ///< It has one, and no message.
    at_work,  ///< A message is in its hands, and not settled.
};

/// A page that the processes share.
class phases {
public:
    explicit phases(const std::string& path)
    {
        const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0 && ftruncate(file, bytes) == 0) {
            void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (at != MAP_FAILED) page_ = static_cast<cell*>(at);
        }
        const int why = errno;
        if (file >= 0) close(file);
        if (!page_) throw support::complaint(fmt::format("{}: {}", path, std::strerror(why)));
    }
    phases(const phases&) = delete;
    phases& operator=(const phases&) = delete;
    ~phases() { munmap(page_, bytes); }

    [[nodiscard]] std::atomic<phase>& of(std::uint64_t worker) noexcept { return page_[worker]; }

private:
    using cell = std::atomic<phase>;
    static_assert(cell::is_always_lock_free);
    static constexpr std::size_t bytes = 4'096;

    cell* page_ = nullptr;
};

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_PHASES_HPP
