# SPDX-License-Identifier: MIT
#
# Writes one self-contained header: a door, and in it whatever of waybill it includes.
#
#     cmake -DDOOR=batch.hpp -DOUT=waybill_batch.hpp -P cmake/single_header.cmake
#
# A file goes in where it is first included. Its guard stays in, so that two single headers, or one
# and the installed tree, can meet in a translation unit: what came with the first is skipped in the
# second. The same tree gives the same bytes. All text is handled as one string and never as a
# list, since C++ is full of the semicolons and brackets that split or join the items of one.

cmake_minimum_required(VERSION 3.21)
include("${CMAKE_CURRENT_LIST_DIR}/version.cmake")
get_filename_component(house "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
if(NOT DOOR OR NOT OUT)
    message(FATAL_ERROR "usage: cmake -DDOOR=<batch.hpp> -DOUT=<file> -P single_header.cmake")
endif()

# Takes one file apart at its includes of ours, which start a line and so are not in a comment.
function(inline_header name out)
    set_property(GLOBAL APPEND PROPERTY inlined "${name}")
    file(READ "${house}/include/waybill/${name}" rest)
    string(REPLACE "// SPDX-License-Identifier: MIT\n//\n" "" rest "${rest}")
    set(text "")
    while(rest MATCHES "(^|\n)(#include <waybill/([^>\n]+)>[^\n]*\n)")
        set(line "${CMAKE_MATCH_2}")
        set(inner "${CMAKE_MATCH_3}")
        string(FIND "${rest}" "${line}" at)
        string(SUBSTRING "${rest}" 0 ${at} before)
        string(LENGTH "${line}" length)
        math(EXPR at "${at} + ${length}")
        string(SUBSTRING "${rest}" ${at} -1 rest)
        string(APPEND text "${before}")
        get_property(inlined GLOBAL PROPERTY inlined)
        if(NOT inner IN_LIST inlined)
            inline_header("${inner}" part)
            string(APPEND text "${part}")
        endif()
    endwhile()
    set(${out} "// ==== waybill/${name}\n\n${text}${rest}\n" PARENT_SCOPE)
endfunction()

waybill_read_version("${house}/include/waybill/version.hpp" version)
inline_header("${DOOR}" body)
file(READ "${house}/LICENSE" license)
string(STRIP "${license}" license)
string(REPLACE "\n" "\n// " license "\n${license}")
string(REPLACE "// \n" "//\n" license "${license}")
file(WRITE "${OUT}" "// SPDX-License-Identifier: MIT
//
// waybill ${version}, ${DOOR} and all it includes in one file. Generated: change the parts, not this.
// The license stands at the end.

${body}
// ==== LICENSE
//${license}
")
