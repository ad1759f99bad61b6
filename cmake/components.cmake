# SPDX-License-Identifier: MIT
#
# The targets of waybill. The core needs a C++20 compiler and nothing else. Each further component
# stands for one header in ext/ and the one package that header needs. A package is only named here
# and never looked for: a subproject then cannot fail for a package that nobody asked for, and what
# is installed does not depend on the machine that packs it. Who adds this folder to a build and
# wants such a component finds its package first.

include(GNUInstallDirs)

add_library(waybill INTERFACE)
add_library(waybill::waybill ALIAS waybill)
add_library(waybill::core ALIAS waybill)
target_compile_features(waybill INTERFACE cxx_std_20)
target_include_directories(waybill INTERFACE
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>"
    "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>")

# waybill_component(<name> <package> <target of the package>)
set(waybill_components "")
set(waybill_packages "")
function(waybill_component name package target)
    add_library(waybill_${name} INTERFACE)
    add_library(waybill::${name} ALIAS waybill_${name})
    set_target_properties(waybill_${name} PROPERTIES EXPORT_NAME ${name})
    target_link_libraries(waybill_${name} INTERFACE waybill::waybill ${target})
    set(waybill_components ${waybill_components} ${name} PARENT_SCOPE)
    string(APPEND waybill_packages
        "set(waybill_${name}_package ${package})\nset(waybill_${name}_target ${target})\n")
    set(waybill_packages "${waybill_packages}" PARENT_SCOPE)
endfunction()

waybill_component(json nlohmann_json nlohmann_json::nlohmann_json)
waybill_component(fmt fmt fmt::fmt)
waybill_component(ranges range-v3 range-v3::range-v3)
