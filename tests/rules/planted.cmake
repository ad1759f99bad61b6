# SPDX-License-Identifier: MIT
#
# Shows that cmake/rules.cmake can fail: a small clean library passes, and in a copy of it every
# planted violation is named, with its file.
#
#     cmake -DWORK=<folder> -P tests/rules/planted.cmake

cmake_minimum_required(VERSION 3.21)
get_filename_component(rules "${CMAKE_CURRENT_LIST_DIR}/../../cmake/rules.cmake" ABSOLUTE)
file(READ "${CMAKE_CURRENT_LIST_DIR}/../../include/waybill/version.hpp" version_hpp)
if(NOT version_hpp MATCHES "#define WAYBILL_VERSION ([0-9]+)")
    message(FATAL_ERROR "version.hpp defines no version")
endif()
math(EXPR major "${CMAKE_MATCH_1} / 10000")
math(EXPR minor "${CMAKE_MATCH_1} / 100 % 100")
set(ns "v${major}_${minor}")

# header(<path> [INCLUDES <file>...] [BODY <text>] [GUARD <name>] [NAMESPACE <name>] [RAW <text>])
function(header path)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "BODY;GUARD;NAMESPACE;RAW" "INCLUDES")
    string(TOUPPER "WAYBILL_${path}" guard)
    string(REGEX REPLACE "[/.]" "_" guard "${guard}")
    if(arg_GUARD)
        set(guard "${arg_GUARD}")
    endif()
    if(NOT arg_NAMESPACE)
        set(arg_NAMESPACE "waybill::inline ${ns}")
    endif()
    set(includes "")
    foreach(name IN LISTS arg_INCLUDES)
        string(APPEND includes "#include <${name}>\n")
    endforeach()
    set(declares "")
    if(path MATCHES "/")
        set(declares "namespace ${arg_NAMESPACE} {\n${arg_BODY}\n}\n")
    endif()
    file(WRITE "${tree}/${path}" "// SPDX-License-Identifier: MIT
//
// A throw, a try and a min( in a comment are fine, \"catch\" in a string is, too.

#ifndef ${guard}
#define ${guard}

${includes}${arg_RAW}
${declares}
#endif
")
endfunction()

function(clean_library)
    file(REMOVE_RECURSE "${tree}" "${WORK}/tests" "${WORK}/examples")
    file(WRITE "${WORK}/tests/unit/core/time.test.cpp" "")
    file(WRITE "${WORK}/tests/property/core/time.prop.cpp" "")
    file(WRITE "${WORK}/tests/golden/clock/origin.txt" "")
    string(REPEAT "    f();\n\n    // A comment.\n" 38 f)
    file(WRITE "${WORK}/examples/articles/a.cpp"
        "#include \"../engines/a.hpp\"\n#include \"../support/environment.hpp\"\n\nint main() {\n${f}}\n")
    file(WRITE "${tree}/version.hpp" "${version_hpp}")
    header(core/time.hpp INCLUDES cstdint BODY "inline const char* text() { return \"try ('min(')\"; }")
    header(core/detail/clamp.hpp NAMESPACE "waybill::inline ${ns}::detail")
    header(batch/detail/parts.hpp INCLUDES waybill/core/detail/clamp.hpp
        NAMESPACE "waybill::inline ${ns}::detail")
    header(retry/decide.hpp INCLUDES waybill/core/time.hpp BODY "struct try_add {};"
        RAW "// Proved by tests/golden/clock, tests/unit/core/time.test.cpp, time.test.cpp and, of (old)
// times, [time.prop.cpp]. No test of ours is https://a.org/tests/b.prop.cpp; nor is x/tests/y.\n")
    header(batch/limits.hpp INCLUDES cstdint waybill/batch/detail/parts.hpp waybill/core/time.hpp
        waybill/retry/decide.hpp
        RAW "// A value without locks: one thread at a time.\n" BODY "struct machine {\n    void on(int);\n};")
    header(testing/stores.hpp INCLUDES memory waybill/batch/limits.hpp NAMESPACE "waybill::inline ${ns}::testing")
    header(ext/json.hpp INCLUDES nlohmann/json.hpp waybill/batch/detail/parts.hpp waybill/batch/limits.hpp)
    header(ext/exceptions.hpp INCLUDES exception BODY "inline void f() { try { throw 1; } catch (...) {} }")
    header(retry.hpp INCLUDES waybill/retry/decide.hpp waybill/version.hpp)
    header(batch.hpp INCLUDES waybill/batch/limits.hpp waybill/version.hpp)
    header(waybill.hpp INCLUDES waybill/core/time.hpp waybill/batch.hpp waybill/retry.hpp waybill/version.hpp)
endfunction()

function(run_rules code_out text_out)
    execute_process(COMMAND "${CMAKE_COMMAND}" "-DINCLUDE=${tree}" -P "${rules}"
        RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
    set(${code_out} "${code}" PARENT_SCOPE)
    set(${text_out} "${text}" PARENT_SCOPE)
endfunction()

set(tree "${WORK}/include/waybill")
clean_library()
run_rules(code text)
if(NOT code EQUAL 0)
    message(FATAL_ERROR "a clean library does not pass:\n${text}")
endif()

# planted(<words of the message>): the current tree must be reported with these words, by a failing
# run.
set_property(GLOBAL PROPERTY planted 0)
function(planted words)
    run_rules(code text)
    string(FIND "${text}" "broken: ${words}" at)
    if(code EQUAL 0 OR at EQUAL -1)
        message(FATAL_ERROR "not found: ${words}\nexit ${code}, said:\n${text}")
    endif()
    get_property(count GLOBAL PROPERTY planted)
    math(EXPR count "${count} + 1")
    set_property(GLOBAL PROPERTY planted ${count})
    clean_library()
endfunction()

# Arrows.
header(core/time.hpp INCLUDES waybill/retry/decide.hpp)
planted("core/time.hpp: may not include retry/decide.hpp")
header(retry/decide.hpp INCLUDES waybill/batch/limits.hpp)
planted("retry/decide.hpp: may not include batch/limits.hpp")
header(batch/limits.hpp INCLUDES waybill/ext/json.hpp)
planted("batch/limits.hpp: may not include ext/json.hpp")
header(batch/limits.hpp INCLUDES waybill/testing/stores.hpp)
planted("batch/limits.hpp: may not include testing/stores.hpp")
header(batch/limits.hpp INCLUDES waybill/retry.hpp)
planted("batch/limits.hpp: may not include retry.hpp")
header(ext/json.hpp INCLUDES waybill/testing/stores.hpp)
planted("ext/json.hpp: may not include testing/stores.hpp")
header(ext/json.hpp INCLUDES waybill/ext/exceptions.hpp)
planted("ext/json.hpp: may not include ext/exceptions.hpp")
header(ext/fmt.hpp INCLUDES fmt/format.h waybill/ext/fmt/batch.hpp)
header(ext/fmt/batch.hpp INCLUDES fmt/format.h waybill/batch/limits.hpp waybill/ext/fmt/line.hpp)
header(ext/fmt/line.hpp)
planted("ext/fmt.hpp: does not list ext/fmt/line.hpp")
header(ext/json.hpp INCLUDES waybill/ext/json/retry.hpp)
header(ext/json/retry.hpp INCLUDES nlohmann/json.hpp waybill/batch/limits.hpp waybill/retry/decide.hpp)
planted("ext/json/retry.hpp: may not include batch/limits.hpp")
header(batch.hpp INCLUDES waybill/batch/limits.hpp waybill/retry/decide.hpp)
planted("batch.hpp: may not include retry/decide.hpp")
header(waybill.hpp INCLUDES waybill/core/time.hpp waybill/batch.hpp waybill/retry.hpp
    waybill/testing/stores.hpp)
planted("waybill.hpp: may not include testing/stores.hpp")
header(batch/limits.hpp INCLUDES waybill/batch/absent.hpp)
planted("batch/limits.hpp: includes what does not exist: batch/absent.hpp")

# Characters.
header(retry/decide.hpp INCLUDES waybill/core/time.hpp RAW "// a dash – in a comment\n")
planted("retry/decide.hpp: not ASCII:")

# Module headers and modules.
header(batch/chunk_by.hpp)
planted("batch.hpp: does not list batch/chunk_by.hpp")
header(core/fault.hpp)
planted("waybill.hpp: does not list core/fault.hpp")
header(wire/amqp.hpp)
planted("wire/amqp.hpp: wire.hpp should list it and does not exist")
header(attic/box.hpp)
planted("attic/box.hpp: there is no module called attic")
header(testing.hpp INCLUDES waybill/testing/stores.hpp)
planted("testing.hpp: testing/ has no module header")

# Internal headers.
set(inner "waybill::inline ${ns}::detail")
header(batch/detail/sums.hpp NAMESPACE "${inner}")
header(batch.hpp INCLUDES waybill/batch/limits.hpp waybill/batch/detail/sums.hpp)
planted("batch.hpp: may not include batch/detail/sums.hpp")
header(core/detail/digits.hpp NAMESPACE "${inner}")
header(waybill.hpp INCLUDES waybill/core/time.hpp waybill/core/detail/digits.hpp waybill/batch.hpp
    waybill/retry.hpp)
planted("waybill.hpp: may not include core/detail/digits.hpp")
header(retry/detail/ring.hpp NAMESPACE "${inner}")
header(batch/limits.hpp INCLUDES waybill/retry/detail/ring.hpp)
planted("batch/limits.hpp: may not include retry/detail/ring.hpp")
header(retry/detail/ring.hpp NAMESPACE "${inner}")
header(testing/stores.hpp INCLUDES waybill/retry/detail/ring.hpp)
planted("testing/stores.hpp: may not include retry/detail/ring.hpp")
header(batch/detail/sums.hpp)
planted("batch/detail/sums.hpp: is in detail/, but not in namespace waybill::detail")

# The standard library and foreign packages.
foreach(name IN ITEMS chrono algorithm thread mutex atomic random iostream fstream filesystem)
    header(batch/limits.hpp INCLUDES ${name})
    planted("batch/limits.hpp: may not include <${name}>")
endforeach()
foreach(name IN ITEMS thread mutex atomic random iostream fstream filesystem)
    header(testing/stores.hpp INCLUDES ${name})
    planted("testing/stores.hpp: may not include <${name}>")
endforeach()
header(batch/limits.hpp INCLUDES nlohmann/json.hpp)
planted("batch/limits.hpp: an include that no rule permits")
header(ext/json.hpp INCLUDES fmt/format.h)
planted("ext/json.hpp: an include that no rule permits")
header(batch/limits.hpp RAW "#include \"limits.hpp\"\n")
planted("batch/limits.hpp: an include that no rule permits")

# Words.
foreach(place IN ITEMS batch/limits.hpp testing/stores.hpp)
    foreach(word IN ITEMS throw try catch dynamic_cast typeid std::time std::mutex)
        header(${place} BODY "auto f() { ${word} {1} }")
        planted("${place}: has no place for: ${word}")
    endforeach()
    foreach(word IN ITEMS abort assert getenv rand min max)
        header(${place} BODY "auto f() { return a::${word}(1); }")
        planted("${place}: has no place for: ${word}(")
    endforeach()
    foreach(word IN ITEMS now sleep_until)
        header(${place} BODY "auto f() { return a::${word}(1); }")
        planted("${place}: has no place for: ::${word}(")
    endforeach()
endforeach()
header(ext/json.hpp BODY "auto f() { return (std::max)(1, max(1, 2)); }")
planted("ext/json.hpp: has no place for: max(")
header(batch/limits.hpp BODY "friend constexpr bool operator==(const a&, const a&) = default")
planted("batch/limits.hpp: constexpr on a defaulted comparison")

# Threads.
foreach(member IN ITEMS "heard on(queued q, time now) { return q.on(now); }"
        "[[nodiscard]] constexpr heard on(const queued& q)" "template <class E> void on(E e)")
    set(machine "struct machine {\n    ${member};\n};")
    header(batch/limits.hpp BODY "${machine}")
    planted("batch/limits.hpp: a state machine, and its comment does not say: A value without locks")
endforeach()

# Macros, guards, namespaces.
header(batch/limits.hpp RAW "#define WAYBILL_LIKELY [[likely]]\n")
planted("batch/limits.hpp: a macro that is not its guard: #define WAYBILL_LIKELY")
header(batch/limits.hpp RAW "#undef max\n")
planted("batch/limits.hpp: a macro that is not its guard: #undef max")
header(batch/limits.hpp RAW "#ifdef WAYBILL_FAST\n#endif\n")
planted("batch/limits.hpp: configured by a macro")
foreach(each IN ITEMS "inline void f [[gnu::cold]] ()" "#pragma GCC unroll 2"
        "#ifdef __GNUC__\n#pragma GCC unroll 2\n#endif\n[[nodiscard, gnu::pure]] int f()"
        "#ifdef __GNUC__\n#else\n#pragma once\n#endif\n")
    header(batch/limits.hpp BODY "${each}")
    planted("batch/limits.hpp: other compilers warn about it, use #ifdef __GNUC__")
endforeach()
header(batch/limits.hpp GUARD WAYBILL_LIMITS_HPP)
planted("batch/limits.hpp: its guard has to be WAYBILL_BATCH_LIMITS_HPP")
header(batch/limits.hpp NAMESPACE waybill)
planted("batch/limits.hpp: not in the inline namespace ${ns}")
header(batch/limits.hpp NAMESPACE "waybill::inline v9_9")
planted("batch/limits.hpp: not in the inline namespace ${ns}")
header(batch/limits.hpp NAMESPACE other)
planted("batch/limits.hpp: declares nothing in waybill::inline ${ns}")

# Lengths.
string(REPEAT "int a_line;\n\n// Neither a blank line nor a comment counts.\n" 380 long)
set(ideas "")
foreach(number RANGE 1 23)
    header(batch/part${number}.hpp RAW "${long}")
    list(APPEND ideas waybill/batch/part${number}.hpp)
endforeach()
header(batch.hpp INCLUDES waybill/batch/limits.hpp ${ideas})
planted("batch.hpp: 8919 lines of code, and 8500 are the most")
file(WRITE "${tree}/batch/limits.hpp" "#ifndef WAYBILL_BATCH_LIMITS_HPP\n")
planted("batch/limits.hpp: the first line has to name the license")

# Tests that a header names.
foreach(name IN ITEMS times.test.cpp times.prop.cpp time.cpp.test.cpp tests/golden/clocks
        tests/property/core/time.test.cpp tests/unit/core/time.prop.cpp)
    header(batch/limits.hpp RAW "// Proved by ${name}.\n")
    planted("batch/limits.hpp: names a test that does not exist: ${name}")
    header(batch/limits.hpp RAW "// Proved [by a writer (in ${name}); and so on].\n")
    planted("batch/limits.hpp: names a test that does not exist: ${name}")
endforeach()
file(REMOVE "${WORK}/tests/unit/core/time.test.cpp")
planted("retry/decide.hpp: names a test that does not exist: time.test.cpp")

# Articles.
string(REPEAT "    f();\n\n    // A comment.\n" 39 long)
file(WRITE "${WORK}/examples/articles/a.cpp" "#include <f>\nint main() {\n${long}}\n")
planted("articles/a.cpp: 41 lines of code, and 40 are the most")
file(WRITE "${WORK}/examples/articles/a.cpp" "#include \"../support/lines.hpp\"\n")
planted("articles/a.cpp: has to do with engines/ and support/environment.hpp: #include \"../support/lines.hpp\"")

file(REMOVE_RECURSE "${WORK}")
get_property(count GLOBAL PROPERTY planted)
message(STATUS "a clean library passes, and each of ${count} planted violations is named")
