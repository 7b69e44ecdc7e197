// SPDX-License-Identifier: Apache-2.0
#pragma once
// Checks on the path of an ipc listener that nng does not make (I-303, I-304): it would delete a regular file.

#include <sys/types.h>

#include <string>

#include "libcore/base/result.h"

namespace yk::wire {

/// The URL of an address as a person types it: a path, which has a slash, without its `ipc://`, too.
[[nodiscard]] std::string url_of(const std::string& address);

/// The path of an `ipc://` URL; empty for another scheme.
[[nodiscard]] std::string ipc_path_of(const std::string& url);

/// Whether a listener may be made at `path`: it is short enough, its directory exists and is writable, and if there is
/// a file of that name it is a socket.
[[nodiscard]] Result<void> check_ipc_path(const std::string& path);

/// Gives the socket its group (empty: as it is), then its mode.
[[nodiscard]] Result<void> protect_socket(const std::string& path, mode_t mode, const std::string& group);

} // namespace yk::wire
