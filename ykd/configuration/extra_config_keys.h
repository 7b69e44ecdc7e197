// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the keys of extraConfig decide about their values: which must not be shown, and which take effect only when the
// RM or the daemon starts again.

#include <string>
#include <string_view>
#include <vector>

#include "ykd/configuration/derived_settings.h"

namespace yk::service {

/// Whether the value is masked where settings are shown (I-440). No key that ykd reads has a secret, but RMs may send
/// any others, so the name decides: one with password, secret, token, credential, private key or the like in it.
[[nodiscard]] bool is_secret(std::string_view key);
inline constexpr std::string_view kMasked = "***";

/// One warning for each key of the RM (C-465) whose change has no effect until a restart (C-466). Not for a
/// registration, which is the RM's start.
[[nodiscard]] std::vector<std::string> changes_ignored(const TextMap& before, const TextMap& now);

} // namespace yk::service
