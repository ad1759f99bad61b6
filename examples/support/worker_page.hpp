// SPDX-License-Identifier: MIT
//
// worker_page: the phase and the last fault of each worker, in memory that outlives the worker.
//
//     enum class phase : std::uint8_t { asleep, at_work };
//     support::worker_page<phase> page(folder + "/phases", 32);
//     page.of(3).at = phase::at_work;                       // the worker
//     page.of(3).report("sink.sqlite: disk is full");
//     if (page.of(3).at == phase::at_work) ...              // the process that kills or awaits it
//
// standstill: the time without a change.

#ifndef WAYBILL_EXAMPLES_SUPPORT_WORKER_PAGE_HPP
#define WAYBILL_EXAMPLES_SUPPORT_WORKER_PAGE_HPP

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "program.hpp"

namespace support {

/// The state that a worker shows. A phase of zero is the initial one.
template <class Phase>
struct worker_place {
    std::atomic<Phase> at;
    std::atomic<bool> hopeless;  ///< A repetition will fail again.
    std::atomic<std::uint32_t> size;
    char text[500];

    void clear() noexcept
    {
        at = Phase{};
        hopeless = false;
        size = 0;
    }

    /// Shows a fault, cut if it is long. A worker that is killed meanwhile shows none.
    void report(std::string_view fault) noexcept
    {
        const std::string_view part = fault.substr(0, sizeof text);
        size = 0;
        std::memcpy(text, part.data(), part.size());
        size = static_cast<std::uint32_t>(part.size());
    }
    [[nodiscard]] std::string reported() const { return {text, size}; }
};

/// One place for each worker, in memory that the processes share through a file.
template <class Phase>
class worker_page {
public:
    worker_page(const std::string& path, std::size_t workers)
        : bytes_(workers * sizeof(worker_place<Phase>))
    {
        const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        int why = file < 0 ? errno : 0;
        // Memory of a file without room on the disk ends the process that touches it.
        if (why == 0) why = posix_fallocate(file, 0, static_cast<off_t>(bytes_));
        if (why == 0) {
            void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (at != MAP_FAILED) places_ = static_cast<worker_place<Phase>*>(at);
            else why = errno;
        }
        if (file >= 0) close(file);
        if (why != 0) throw complaint(fmt::format("{}: {}", path, std::strerror(why)));
    }
    worker_page(const worker_page&) = delete;
    worker_page& operator=(const worker_page&) = delete;
    ~worker_page() { munmap(places_, bytes_); }

    [[nodiscard]] worker_place<Phase>& of(std::size_t worker) noexcept { return places_[worker]; }
    [[nodiscard]] const worker_place<Phase>& of(std::size_t worker) const noexcept
    {
        return places_[worker];
    }

private:
    static_assert(std::atomic<Phase>::is_always_lock_free);
    static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

    std::size_t bytes_;
    worker_place<Phase>* places_ = nullptr;
};

/// The time for which a number has not changed. At most `longest` is counted between two calls
/// of `look`, so a program that was stopped for an hour finds no standstill.
class standstill {
public:
    using clock = std::chrono::steady_clock;

    void look(std::uint64_t left, clock::duration longest = std::chrono::milliseconds(100))
    {
        const auto now = clock::now();
        const auto passed = std::min(now - std::exchange(looked_, now), longest);
        const bool moved = std::exchange(left_, left) != left;
        stood_ = moved ? clock::duration{} : stood_ + passed;
    }
    [[nodiscard]] bool moved() const { return stood_ == clock::duration{}; }
    [[nodiscard]] clock::duration stood() const { return stood_; }

private:
    std::uint64_t left_ = 0;
    clock::time_point looked_ = clock::now();
    clock::duration stood_{};
};

}  // namespace support

#endif  // WAYBILL_EXAMPLES_SUPPORT_WORKER_PAGE_HPP
