# SPDX-License-Identifier: MIT
#
# Writes one self-contained header: a module, and in it whatever of waybill it includes.
#
#     cmake -DMODULE=batch.hpp -DOUT=waybill_batch.hpp -P cmake/single_header.cmake
#
# MODULE is a header of include/waybill itself, with or without .hpp; OUT's folder is made if there is
# none. Everything else is refused before anything is written.
#
# A file goes in where it is first included. Its guard stays in, so that two single headers, or one
# and the installed tree, can meet in a translation unit: what came with the first is skipped in the
# second. The same tree gives the same bytes. All text is handled as one string and never as a
# list, since C++ is full of the semicolons and brackets that split or join the items of one.

cmake_minimum_required(VERSION 3.21)
include("${CMAKE_CURRENT_LIST_DIR}/version.cmake")
get_filename_component(root "${CMAKE_CURRENT_LIST_DIR}/.." ABSOLUTE)
set(usage "Usage: cmake -DMODULE=batch.hpp -DOUT=waybill_batch.hpp -P cmake/single_header.cmake")

# The headers that a single one is made of; the ending may be left out.
file(GLOB modules RELATIVE "${root}/include/waybill" "${root}/include/waybill/*.hpp")
list(REMOVE_ITEM modules version.hpp)
list(SORT modules)
set(module "${MODULE}")
if("${module}.hpp" IN_LIST modules)
    string(APPEND module ".hpp")
endif()
if(NOT module IN_LIST modules)
    list(JOIN modules ", " names)
    message(FATAL_ERROR "MODULE is \"${MODULE}\", but it must be one of ${names}. ${usage}")
endif()

if("${OUT}" STREQUAL "")
    message(FATAL_ERROR "OUT is \"\", but it must name the file to be written. ${usage}")
endif()
get_filename_component(out "${OUT}" ABSOLUTE)
if(OUT MATCHES "/$" OR IS_DIRECTORY "${out}")
    message(FATAL_ERROR "OUT is \"${OUT}\", which is a folder; it must name the file to be written.")
endif()
string(FIND "${out}" "${root}/include/" at)
if(at EQUAL 0)
    message(FATAL_ERROR "OUT is \"${OUT}\", which is in a folder of the library; choose another.")
endif()

# Takes one file apart at its includes of ours, which start a line and so are not in a comment.
function(inline_header name out)
    set_property(GLOBAL APPEND PROPERTY inlined "${name}")
    set(file "${root}/include/waybill/${name}")
    if(NOT EXISTS "${file}" OR IS_DIRECTORY "${file}")  # a folder reads as an empty file
        message(FATAL_ERROR "<waybill/${name}> is included, but there is no such header.")
    endif()
    file(READ "${file}" rest)
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

waybill_read_version("${root}/include/waybill/version.hpp" version)
inline_header("${module}" body)
file(READ "${root}/LICENSE" license)
string(STRIP "${license}" license)
string(REPLACE "\n" "\n// " license "\n${license}")
string(REPLACE "// \n" "//\n" license "${license}")
file(WRITE "${out}" "// SPDX-License-Identifier: MIT
//
// waybill ${version}, ${module} and all it includes in one file. Generated: change the parts, not this.
// The license stands at the end.

${body}
// ==== LICENSE
//${license}
")
