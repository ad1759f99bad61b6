// SPDX-License-Identifier: MIT
//
// scarce: a limit on allocations.
//
// scarce_new.hpp replaces operator new. A test sets the number of allocations that succeed.

#ifndef WAYBILL_TESTS_SUPPORT_SCARCE_HPP
#define WAYBILL_TESTS_SUPPORT_SCARCE_HPP

#include <cstdint>
#include <new>

namespace tests_support::scarce {

inline constexpr std::uint64_t plenty = ~std::uint64_t{0};
inline std::uint64_t left = plenty;  // allocations that succeed
inline bool fails_once = false;      // only the first allocation after the limit fails
inline std::uint64_t taken = 0;  // the number of allocations that succeeded; `bytes` is their size
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

/// An allocation without memory, for containers that do not allocate.
inline void one()
{
    if (!next()) throw std::bad_alloc();
}

/// Removes the limit during its lifetime.
class pause {
public:
    pause() noexcept : before_(left) { left = plenty; }
    ~pause() { left = before_; }
    pause(const pause&) = delete;
    pause& operator=(const pause&) = delete;

private:
    std::uint64_t before_;
};

/// Returns true if f() threw bad_alloc with this limit. Rethrows other exceptions.
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
