// SPDX-License-Identifier: MIT
//
// scarce_new: an operator new with the limit of scarce.hpp. Include it in one translation unit of a
// program.

#ifndef WAYBILL_TESTS_SUPPORT_SCARCE_NEW_HPP
#define WAYBILL_TESTS_SUPPORT_SCARCE_NEW_HPP

#include <cstddef>
#include <cstdlib>
#include <new>

#include <support/scarce.hpp>

// If it is inlined, g++ warns that memory of new goes to free.
[[gnu::noinline]] void* operator new(std::size_t size)
{
    if (!tests_support::scarce::next(size)) throw std::bad_alloc();
    if (void* p = std::malloc(size == 0 ? 1 : size)) return p;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* p) noexcept
{
    std::free(p);
}
[[gnu::noinline]] void operator delete(void* p, std::size_t) noexcept
{
    std::free(p);
}

#endif  // WAYBILL_TESTS_SUPPORT_SCARCE_NEW_HPP
