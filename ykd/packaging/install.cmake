# SPDX-License-Identifier: Apache-2.0
# What is installed beside the programs, and the Debian package.

set(packaging "${CMAKE_CURRENT_LIST_DIR}")

install(FILES "${packaging}/ykd.sysusers" DESTINATION lib/sysusers.d RENAME ykd.conf)
install(CODE "set(YK_SOURCE \"${PROJECT_SOURCE_DIR}\")")
install(SCRIPT "${packaging}/install_host_files.cmake")

foreach(section 1 5 7 8)
  file(GLOB pages CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/man/*.${section}")
  if(pages)
    install(FILES ${pages} DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
  endif()
endforeach()

foreach(completion "ykctl.bash|bash-completion/completions|ykctl" "ykctl.fish|fish/vendor_completions.d|ykctl.fish")
  string(REPLACE "|" ";" parts "${completion}")
  list(GET parts 0 file)
  list(GET parts 1 folder)
  list(GET parts 2 name)
  if(EXISTS "${PROJECT_SOURCE_DIR}/completions/${file}")
    install(FILES "${PROJECT_SOURCE_DIR}/completions/${file}" DESTINATION "${CMAKE_INSTALL_DATADIR}/${folder}" RENAME "${name}")
  endif()
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ykd)
set(CPACK_PACKAGE_VERSION "${PROJECT_VERSION}")
set(CPACK_PACKAGE_CONTACT "ykd maintainers <root@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Resource scheduler core daemon and its command line")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA "${packaging}/conffiles;${packaging}/postinst")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
