// SPDX-License-Identifier: Apache-2.0
#pragma once
// The keys of extraConfig: those that ykd reads (C-462, C-466, C-468), with the value in force as text, and those that
// it carries for the resource manager (C-465), with the default that applies there.

#include <span>
#include <string>
#include <string_view>

#include "ykd/configuration/derived_settings.h"

namespace yk::service {

struct CoreKey {
    std::string_view name;
    std::string (*value)(const DerivedSettings&); // the value in force as text; that of log.level is log_level()
};

struct RmKey {
    std::string_view name;
    std::string_view fallback; // the RM's default; empty: none
};

/// Each returns nullptr when there is no such key.
[[nodiscard]] const CoreKey* find_core_key(std::string_view name);
[[nodiscard]] const RmKey* find_rm_key(std::string_view name);
/// The names of all keys that ykd reads, for suggestions.
[[nodiscard]] std::span<const std::string_view> core_key_names();

} // namespace yk::service
