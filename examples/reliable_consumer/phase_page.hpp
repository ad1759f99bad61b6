// SPDX-License-Identifier: MIT
//
// phase_page: what each worker is doing, in memory that outlives it.
//
// A kill at a random time proves little where the process was asleep. Here each worker notes what it
// begins, and whoever kills it can read what it was at when it died.

#ifndef WAYBILL_EXAMPLES_RELIABLE_CONSUMER_PHASE_PAGE_HPP
#define WAYBILL_EXAMPLES_RELIABLE_CONSUMER_PHASE_PAGE_HPP

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../support/program.hpp"

namespace reliable_consumer {

enum class phase : std::uint8_t { asleep, leases, reading, batch, handler };

class phase_page {
public:
    explicit phase_page(const std::string& path)
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
    phase_page(const phase_page&) = delete;
    phase_page& operator=(const phase_page&) = delete;
    ~phase_page() { munmap(page_, bytes); }

    void set(std::size_t worker, phase p) noexcept { page_[worker].store(p, std::memory_order_relaxed); }
    [[nodiscard]] phase of(std::size_t worker) const noexcept
    {
        return page_[worker].load(std::memory_order_relaxed);
    }

private:
    using cell = std::atomic<phase>;
    static_assert(cell::is_always_lock_free);
    static constexpr std::size_t bytes = 4'096;

    cell* page_ = nullptr;
};

}  // namespace reliable_consumer

#endif  // WAYBILL_EXAMPLES_RELIABLE_CONSUMER_PHASE_PAGE_HPP
