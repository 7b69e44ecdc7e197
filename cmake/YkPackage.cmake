# SPDX-License-Identifier: Apache-2.0
# The client library: what a resource manager in C++ links, for find_package(ykd). Static, with the headers below
# include/ykd, where their #includes begin as they do here.
include(CMakePackageConfigHelpers)

set(libraries yk_base yk_digest yk_protocol yk_wire yk_simulation yk_posix yk_books yk_transport yk_rm)
set(folder "lib/cmake/ykd")

foreach(library IN LISTS libraries ITEMS yk_options yk_msgpack)
  string(REPLACE "yk_" "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
# A program that is linked without optimisation across files, or by another compiler, needs code in the archives as well.
foreach(library IN LISTS libraries)
  get_target_property(is_link_time ${library} INTERPROCEDURAL_OPTIMIZATION)
  if(is_link_time AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${library} PRIVATE -ffat-lto-objects)
  endif()
endforeach()

install(TARGETS ${libraries} yk_options yk_msgpack EXPORT ykd ARCHIVE DESTINATION "lib/ykd" COMPONENT client
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/ykd")
install(EXPORT ykd NAMESPACE ykd:: FILE ykdTargets.cmake DESTINATION "${folder}" COMPONENT client)
foreach(headers libcore/base libcore/digest protocol/si protocol/wire protocol/simulation protocol/posix protocol/transport protocol/client
        protocol/server protocol/books protocol/rm)
  install(DIRECTORY ${headers}/ DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/ykd/${headers}" COMPONENT client
          FILES_MATCHING PATTERN "*.h")
endforeach()
configure_file("${CMAKE_CURRENT_LIST_DIR}/ykdConfig.cmake.in" "${CMAKE_BINARY_DIR}/ykdConfig.cmake" @ONLY)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/ykdConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/ykdConfig.cmake" "${CMAKE_BINARY_DIR}/ykdConfigVersion.cmake" DESTINATION "${folder}"
        COMPONENT client)
