// SPDX-License-Identifier: Apache-2.0
#pragma once
// Opens files for writing whose names an operator chose, so that no other user of the machine can redirect the writes.

#include <string>

#include "libcore/base/result.h"

namespace yk::service {

/// open(2) for writing, with `flags` such as O_CREAT | O_APPEND; the descriptor belongs to the caller. In a directory
/// where everybody may write, such as /tmp, a symlink, and a file that belongs neither to the daemon's user nor
/// to the directory's owner, is refused, whatever the kernel's fs.protected_symlinks and fs.protected_regular say.
[[nodiscard]] Result<int> open_own_file(const std::string& path, int flags, unsigned mode);

} // namespace yk::service
