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

foreach(program ykctl ykd)
  install(FILES "${PROJECT_SOURCE_DIR}/completions/${program}.bash" RENAME "${program}"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${PROJECT_SOURCE_DIR}/completions/${program}.fish"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endforeach()
