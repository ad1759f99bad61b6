# SPDX-License-Identifier: MIT

# waybill_read_version(<version.hpp> <out>)
#
# Sets <out> to major.minor.patch. The number stands in the header alone, so that a header copied
# into another tree knows its version too.
function(waybill_read_version header out)
    file(STRINGS "${header}" line REGEX "^#define WAYBILL_VERSION [0-9]+" LIMIT_COUNT 1)
    if(NOT line MATCHES "WAYBILL_VERSION ([0-9]+)")
        message(FATAL_ERROR "${header} defines no WAYBILL_VERSION")
    endif()
    set(number "${CMAKE_MATCH_1}")
    math(EXPR major "${number} / 10000")
    math(EXPR minor "${number} / 100 % 100")
    math(EXPR patch "${number} % 100")
    set(${out} "${major}.${minor}.${patch}" PARENT_SCOPE)
endfunction()
