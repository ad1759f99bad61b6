// SPDX-License-Identifier: MIT
//
// scarce: memory that is used up when a test says so.
//
// scarce_new.hpp replaces operator new; a test sets how many allocations are left.

#ifndef WAYBILL_TESTS_SUPPORT_SCARCE_HPP
#define WAYBILL_TESTS_SUPPORT_SCARCE_HPP

#include <cstdint>
#include <new>

namespace tests_support::scarce {

inline constexpr std::uint64_t plenty = ~std::uint64_t{0};
inline std::uint64_t left = plenty;  // allocations that succeed
inline bool fails_once = false;      // the first one after them fails, and the rest succeeds
inline std::uint64_t taken = 0;      // allocations that succeeded, and their bytes
inline std::uint64_t bytes = 0;

/// False if this allocation must fail.
inline bool next(std::uint64_t size = 0) noexcept
{
    if (left == 0) {
        if (fails_once) left = plenty;
        return false;
    }
    if (left != plenty) --left;
    ++taken;
    bytes += size;
    return true;
}

/// Stands for an allocation where there is none.
inline void one()
{
    if (!next()) throw std::bad_alloc();
}

/// As much as is needed, as long as this lives.
class pause {
public:
    pause() noexcept : before_(left) { left = plenty; }
    ~pause() { left = before_; }
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;

private:
    std::uint64_t before_;
};

/// True if f(), with so many allocations left, found none in the end. Other exceptions pass.
template <class F>
bool fails_after(std::uint64_t allocations, F&& f)
{
    left = allocations;
    try {
        f();
    } catch (const std::bad_alloc&) {
        left = plenty;
        return true;
    } catch (...) {
        left = plenty;
        throw;
    }
    left = plenty;
    return false;
}

}  // namespace tests_support::scarce

#endif  // WAYBILL_TESTS_SUPPORT_SCARCE_HPP
