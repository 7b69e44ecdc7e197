# SPDX-License-Identifier: Apache-2.0
# With YK_UNITY, the sources of a target are compiled as a few files, which parses what they include once for all of them.
# Two sources that declare the same name outside of classes and functions, say in namespaces without a name, come into
# different files. Nobody keeps a list: the names are read from the sources whenever CMake runs. A declaration that this
# overlooks is an error of the compiler ("redefinition"), never another program.

set(YK_UNITY_BYTES 65536) # of text in one of these files: more of it parses less, but keeps one processor busy at the end

# yk_names_of(SOURCE NAMES BYTES): what stands at the start of a line (namespaces do not indent): types, functions,
# constants; not the members of classes, which are defined as Class::member. Its own header counts as part of a source.
function(yk_names_of source names_out bytes_out)
  file(READ "${source}" text)
  string(LENGTH "${text}" bytes)
  cmake_path(REPLACE_EXTENSION source .h OUTPUT_VARIABLE header)
  if(EXISTS "${header}")
    file(READ "${header}" declared)
    string(APPEND text "${declared}")
  endif()
  string(REPLACE "\n[[nodiscard]] " "\n" text "${text}")
  string(REPLACE " =\n" " = \n" text "${text}") # the value stands on the next line
  string(REGEX REPLACE "[][;]" "{" text "${text}") # CMake's lists have a meaning for these
  string(REGEX MATCHALL "\n[A-Za-z_][^\n]*" lines "${text}")
  set(names "")
  foreach(line IN LISTS lines)
    if(line MATCHES "^\n(using namespace|namespace|template|TEST_CASE|TEMPLATE_TEST_CASE)")
      continue()
    elseif(line MATCHES "^\n(class|struct|union|enum class|enum) ([A-Za-z0-9_]+)")
      list(APPEND names "${CMAKE_MATCH_2}")
    elseif(line MATCHES "^\n(constexpr|const) [^(]* = ")
      string(REGEX MATCHALL "[A-Za-z0-9_]+ = " found "${line}")
      list(TRANSFORM found REPLACE " = " "" OUTPUT_VARIABLE found)
      list(APPEND names ${found})
    elseif(line MATCHES "(:?)([A-Za-z0-9_]+)([({]| = )" AND NOT CMAKE_MATCH_1)
      list(APPEND names "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  set(${names_out} "${names}" PARENT_SCOPE)
  set(${bytes_out} "${bytes}" PARENT_SCOPE)
endfunction()

# yk_together(TARGET SOURCE...): says which sources of the target are compiled together.
function(yk_together target)
  if(NOT YK_UNITY)
    return()
  endif()
  set(next 0) # the groups so far are those below `next`; names_N and size_N are what group N holds
  foreach(source IN LISTS ARGN)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}") # a name may be new in it
    yk_names_of("${source}" names bytes)
    set(chosen "")
    set(group 0)
    while(group LESS next AND chosen STREQUAL "")
      math(EXPR size "${size_${group}} + ${bytes}")
      set(is_free TRUE)
      foreach(name IN LISTS names)
        if(name IN_LIST names_${group})
          set(is_free FALSE)
          break()
        endif()
      endforeach()
      if(is_free AND size LESS_EQUAL YK_UNITY_BYTES)
        set(chosen ${group})
      endif()
      math(EXPR group "${group} + 1")
    endwhile()
    if(chosen STREQUAL "")
      set(chosen ${next})
      math(EXPR next "${next} + 1")
      set(names_${chosen} "")
      set(size ${bytes})
    endif()
    list(APPEND names_${chosen} ${names})
    set(size_${chosen} ${size})
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "${target}_${chosen}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
