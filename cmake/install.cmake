# SPDX-License-Identifier: MIT
#
# Headers, single headers, license and a package that can be moved. Each component has an export file
# of its own, so that one whose package is missing takes nothing else with it. No file depends on an
# architecture, which is why all of them are under share/.

include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_DATADIR}/cmake/waybill")

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/waybill" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
    COMPONENT waybill FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cppm")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DATADIR}/waybill"
    COMPONENT waybill)

# The single headers are made while installing: an install needs no build.
set(data_dir "${CMAKE_INSTALL_DATADIR}")
if(NOT IS_ABSOLUTE "${data_dir}")
    set(data_dir "\${CMAKE_INSTALL_PREFIX}/${data_dir}")
endif()
install(CODE "
    foreach(module IN ITEMS ${waybill_module_headers})
        set(name waybill_\${module})
        if(module STREQUAL waybill.hpp)
            set(name waybill.hpp)
        endif()
        set(file \"${data_dir}/waybill/single/\${name}\")
        message(STATUS \"Installing: \$ENV{DESTDIR}\${file}\")
        execute_process(COMMAND \"\${CMAKE_COMMAND}\" -DMODULE=\${module} \"-DOUT=\$ENV{DESTDIR}\${file}\"
            -P \"${PROJECT_SOURCE_DIR}/cmake/single_header.cmake\" COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
        list(APPEND CMAKE_INSTALL_MANIFEST_FILES \"\${file}\")
    endforeach()" COMPONENT waybill)

install(TARGETS waybill EXPORT waybill-core)
install(EXPORT waybill-core NAMESPACE waybill:: DESTINATION "${package_dir}" COMPONENT waybill)
foreach(name IN LISTS waybill_components)
    install(TARGETS waybill_${name} EXPORT waybill-${name})
    install(EXPORT waybill-${name} NAMESPACE waybill:: DESTINATION "${package_dir}"
        COMPONENT waybill)
endforeach()

list(JOIN waybill_components " " waybill_component_names)
configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/waybill-config.cmake.in"
    "${PROJECT_BINARY_DIR}/waybill-config.cmake"
    INSTALL_DESTINATION "${package_dir}")
# Before 1.0 a minor version may break; from then on SameMajorVersion is right.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/waybill-config-version.cmake"
    COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES
    "${PROJECT_BINARY_DIR}/waybill-config.cmake"
    "${PROJECT_BINARY_DIR}/waybill-config-version.cmake"
    DESTINATION "${package_dir}" COMPONENT waybill)
