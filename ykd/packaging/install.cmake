# SPDX-License-Identifier: Apache-2.0
# What is installed beside the programs. The Debian packages are made of the same: `debian/` here.

set(packaging "${CMAKE_CURRENT_LIST_DIR}")

install(FILES "${packaging}/debian/ykd.sysusers" DESTINATION lib/sysusers.d RENAME ykd.conf)
install(CODE "set(YK_SOURCE \"${PROJECT_SOURCE_DIR}\")")
install(SCRIPT "${packaging}/install_host_files.cmake")

install(DIRECTORY "${packaging}/monitoring" DESTINATION "${CMAKE_INSTALL_DATADIR}/ykd") # for Prometheus and Grafana

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
