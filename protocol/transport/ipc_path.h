#pragma once
// Checks on the path of an ipc listener that nng does not make (I-303, I-304): it would delete a regular file.

#include <sys/types.h>

#include <string>

#include "libcore/base/result.h"

namespace yk::wire {

/// The path of an `ipc://` URL; empty for another scheme.
[[nodiscard]] std::string ipc_path_of(const std::string& url);

/// Whether a listener may be made at `path`: short enough, directory there and writable, nothing but a socket in place.
[[nodiscard]] Result<void> check_ipc_path(const std::string& path);

/// Gives the socket its group, then its mode.
[[nodiscard]] Result<void> protect_socket(const std::string& path, mode_t mode, const std::string& group);

} // namespace yk::wire
