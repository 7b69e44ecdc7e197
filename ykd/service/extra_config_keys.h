#pragma once
// What the keys of extraConfig say about their values: which must not be shown, which take effect only when the RM or
// the daemon starts again.

#include <string>
#include <string_view>
#include <vector>

#include "ykd/service/extra_config.h"

namespace yk::service {

/// I-440: the value is masked where settings are shown. No key that ykd reads has a secret, but RMs may send any
/// others, so the name decides: one that speaks of a password, secret, token, credential or private key.
[[nodiscard]] bool is_secret(std::string_view key);
inline constexpr std::string_view kMasked = "***";

/// One warning for each key of C-465 that differs (C-466). A registration is the RM's start: there nothing is to be
/// said.
[[nodiscard]] std::vector<std::string> changes_ignored(const TextMap& before, const TextMap& now);

} // namespace yk::service
