# SPDX-License-Identifier: MIT
#
# The target waybill_reference: Doxygen turns the comments of the public headers into pages, in
# reference/html of the build folder. It is not part of `all`, and fails at the first warning.
#
#     cmake --build build --target waybill_reference

find_package(Doxygen QUIET)
if(NOT DOXYGEN_FOUND)
    add_custom_target(waybill_reference
        COMMAND "${CMAKE_COMMAND}" -E echo "the reference needs Doxygen: install it, and configure again"
        COMMAND "${CMAKE_COMMAND}" -E false)
    return()
endif()

set(DOXYGEN_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/reference")
set(DOXYGEN_PROJECT_BRIEF "the decisions of a messaging client")
set(DOXYGEN_FILE_PATTERNS *.hpp)
set(DOXYGEN_STRIP_FROM_PATH "${PROJECT_SOURCE_DIR}/include")
set(DOXYGEN_STRIP_FROM_INC_PATH "${PROJECT_SOURCE_DIR}/include")
set(DOXYGEN_EXTRACT_ALL YES)
set(DOXYGEN_JAVADOC_AUTOBRIEF YES)
set(DOXYGEN_GENERATE_LATEX NO)
set(DOXYGEN_HAVE_DOT NO)
# Doxygen understands neither inline namespaces nor specialisations outside of their namespace, and does
# not tell two overloads apart whose types have internal template arguments.
string(JOIN " " DOXYGEN_INPUT_FILTER sed
    "-e 's/::inline v[0-9_]*//'"
    "-e 's/^struct fmt::formatter</struct formatter</'"
    "-e 's/^struct nlohmann::adl_serializer</struct adl_serializer</'"
    "-e 's/detail::steady_clock_tag/steady_clock_tag/'")
set(DOXYGEN_EXCLUDE_SYMBOLS waybill::detail "waybill::detail::*" "waybill::*::detail")
set(DOXYGEN_WARN_AS_ERROR FAIL_ON_WARNINGS)
set(DOXYGEN_WARN_IF_UNDOCUMENTED NO)
set(DOXYGEN_QUIET YES)
doxygen_add_docs(waybill_reference "${PROJECT_SOURCE_DIR}/include/waybill"
    COMMENT "API reference in ${PROJECT_BINARY_DIR}/reference/html/index.html")
