# SPDX-License-Identifier: MIT
#
# Plays a user: cmake -DWAY=<way> -DSOURCE=<checkout> -DBUILD=<its build> -DWORK=<folder>
#                           -DGENERATOR=<generator> -DCOMPILER=<c++> -P check.cmake

cmake_minimum_required(VERSION 3.21)
set(projects "${CMAKE_CURRENT_LIST_DIR}")
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")

# run(<command>...): it must succeed. fails(<words> <command>...): it must fail, and print the
# words.
function(run)
    execute_process(COMMAND ${ARGV} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(NOT code EQUAL 0)
        message(FATAL_ERROR "failed: ${ARGV}\n${text}")
    endif()
    set(said "${text}" PARENT_SCOPE)
endfunction()
function(expect_text words text)
    string(REGEX REPLACE "[ \n]+" " " text "${text}")
    string(FIND "${text}" "${words}" at)
    if(at EQUAL -1)
        message(FATAL_ERROR "the output does not contain: ${words}\n${text}")
    endif()
endfunction()
function(fails words)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
    if(code EQUAL 0)
        message(FATAL_ERROR "should have failed: ${ARGN}\n${text}")
    endif()
    expect_text("${words}" "${text}")
    set(said "${text}" PARENT_SCOPE)
endfunction()

# configure(<project> <folder> <option>...) only sets the command; build_and_test() runs all steps.
macro(configure project folder)
    set(command "${CMAKE_COMMAND}" -S "${projects}/${project}" -B "${WORK}/${folder}"
        -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"
        -DCMAKE_CXX_SCAN_FOR_MODULES=OFF "-DWAYBILL_SOURCE=${SOURCE}" "-DCMAKE_PREFIX_PATH=${WORK}/moved" ${ARGN})
endmacro()
macro(build_and_test project folder)
    configure(${project} ${folder} ${ARGN})
    run(${command})
    set(configured "${said}")
    run("${CMAKE_COMMAND}" --build "${WORK}/${folder}")
    run("${CMAKE_CTEST_COMMAND}" --test-dir "${WORK}/${folder}" --no-tests=error --output-on-failure)
endmacro()

# Installs to one place and moves the tree to another; no file may know where it was.
macro(install_and_move)
    run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/installed")
    file(RENAME "${WORK}/installed" "${WORK}/moved")
    file(GLOB_RECURSE files "${WORK}/moved/*")
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        # As a whole path: a checkout in /waybill is not in the text share/cmake/waybill.
        foreach(place IN ITEMS "${WORK}/installed" "${SOURCE}" "${BUILD}")
            string(FIND "${text}" "${place}/" at)
            if(NOT at EQUAL -1)
                message(FATAL_ERROR "${file} names a place of the machine that packed it: ${place}")
            endif()
        endforeach()
    endforeach()
endmacro()

set(no_packages "")
foreach(package IN ITEMS nlohmann_json fmt range-v3)
    list(APPEND no_packages "-DCMAKE_DISABLE_FIND_PACKAGE_${package}=ON")
endforeach()

if(WAY STREQUAL "find_package")
    install_and_move()
    # A single header of the install compiles alone, and is listed in the manifest.
    run("${COMPILER}" -std=c++20 -Wall -Wextra -Wpedantic -Werror -DCOPIED_HEADER
        "-I${WORK}/moved/share/waybill/single" "${projects}/core.cpp" -o "${WORK}/core")
    run("${WORK}/core")
    foreach(name IN ITEMS waybill.hpp waybill_session.hpp)
        if(NOT EXISTS "${WORK}/moved/share/waybill/single/${name}")
            message(FATAL_ERROR "${name} is not installed")
        endif()
    endforeach()
    build_and_test(find_package all -DREQUIRED_COMPONENTS=json,fmt,ranges)
    # A distribution may choose absolute folders.
    run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}/distribution" -G "${GENERATOR}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
        -DWAYBILL_TESTS=OFF -DWAYBILL_EXAMPLES=OFF "-DCMAKE_INSTALL_PREFIX=${WORK}/usr" "-DCMAKE_INSTALL_DATADIR=${WORK}/data")
    set(ENV{DESTDIR} "${WORK}/destdir")
    run("${CMAKE_COMMAND}" --install "${WORK}/distribution")
    unset(ENV{DESTDIR})
    foreach(name IN ITEMS waybill/single/waybill.hpp waybill/LICENSE cmake/waybill/waybill-config.cmake)
        if(NOT EXISTS "${WORK}/destdir/${WORK}/data/${name}")
            message(FATAL_ERROR "not in the data folder of the distribution: ${name}")
        endif()
    endforeach()
elseif(WAY STREQUAL "missing_package")
    install_and_move()
    # The core needs no package at all.
    build_and_test(find_package core ${no_packages})
    # A required extension whose package is missing stops, naming both.
    configure(find_package required -DREQUIRED_COMPONENTS=json ${no_packages})
    fails("component json of waybill needs the package nlohmann_json, which was not found" ${command})
    # An optional one is named, and costs only itself.
    build_and_test(find_package optional -DREQUIRED_COMPONENTS=ranges
        -DOPTIONAL_COMPONENT_NAMES=json,fmt -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
    expect_text("component json of waybill needs the package nlohmann_json, which was not found" "${configured}")
    expect_text("component json found: FALSE" "${configured}")
    expect_text("component fmt found: TRUE" "${configured}")
    expect_text("component ranges found: TRUE" "${configured}")
    # An unknown component is reported with the list of components. Another minor version is not
    # compatible.
    configure(find_package unknown -DREQUIRED_COMPONENTS=xml)
    fails("waybill has no component xml" ${command})
    if(NOT said MATCHES "waybill has no component xml: there are core json fmt ranges\n")
        message(FATAL_ERROR "the components are not on the line of the error:\n${said}")
    endif()
    configure(find_package newer -DVERSION=0.3)
    fails("version: 0.2" ${command})
elseif(WAY STREQUAL "add_subdirectory")
    build_and_test(add_subdirectory core)
    run("${CMAKE_COMMAND}" --install "${WORK}/core" --prefix "${WORK}/prefix")
    file(GLOB_RECURSE files RELATIVE "${WORK}/prefix" "${WORK}/prefix/*")
    if(NOT files STREQUAL "bin/core")
        message(FATAL_ERROR "installed along with the user's program: ${files}")
    endif()
    build_and_test(add_subdirectory json -DWITH_JSON_COMPONENT=ON)
    configure(add_subdirectory without -DJSON_WITHOUT_ITS_PACKAGE=ON)
    fails("nlohmann_json::nlohmann_json" ${command})
elseif(WAY STREQUAL "fetch_content")
    build_and_test(fetch_content all)
elseif(WAY STREQUAL "copied_header")
    # No CMake project at all: one file beside main, made twice to see that it comes out the same.
    foreach(name IN ITEMS waybill_batch.hpp again.hpp)
        run("${CMAKE_COMMAND}" -DMODULE=batch.hpp "-DOUT=${WORK}/${name}"
            -P "${SOURCE}/cmake/single_header.cmake")
    endforeach()
    run("${CMAKE_COMMAND}" -E compare_files "${WORK}/waybill_batch.hpp" "${WORK}/again.hpp")
    file(READ "${WORK}/waybill_batch.hpp" text)
    expect_text("THE SOFTWARE IS PROVIDED \"AS IS\"" "${text}")
    file(COPY "${projects}/core.cpp" DESTINATION "${WORK}")
    run("${COMPILER}" -std=c++20 -Wall -Wextra -Wpedantic -Werror -DCOPIED_HEADER
        "${WORK}/core.cpp" -o "${WORK}/core")
    run("${WORK}/core")
else()
    message(FATAL_ERROR "no way called ${WAY}")
endif()
