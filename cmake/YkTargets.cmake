# SPDX-License-Identifier: Apache-2.0
# How a folder becomes a target. A library's sources are all *.cpp of its folders (not of folders below them); a program
# is the main.cpp of its folder. A target whose folders hold no source yet is header-only.

add_library(yk_warnings INTERFACE)
target_compile_options(yk_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                       -Wnon-virtual-dtor -Wold-style-cast -Wundef)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on "text" + std::string (GCC bug 105329), and on variants and optionals that are moved (80635).
  target_compile_options(yk_warnings INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-array-bounds
                         -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(yk_warnings INTERFACE -Wno-bitwise-instead-of-logical) # libcore/resources/lanes.h means it
endif()
if(YK_WERROR)
  target_compile_options(yk_warnings INTERFACE -Werror)
endif()

if(YK_UNITY) # what is hidden may be of another source; the preset dev and clang-tidy see each source by itself
  target_compile_options(yk_warnings INTERFACE -Wno-shadow)
endif()
if(YK_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU") # "the type is of a file that is included": it is not, really
  target_compile_options(yk_warnings INTERFACE -Wno-subobject-linkage)
endif()

add_library(yk_options INTERFACE)
if(YK_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_link_options(yk_options INTERFACE -Wno-stringop-overflow) # the same false alarms, when code is made at last
endif()
if(YK_SANITIZE)
  target_compile_options(yk_options INTERFACE -fsanitize=${YK_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(yk_options INTERFACE -fsanitize=${YK_SANITIZE})
endif()
if(YK_FUZZ)
  target_compile_options(yk_options INTERFACE -fsanitize=address,undefined)
  target_link_options(yk_options INTERFACE -fsanitize=address,undefined)
endif()
find_program(YK_MOLD mold)
if(YK_MOLD AND NOT YK_LTO) # it finds symbols twice where only some of the files are optimised when linked
  target_link_options(yk_options INTERFACE -fuse-ld=mold)
endif()

# msgpack-cxx is used without Boost: no Boost type crosses the wire. So Debian's package configuration, which requires
# Boost, is left out, and the macro goes with the target so that every user agrees (ODR).
add_library(yk_msgpack INTERFACE)
target_compile_definitions(yk_msgpack INTERFACE MSGPACK_NO_BOOST MSGPACK_DEFAULT_API_VERSION=3)

# yk_find_c_library(NAME HEADER LIBRARY): the target NAME::NAME, if both are found.
function(yk_find_c_library name header library)
  find_path(YK_${name}_INCLUDE ${header})
  find_library(YK_${name}_LIBRARY ${library})
  if(YK_${name}_INCLUDE AND YK_${name}_LIBRARY)
    add_library(${name}::${name} UNKNOWN IMPORTED)
    set_target_properties(${name}::${name} PROPERTIES IMPORTED_LOCATION "${YK_${name}_LIBRARY}"
                          INTERFACE_INCLUDE_DIRECTORIES "${YK_${name}_INCLUDE}")
  else()
    message(STATUS "${name}: built without (no ${header})")
  endif()
endfunction()

function(yk_library name)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  set(sources "")
  foreach(folder IN LISTS arg_UNPARSED_ARGUMENTS)
    file(GLOB found CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  if(sources)
    add_library(${name} STATIC ${sources})
    if(NOT name MATCHES "_test_support$") # a program takes some files of these and not others
      yk_together(${name} ${sources})
    endif()
    target_include_directories(${name} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
    target_link_libraries(${name} PUBLIC yk_options ${arg_LINK} PRIVATE $<BUILD_INTERFACE:yk_warnings>)
  else()
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>")
    target_link_libraries(${name} INTERFACE yk_options ${arg_LINK})
  endif()
endfunction()

# yk_precompile(NAME HEADER...): with YK_PCH, what most sources of the target include is parsed once. The sources go on
# including what they use; the preset dev, which does without, shows whether they do.
function(yk_precompile name)
  if(YK_PCH AND TARGET ${name})
    list(TRANSFORM ARGN PREPEND "${PROJECT_SOURCE_DIR}/" REGEX "^[^<]")
    target_precompile_headers(${name} PRIVATE ${ARGN})
    if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp") # else ccache finds it new each time
    endif()
  endif()
endfunction()

# yk_busy(TARGET...): with YK_BUSY_FLAGS, what works long in the tests and fuzzers of a sanitizer build is optimised; the
# rest, which takes longer to optimise than to run, is not.
function(yk_busy)
  foreach(name IN LISTS ARGN)
    if(TARGET ${name} AND YK_BUSY_FLAGS)
      target_compile_options(${name} PRIVATE ${YK_BUSY_FLAGS})
    endif()
  endforeach()
endfunction()

# yk_guides(TARGET|SOURCE...): with YK_FUZZ, what these do with an input guides the fuzzers. That makes them a third longer
# to compile, so the rest goes without. A source that is named is compiled by itself.
function(yk_guides)
  foreach(name IN LISTS ARGN)
    if(YK_FUZZ AND TARGET ${name})
      target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
    elseif(YK_FUZZ)
      set_source_files_properties(${name} PROPERTIES COMPILE_OPTIONS -fsanitize=fuzzer-no-link SKIP_PRECOMPILE_HEADERS ON)
    endif()
  endforeach()
endfunction()

# yk_link_time(TARGET...): with YK_LTO, what decides and what turns messages into decisions is optimised across its files
# when a program is linked. For the rest each program would wait minutes for that.
function(yk_link_time)
  if(YK_LTO)
    set_target_properties(${ARGN} PROPERTIES INTERPROCEDURAL_OPTIMIZATION ON)
  endif()
endfunction()

function(yk_program name folder)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/main.cpp")
    add_executable(${name} ${folder}/main.cpp)
    target_compile_definitions(${name} PRIVATE YK_VERSION="${PROJECT_VERSION}")
    target_link_libraries(${name} PRIVATE ${arg_LINK} yk_warnings)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  endif()
endfunction()

# yk_test(NAME FOLDER... LINK targets... [SPLIT PATTERN]): all *.cpp below the folders, one Catch2 program. One that takes long runs
# as two tests that begin first: the cases whose names match, and the rest.
function(yk_test name)
  cmake_parse_arguments(arg "" "SPLIT" "LINK" ${ARGN})
  set(sources "")
  foreach(folder IN LISTS arg_UNPARSED_ARGUMENTS)
    file(GLOB_RECURSE found CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${folder}/*.cpp")
    list(APPEND sources ${found})
  endforeach()
  if(sources)
    add_executable(${name} ${sources})
    yk_together(${name} ${sources})
    target_link_libraries(${name} PRIVATE ${arg_LINK} Catch2::Catch2WithMain yk_warnings)
    target_compile_definitions(${name} PRIVATE YK_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                               YK_BINARY_DIR="${CMAKE_RUNTIME_OUTPUT_DIRECTORY}")
    add_test(NAME ${name} COMMAND ${name} ${arg_SPLIT})
    if(arg_SPLIT)
      add_test(NAME ${name}_rest COMMAND ${name} "~${arg_SPLIT}")
      set_tests_properties(${name} ${name}_rest PROPERTIES COST 1000)
    endif()
  endif()
endfunction()

# yk_fuzzer(NAME SOURCE LINK targets...): a libFuzzer program.
function(yk_fuzzer name source)
  cmake_parse_arguments(arg "" "" "LINK" ${ARGN})
  if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${source}")
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE ${arg_LINK} yk_warnings)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    yk_guides(${name})
  endif()
endfunction()
