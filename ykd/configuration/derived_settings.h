// SPDX-License-Identifier: Apache-2.0
#pragma once
// DerivedSettings: what the flat settings of RMs and operators (I-022, I-023) mean, for the core and for the daemon.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "libcore/ports/settings.h"

namespace yk::service {

using TextMap = std::map<std::string, std::string>;

/// The settings of the daemon itself.
struct ServiceSettings {
    bool events_enabled = true;
    std::uint64_t ring_capacity = 100'000;
    std::uint64_t request_capacity = 1000;
    std::uint64_t max_streams = 100;
    std::uint64_t max_streams_per_host = 15;
    std::uint64_t response_size = 10'000;
    Duration health_interval = std::chrono::seconds{30};   // 0 or less: no checks in the background
    bool hot_refresh = true;                               // service.enableConfigHotRefresh, for --watch-config (C-466)
    Duration user_cache_valid = std::chrono::seconds{300}; // how long the groups of a user are (C-365)
};

struct DerivedSettings {
    Settings core;
    ServiceSettings service;
    std::vector<std::string> warnings; // sentences `key: what is wrong with it`, for bad values and unknown keys
};

} // namespace yk::service
