# SPDX-License-Identifier: MIT
#
# cmake -DCOMPILER=<clang++> -DFLAGS=<options> -DINCLUDE=<include folder> -DWORK=<folder> -P check.cmake
#
# Compiles the module interface, a program that imports it, and one that uses an internal name, which
# must not be visible. The compiler is called directly: CMake supports modules from 3.28 on.

cmake_minimum_required(VERSION 3.21)
file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
set(compile "${COMPILER}" ${FLAGS} -std=c++20 -Wall -Wextra -Werror)

execute_process(COMMAND ${compile} "-I${INCLUDE}" --precompile "${INCLUDE}/waybill/waybill.cppm"
    -o "${WORK}/waybill.pcm" COMMAND_ERROR_IS_FATAL ANY)
set(compile ${compile} "-fmodule-file=waybill=${WORK}/waybill.pcm")
execute_process(COMMAND ${compile} "${CMAKE_CURRENT_LIST_DIR}/use.cpp" -o "${WORK}/use" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${WORK}/use" COMMAND_ERROR_IS_FATAL ANY)

file(WRITE "${WORK}/internal.cpp" "import waybill;\nauto n = waybill::detail::lesser(1ULL, 2ULL);\n")
execute_process(COMMAND ${compile} -fsyntax-only "${WORK}/internal.cpp" RESULT_VARIABLE code ERROR_VARIABLE text)
if(code EQUAL 0)
    message(FATAL_ERROR "the module exports internal names")
endif()
string(FIND "${text}" "detail" at)
if(at EQUAL -1)
    message(FATAL_ERROR "refused for another reason:\n${text}")
endif()
