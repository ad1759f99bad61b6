// SPDX-License-Identifier: MIT
//
// phases: what each worker is about, and what it has last run into, as far as others can still tell
// when it has been killed.

#ifndef WAYBILL_EXAMPLES_ORDER_PIPELINE_PHASES_HPP
#define WAYBILL_EXAMPLES_ORDER_PIPELINE_PHASES_HPP

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../support/program.hpp"
#include "options.hpp"

namespace order_pipeline {

enum class phase : std::uint8_t {
    asleep,   ///< It has no session.
    between,  ///< It has one, and no message.
    at_work,  ///< A message is in its hands, and not settled.
};

/// What a worker shows.
struct worker_place {
    std::atomic<phase> at;
    std::atomic<bool> hopeless;  ///< What it has run into is there to stay.
    std::atomic<std::uint32_t> size;
    char text[500];

    void clear() noexcept
    {
        at = phase::asleep;
        hopeless = false;
        size = 0;
    }

    /// The last fault, cut where it is long. Killed within, the worker has told none.
    void tell(std::string_view fault) noexcept
    {
        const std::string_view part = fault.substr(0, sizeof text);
        size = 0;
        std::memcpy(text, part.data(), part.size());
        size = static_cast<std::uint32_t>(part.size());
    }
    [[nodiscard]] std::string told() const { return {text, size}; }
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

/// One place for each worker, in memory that the processes share.
class phases {
public:
    explicit phases(const std::string& path)
    {
        const int file = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (file >= 0 && ftruncate(file, bytes) == 0) {
            void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
            if (at != MAP_FAILED) places_ = static_cast<worker_place*>(at);
        }
        const int why = errno;
        if (file >= 0) close(file);
        if (!places_) throw support::complaint(fmt::format("{}: {}", path, std::strerror(why)));
    }
    phases(const phases&) = delete;
    phases& operator=(const phases&) = delete;
    ~phases() { munmap(places_, bytes); }

    [[nodiscard]] worker_place& of(std::uint64_t worker) noexcept { return places_[worker]; }

private:
    static constexpr std::size_t bytes = most_workers * sizeof(worker_place);

    worker_place* places_ = nullptr;
};

}  // namespace order_pipeline

#endif  // WAYBILL_EXAMPLES_ORDER_PIPELINE_PHASES_HPP
