# SPDX-License-Identifier: MIT
#
# The rules of the library that no compiler checks; a test runs them:
#
#     cmake -P cmake/rules.cmake
#     cmake -DINCLUDE=<another tree>/include/waybill -P cmake/rules.cmake
#
#   1. A module includes the core, itself and the modules named below. testing/ and ext/ include any
#      module, and no module includes them. A module header lists all public headers of its module,
#      except <module>/describe.hpp, whose cost not every user pays: it has no text of what a driver
#      of the module returns. waybill.hpp lists these, those of the core and every module header.
#      ext/<package>.hpp lists the headers of ext/<package>/; ext/<package>/<module>.hpp includes what
#      its module may include.
#      <module>/detail/ holds what is not public, in namespace waybill::detail. It is included by its
#      own module and by ext/, core/detail/ by all modules; no module header lists it.
#   2. Few and cheap standard headers in the core, no foreign ones. No clock, no randomness, no
#      environment variable, no thread, no I/O anywhere. Nothing throws, catches, aborts or asserts
#      outside of ext/.
#   3. Macros are guards, the version and the inlining attributes. Nothing is configured by macros, and
#      no min or max macro can break a header. Attributes and pragmas of a compiler are used only if
#      this compiler reads them: after #ifdef __GNUC__ or #ifdef __clang__.
#   4. Everything is in the inline namespace of this major and minor version.
#   5. A module header has at most 8,500 lines of code with all that it includes. Blank lines and
#      comments do not count.
#   6. A test that a header names exists: tests/... as a path, *.test.cpp and *.prop.cpp anywhere in
#      tests/, which is beside include/.
#   7. A state machine (a type with a member `on` for an event) states its thread rule.
#   8. Headers are ASCII, comments included.
#   9. A program in examples/articles has at most 40 lines of code without includes, and includes of
#      examples/ only engines/ and support/environment.hpp.
#
# One run names all violations.

cmake_minimum_required(VERSION 3.21)
include("${CMAKE_CURRENT_LIST_DIR}/version.cmake")
if(NOT INCLUDE)
    set(INCLUDE "${CMAKE_CURRENT_LIST_DIR}/../include/waybill")
endif()
get_filename_component(INCLUDE "${INCLUDE}" ABSOLUTE)

# The modules that a module may include, besides itself and the core.
set(modules core wire retry batch queue consume tracking lease session window scaling)
set(may_include_core "")
set(may_include_wire batch)
set(may_include_retry "")
set(may_include_batch retry)
set(may_include_queue retry batch)
set(may_include_window "")
set(may_include_scaling window)
set(may_include_consume retry)
set(may_include_tracking consume)
set(may_include_lease retry consume)
set(may_include_session retry consume)
set(may_include_testing ${modules})
set(may_include_ext ${modules})

# Standard headers for the core, and further ones for testing/ and ext/.
set(std_core array bit charconv cmath compare concepts cstddef cstdint cstring deque
    initializer_list iterator limits map new numeric optional set span string string_view tuple
    type_traits unordered_map unordered_set utility variant vector)
set(std_wider algorithm chrono exception format functional memory ostream stdexcept system_error typeinfo
    version)

# The one package of each extension.
set(foreign_json "nlohmann/")
set(foreign_fmt "fmt/")
set(foreign_ranges "range/v3/")

# <module>/describe.hpp, and parts of it that other modules include, too.
set(text_of_a_module "^[a-z]+/describe(_[a-z]+)?[.]hpp$")

set(lines_of_a_module 8500)
set(lines_of_an_article 40)

set_property(GLOBAL PROPERTY broken 0)
function(broken header what)
    message(NOTICE "broken: ${header}: ${what}")
    set_property(GLOBAL PROPERTY broken 1)
endfunction()

waybill_read_version("${INCLUDE}/version.hpp" version)
string(REGEX REPLACE "^([0-9]+)[.]([0-9]+)[.].*" "v\\1_\\2" namespace "${version}")
file(GLOB_RECURSE headers RELATIVE "${INCLUDE}" "${INCLUDE}/*.hpp")
list(SORT headers)
get_filename_component(tree "${INCLUDE}/../.." ABSOLUTE)
file(GLOB_RECURSE tests "${tree}/tests/*.test.cpp" "${tree}/tests/*.prop.cpp")
list(TRANSFORM tests REPLACE "^.*/" "")

foreach(header IN LISTS headers)
    file(READ "${INCLUDE}/${header}" text)
    string(REGEX REPLACE "[][;\\]" "." flat "${text}")  # a list would split or join at these
    string(REGEX MATCHALL "\n[ \t]*[^ \t\n/][^\n]*" count "${flat}")
    list(LENGTH count code_${header})
    if(NOT text MATCHES "^// SPDX-License-Identifier: MIT\n")
        broken("${header}" "the first line has to name the license")
    endif()

    # 6. Tests that it names. What stands behind a slash belongs to another path or an address.
    string(REGEX REPLACE "[][;\\]" " " spaced "${text}")
    string(REGEX MATCHALL "[^a-zA-Z0-9_/.-]tests/[a-zA-Z0-9_/.-]*[a-zA-Z0-9_]" named "${spaced}")
    foreach(path IN LISTS named)
        string(SUBSTRING "${path}" 1 -1 path)
        if(NOT EXISTS "${tree}/${path}")
            broken("${header}" "names a test that does not exist: ${path}")
        endif()
    endforeach()
    string(REGEX MATCHALL "[^a-zA-Z0-9_/.-][a-zA-Z0-9_.-]+[.](test|prop)[.]cpp" named "${spaced}")
    foreach(name IN LISTS named)
        string(SUBSTRING "${name}" 1 -1 name)
        if(NOT name IN_LIST tests)
            broken("${header}" "names a test that does not exist: ${name}")
        endif()
    endforeach()

    # Which module is this, and is it a header of the module, the module header or waybill.hpp?
    get_filename_component(module "${header}" DIRECTORY)
    get_filename_component(stem "${header}" NAME_WE)
    set(part "header")
    if(header STREQUAL "version.hpp")
        set(part "version")
        set(module "version")
    elseif(header STREQUAL "waybill.hpp")
        set(part "all")
        set(module "waybill")
    elseif(module STREQUAL "")
        set(part "module header")
        set(module "${stem}")
    elseif(module STREQUAL "ext" AND IS_DIRECTORY "${INCLUDE}/ext/${stem}")
        set(part "extension header")
    endif()
    set(internal FALSE)
    if(module MATCHES "/detail$")
        set(internal TRUE)
    endif()
    string(REGEX REPLACE "/.*" "" module "${module}")
    if(part MATCHES "header|module header" AND NOT DEFINED may_include_${module})
        broken("${header}" "there is no module called ${module}")
        set(may_include_${module} "")
    endif()
    # ext/json/batch.hpp includes what the module batch may include.
    set(may_include ${may_include_${module}})
    if(header MATCHES "^ext/[a-z]+/[a-z]+[.]hpp$" AND stem IN_LIST modules)
        set(may_include ${stem} ${may_include_${stem}})
    endif()
    if(part STREQUAL "module header" AND module MATCHES "^(core|testing|ext)$")
        broken("${header}" "${module}/ has no module header")
    endif()

    # The code alone, without comments, strings and characters.
    string(REGEX REPLACE "//[^\n]*" "" code "${text}")
    string(REGEX REPLACE "'([^'\\\n]|\\\\[^\n])'" "0" code "${code}")
    string(REGEX REPLACE "\"([^\"\\\n]|\\\\[^\n])*\"" "\"\"" code "${code}")

    # 1. and 2. Includes.
    set(ours_${header} "")
    file(STRINGS "${INCLUDE}/${header}" includes REGEX "^[ \t]*#[ \t]*include")
    foreach(include IN LISTS includes)
        if(include MATCHES "^#include <waybill/([a-z_/0-9]+[.]hpp)>")
            set(target "${CMAKE_MATCH_1}")
            list(APPEND ours_${header} "${target}")
            string(REGEX REPLACE "[/.].*" "" target_module "${target}")
            set(target_internal FALSE)
            if(target MATCHES "/detail/")
                set(target_internal TRUE)
            endif()
            set(is_module_header FALSE)
            if(NOT target MATCHES "/")
                set(is_module_header TRUE)
            endif()
            set(fine FALSE)
            if(NOT EXISTS "${INCLUDE}/${target}")
                broken("${header}" "includes what does not exist: ${target}")
                list(REMOVE_ITEM ours_${header} "${target}")
                set(fine TRUE)
            elseif(target STREQUAL "version.hpp")
                set(fine TRUE)
            elseif(part STREQUAL "all")
                if(is_module_header OR target_module STREQUAL "core" OR target MATCHES "${text_of_a_module}")
                    set(fine TRUE)
                endif()
            elseif(part STREQUAL "module header")
                if(target_module STREQUAL module AND NOT is_module_header)
                    set(fine TRUE)
                endif()
            elseif(module STREQUAL "ext" AND target_module STREQUAL "ext")
                # An extension may have several headers: ext/json.hpp includes ext/json/batch.hpp.
                string(REGEX REPLACE "^ext/(detail/)?([a-z0-9]+).*" "\\2" extension "${header}")
                string(REGEX REPLACE "^ext/(detail/)?([a-z0-9]+).*" "\\2" target_extension "${target}")
                if(extension STREQUAL target_extension)
                    set(fine TRUE)
                endif()
            elseif(target_module STREQUAL "core" OR target_module STREQUAL module
                   OR target_module IN_LIST may_include)
                if(NOT is_module_header OR module MATCHES "^(testing|ext)$")
                    set(fine TRUE)
                endif()
            endif()
            if(target_internal AND (part MATCHES "^(all|module header)$"
                    OR NOT (target_module STREQUAL module OR target_module STREQUAL "core" OR module STREQUAL "ext")))
                set(fine FALSE)
            endif()
            if(NOT fine)
                broken("${header}" "may not include ${target}: no rule permits that")
            endif()
        elseif(include MATCHES "^#include <([a-z_0-9]+)>")
            set(name "${CMAKE_MATCH_1}")
            set(allowed ${std_core})
            if(module MATCHES "^(testing|ext)$")
                list(APPEND allowed ${std_wider})
            endif()
            if(NOT name IN_LIST allowed)
                broken("${header}" "may not include <${name}>")
            endif()
        else()
            set(fine FALSE)
            string(REGEX REPLACE "^ext/(detail/)?([a-z0-9]+).*" "\\2" extension "${header}")
            if(module STREQUAL "ext" AND DEFINED foreign_${extension})
                if(include MATCHES "^#include <${foreign_${extension}}")
                    set(fine TRUE)
                endif()
            endif()
            if(NOT fine)
                broken("${header}" "an include that no rule permits: ${include}")
            endif()
        endif()
    endforeach()

    # 2. Words that have no place here, and 3. two that a user may have as macros.
    set(words "std::(time|clock|mutex|thread|atomic|cout|cerr|random_device)")
    set(calls "getenv|rand|srand|sleep_for|min|max")
    if(NOT module STREQUAL "ext")
        string(APPEND words "|throw|try|catch|dynamic_cast|typeid")
        string(APPEND calls "|abort|assert")
    endif()
    if(code MATCHES "[^a-zA-Z0-9_](${words})[^a-zA-Z0-9_]")
        broken("${header}" "has no place for: ${CMAKE_MATCH_1}")
    endif()
    if(code MATCHES "[^a-zA-Z0-9_]((${calls}) *[(])")
        broken("${header}" "has no place for: ${CMAKE_MATCH_1}")
    endif()
    # An environment has these functions, too: only those of a class or namespace are refused.
    if(code MATCHES "(::(now|sleep_until) *[(])")
        broken("${header}" "has no place for: ${CMAKE_MATCH_1}")
    endif()
    if(code MATCHES "constexpr[^;{}\n]*operator(==|<=>)[^;{}]*= *default")
        broken("${header}" "constexpr on a defaulted comparison, which clang refuses for some members")
    endif()

    # 8. ASCII.
    string(REGEX REPLACE "[ -~\n]+" "" odd "${text}")
    if(NOT odd STREQUAL "")
        broken("${header}" "not ASCII: ${odd}")
    endif()

    # 7. Threads.
    set(threads "A value without locks: one thread at a time.")
    string(FIND "${text}" "${threads}\n" at)
    if(code MATCHES "\n    [^ \n.(=][^\n.(=]*[a-z0-9_] on[(]" AND at EQUAL -1)
        broken("${header}" "a state machine, and its comment does not say: ${threads}")
    endif()

    # 3. Macros.
    string(TOUPPER "WAYBILL_${header}" guard)
    string(REGEX REPLACE "[/.]" "_" guard "${guard}")
    if(NOT code MATCHES "\n#ifndef ${guard}\n#define ${guard}\n")
        broken("${header}" "its guard has to be ${guard}")
    endif()
    file(STRINGS "${INCLUDE}/${header}" macros REGEX "^[ \t]*#[ \t]*(define|undef)")
    list(REMOVE_ITEM macros "#define ${guard}")
    if(part STREQUAL "version")
        list(FILTER macros EXCLUDE REGEX "^#define WAYBILL_VERSION [0-9]+")
    elseif(header STREQUAL "core/detail/inlining.hpp")
        list(FILTER macros EXCLUDE REGEX "^#define WAYBILL_(ALWAYS_INLINE|NOINLINE)( |$)")
    endif()
    if(macros)
        broken("${header}" "a macro that is not its guard: ${macros}")
    endif()
    file(STRINGS "${INCLUDE}/${header}" conditions REGEX "^[ \t]*#[ \t]*(el)?if.*WAYBILL")
    list(REMOVE_ITEM conditions "#ifndef ${guard}")
    if(conditions AND NOT part STREQUAL "version")
        broken("${header}" "configured by a macro: ${conditions}")
    endif()

    # 3. Attributes and pragmas.
    string(REGEX MATCHALL "\n *(#if[^\n]*|#else|#endif|#pragma|[^\n]*(gnu|clang|msvc)::|[^\n]*__attribute__)"
           of_compilers "${code}")
    string(REPLACE "[" " " of_compilers "${of_compilers}")  # an open bracket would join list items
    set(gnu FALSE)
    foreach(each IN LISTS of_compilers)
        if(each MATCHES "\n *#(if|else|endif)")
            set(gnu FALSE)
            if(each MATCHES "#ifdef __(GNUC|clang)__")
                set(gnu TRUE)
            endif()
        elseif(NOT gnu)
            broken("${header}" "other compilers warn about it, use #ifdef __GNUC__ or __clang__:${each}")
        endif()
    endforeach()

    # 4. The namespace.
    file(STRINGS "${INCLUDE}/${header}" namespaces REGEX "^[ \t]*(inline )?namespace waybill")
    set(opened FALSE)
    foreach(line IN LISTS namespaces)
        if(NOT line MATCHES "^namespace waybill::inline ${namespace}(::[a-z_]+)* {$")
            broken("${header}" "not in the inline namespace ${namespace}: ${line}")
        endif()
        if(internal AND NOT line MATCHES "::detail {$")
            broken("${header}" "is in detail/, but not in namespace waybill::detail: ${line}")
        endif()
        set(opened TRUE)
    endforeach()
    # A header that only includes, a header that only specialises the formatter of fmt, and the header
    # that includes the package of an extension or names it if it is missing, need none.
    if(part STREQUAL "header" AND NOT opened AND NOT header STREQUAL "core/detail/inlining.hpp"
       AND NOT header MATCHES "^ext/([a-z]+|fmt/[a-z]+|[a-z]+/detail/package|detail/[a-z]+_package)[.]hpp$")
        broken("${header}" "declares nothing in waybill::inline ${namespace}")
    endif()
endforeach()

# 1. Module headers list their modules, waybill.hpp lists the core and the module headers.
foreach(header IN LISTS headers)
    string(REGEX REPLACE "[/.].*" "" module "${header}")
    if(header MATCHES "^(version|waybill)[.]hpp$|/detail/" OR module MATCHES "^(testing|ext)$")
        continue()
    endif()
    set(list_of "${module}.hpp")
    if(module STREQUAL "core" OR NOT header MATCHES "/" OR header MATCHES "${text_of_a_module}")
        set(list_of "waybill.hpp")
    endif()
    if(NOT EXISTS "${INCLUDE}/${list_of}")
        broken("${header}" "${list_of} should list it and does not exist")
    elseif(NOT header IN_LIST ours_${list_of})
        broken("${list_of}" "does not list ${header}")
    endif()
endforeach()

# 1. The header of an extension lists those of its folder.
foreach(header IN LISTS headers)
    if(header MATCHES "^(ext/[a-z]+)/[a-z0-9_]+[.]hpp$")
        set(list_of "${CMAKE_MATCH_1}.hpp")
        if(NOT list_of STREQUAL "ext/detail.hpp" AND NOT header IN_LIST ours_${list_of})
            broken("${list_of}" "does not list ${header}")
        endif()
    endif()
endforeach()

# 5. The lines of code behind a module header.
foreach(module_header IN LISTS headers)
    if(module_header MATCHES "/" OR module_header STREQUAL "version.hpp")
        continue()
    endif()
    set(reached "${module_header}")
    set(open "${module_header}")
    set(lines 0)
    while(open)
        list(POP_FRONT open next)
        math(EXPR lines "${lines} + ${code_${next}}")
        foreach(inner IN LISTS ours_${next})
            if(NOT inner IN_LIST reached)
                list(APPEND reached "${inner}")
                list(APPEND open "${inner}")
            endif()
        endforeach()
    endwhile()
    list(LENGTH reached files)
    message(STATUS "${module_header}: ${lines} lines of code in ${files} files")
    if(lines GREATER lines_of_a_module AND NOT module_header STREQUAL "waybill.hpp")
        broken("${module_header}" "${lines} lines of code, and ${lines_of_a_module} are the most for a module")
    endif()
endforeach()

# 9. The articles.
file(GLOB articles "${tree}/examples/articles/*.cpp")
foreach(article IN LISTS articles)
    get_filename_component(name "${article}" NAME)
    file(READ "${article}" text)
    string(REGEX REPLACE "[][;\\]" "." flat "${text}")
    string(REGEX MATCHALL "\n[ \t]*[^ \t\n/#][^\n]*" count "${flat}")
    list(LENGTH count lines)
    if(lines GREATER lines_of_an_article)
        broken("articles/${name}" "${lines} lines of code, and ${lines_of_an_article} are the most for an article")
    endif()
    string(REGEX MATCHALL "#include \"[^\"]*\"" own "${flat}")
    foreach(include IN LISTS own)
        if(NOT include MATCHES "\"[.][.]/(engines/|support/environment.hpp)")
            broken("articles/${name}" "has to do with engines/ and support/environment.hpp: ${include}")
        endif()
    endforeach()
endforeach()

get_property(any GLOBAL PROPERTY broken)
if(any)
    message(FATAL_ERROR "rules are broken; each is named above")
endif()
list(LENGTH headers count)
message(STATUS "the rules hold in ${count} headers")
