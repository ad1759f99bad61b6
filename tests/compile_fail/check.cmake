# SPDX-License-Identifier: MIT
#
# Passes if SOURCE does not compile, and the first error of the compiler contains the words that the
# first line of SOURCE expects:
#
#     // expect: words of the message | or other words, where compilers differ
#
# The first error is the first line with "error:". A user reads that line and seldom the next ones.
# The second line may contain further options of the compiler:  // options: -nostdinc

cmake_minimum_required(VERSION 3.21)
file(STRINGS "${SOURCE}" head LIMIT_COUNT 2)
list(GET head 0 first)
if(NOT first MATCHES "^// expect: (.+)$")
    message(FATAL_ERROR "the first line has to be  // expect: words")
endif()
string(REPLACE " | " ";" expected "${CMAKE_MATCH_1}")
if(head MATCHES ";// options: (.+)$")
    string(APPEND FLAGS " ${CMAKE_MATCH_1}")
endif()
separate_arguments(FLAGS UNIX_COMMAND "${FLAGS}")
set(no_quotes -fno-diagnostics-show-caret)
if(COMPILER MATCHES "clang")
    set(no_quotes -fno-caret-diagnostics)
endif()
execute_process(
    COMMAND "${COMPILER}" ${FLAGS} -std=c++20 -fsyntax-only ${no_quotes} "-I${INCLUDE}" "${SOURCE}"
    RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(code EQUAL 0)
    message(FATAL_ERROR "compiles, and should not")
endif()
string(REGEX MATCH "[^\n]*error:[^\n]*" first "${text}")
foreach(words IN LISTS expected)
    string(FIND "${first}" "${words}" at)
    if(NOT at EQUAL -1)
        return()
    endif()
endforeach()
message(FATAL_ERROR
    "fails, but the first error is without the words: ${expected}\n${first}\n\nAll errors:\n${text}")
