#pragma once
// Opens files that the daemon writes by a name that an operator chose, so that nobody else can choose what is written.

#include <string>

#include "libcore/base/result.h"

namespace yk::service {

/// open(2) for writing, with `flags` such as O_CREAT | O_APPEND; the descriptor is the caller's. In a directory that is
/// everybody's with the sticky bit, such as /tmp, a symlink, and a file that belongs neither to the daemon's user nor
/// to the directory's owner, is refused, whatever the kernel's fs.protected_symlinks and fs.protected_regular say.
[[nodiscard]] Result<int> open_own_file(const std::string& path, int flags, unsigned mode);

} // namespace yk::service
