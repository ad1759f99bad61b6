# SPDX-License-Identifier: MIT
#
# Target waybill_single: a self-contained header per door and one for all, in <build>/single, for
# those who copy files. Made on demand.

set(waybill_singles "")
file(GLOB waybill_doors CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include/waybill"
    "${PROJECT_SOURCE_DIR}/include/waybill/*.hpp")
list(REMOVE_ITEM waybill_doors version.hpp)
file(GLOB_RECURSE waybill_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/waybill/*.hpp")
foreach(door IN LISTS waybill_doors)
    set(single "${PROJECT_BINARY_DIR}/single/waybill_${door}")
    if(door STREQUAL "waybill.hpp")
        set(single "${PROJECT_BINARY_DIR}/single/waybill.hpp")
    endif()
    add_custom_command(OUTPUT "${single}"
        COMMAND "${CMAKE_COMMAND}" "-DDOOR=${door}" "-DOUT=${single}"
            -P "${PROJECT_SOURCE_DIR}/cmake/single_header.cmake"
        DEPENDS ${waybill_headers} "${PROJECT_SOURCE_DIR}/LICENSE"
            "${PROJECT_SOURCE_DIR}/cmake/single_header.cmake"
        COMMENT "Single header for ${door}"
        VERBATIM)
    list(APPEND waybill_singles "${single}")
endforeach()
add_custom_target(waybill_single DEPENDS ${waybill_singles})
