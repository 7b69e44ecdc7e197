# SPDX-License-Identifier: Apache-2.0
# Installs what depends on the prefix or must not be overwritten: the unit, the configuration, zsh's completion. Run by
# `cmake --install` and by tests/system/install.sh with CMAKE_INSTALL_PREFIX, and YK_SOURCE, the root of the sources;
# DESTDIR stands before every path, as for all that is installed.

set(packaging "${YK_SOURCE}/ykd/packaging")
set(prefix "${CMAKE_INSTALL_PREFIX}")

# As GNUInstallDirs has it: the configuration of what is below /usr is in /etc.
if(prefix STREQUAL "/usr" OR prefix STREQUAL "/")
  set(YK_SYSCONFDIR "/etc")
elseif(prefix MATCHES "^/opt(/|$)")
  set(YK_SYSCONFDIR "/etc${prefix}")
else()
  set(YK_SYSCONFDIR "${prefix}/etc")
endif()
set(YK_BINDIR "${prefix}/bin")

# The unit names the programs and the configuration of this prefix.
set(made "${packaging}/ykd.service.in")
file(READ "${made}" unit)
string(CONFIGURE "${unit}" unit @ONLY)
if(NOT YK_SYSCONFDIR STREQUAL "/etc")
  string(REPLACE "ConfigurationDirectory=ykd\n" "" unit "${unit}") # that is /etc/ykd
endif()
set(unit_folder "$ENV{DESTDIR}${prefix}/lib/systemd/system")
file(WRITE "${unit_folder}/ykd.service" "${unit}")
file(CHMOD "${unit_folder}/ykd.service" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
message(STATUS "Installing: ${unit_folder}/ykd.service")
list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${prefix}/lib/systemd/system/ykd.service")

# What the administrator changed stays; what is shipped lies beside it.
foreach(file queues.yaml ykd.conf)
  set(target "$ENV{DESTDIR}${YK_SYSCONFDIR}/ykd/${file}")
  set(name "${file}")
  if(EXISTS "${target}")
    file(SHA256 "${target}" theirs)
    file(SHA256 "${packaging}/${file}" ours)
    if(NOT theirs STREQUAL ours)
      set(name "${file}.new")
      message(STATUS "Kept: ${target} (changed); the shipped one is ${name} beside it")
    endif()
  endif()
  file(INSTALL "${packaging}/${file}" DESTINATION "${YK_SYSCONFDIR}/ykd" TYPE FILE RENAME "${name}")
endforeach()

# Where Debian's zsh looks: its own packages' folder below /usr, the site's below any other prefix.
if(prefix STREQUAL "/usr")
  set(zsh_folder "${prefix}/share/zsh/vendor-completions")
else()
  set(zsh_folder "${prefix}/share/zsh/site-functions")
endif()
file(INSTALL "${YK_SOURCE}/completions/_ykctl" "${YK_SOURCE}/completions/_ykd" DESTINATION "${zsh_folder}" TYPE FILE)
