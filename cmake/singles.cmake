# SPDX-License-Identifier: MIT
#
# Target waybill_single: a self-contained header per module and one for all, in <build>/single, for
# those who copy files. Made on demand.

set(waybill_singles "")
file(GLOB waybill_module_headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include/waybill"
    "${PROJECT_SOURCE_DIR}/include/waybill/*.hpp")
list(REMOVE_ITEM waybill_module_headers version.hpp)
file(GLOB_RECURSE waybill_headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/waybill/*.hpp")
foreach(module IN LISTS waybill_module_headers)
    set(single "${PROJECT_BINARY_DIR}/single/waybill_${module}")
    if(module STREQUAL "waybill.hpp")
        set(single "${PROJECT_BINARY_DIR}/single/waybill.hpp")
    endif()
    add_custom_command(OUTPUT "${single}"
        COMMAND "${CMAKE_COMMAND}" "-DMODULE=${module}" "-DOUT=${single}"
            -P "${PROJECT_SOURCE_DIR}/cmake/single_header.cmake"
        DEPENDS ${waybill_headers} "${PROJECT_SOURCE_DIR}/LICENSE"
            "${PROJECT_SOURCE_DIR}/cmake/single_header.cmake"
        COMMENT "Single header for ${module}"
        VERBATIM)
    list(APPEND waybill_singles "${single}")
endforeach()
add_custom_target(waybill_single DEPENDS ${waybill_singles})
