# SPDX-License-Identifier: MIT
#
# What a strict user may have switched on, as errors: none of it may come from our headers. For our
# own tests, examples and benchmarks only; nothing here is exported.
include_guard(GLOBAL)

# The tests insist. Who only wants to run an example is not stopped by what a newer compiler says.
option(WAYBILL_WERROR "A warning in waybill's own programs is an error" ON)

add_library(waybill_warnings INTERFACE)
target_compile_options(waybill_warnings INTERFACE
    "$<$<BOOL:${WAYBILL_WERROR}>:-Werror>" -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast
    -Wcast-qual -Wdouble-promotion -Wundef
    "$<$<CXX_COMPILER_ID:GNU>:-Wuseless-cast;-Wduplicated-cond;-Wlogical-op>"
    # g++ sees an empty std::optional read where nobody reads it, as soon as it optimises.
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>"
    # g++ 13 and later take any function that is given a temporary and returns a reference for one
    # that returns the temporary.
    "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-dangling-reference>")

# Our sizes have 64 bits everywhere. With 32 bits, those of the standard library have 32.
if(CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(waybill_warnings INTERFACE -Wno-shorten-64-to-32)
endif()

# For code that does nothing but include our headers still more can be asked.
add_library(waybill_strictest INTERFACE)
target_link_libraries(waybill_strictest INTERFACE waybill_warnings)
target_compile_options(waybill_strictest INTERFACE
    -Wcast-align -Wextra-semi -Wformat=2 -Wimplicit-fallthrough -Wmissing-declarations
    -Wnon-virtual-dtor -Woverloaded-virtual -Wredundant-decls -Wunused
    # clang 14 takes the zero that a defaulted <=> compares with for one that we wrote.
    "$<$<NOT:$<AND:$<CXX_COMPILER_ID:Clang>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,16>>>:-Wzero-as-null-pointer-constant>"
    "$<$<CXX_COMPILER_ID:GNU>:-Wduplicated-branches>")
