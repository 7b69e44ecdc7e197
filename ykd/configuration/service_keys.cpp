// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/service_keys.h"

#include <algorithm>
#include <array>

#include "libcore/config/duration.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

using Derived = DerivedSettings;

template <bool ServiceSettings::*Member>
std::string flag(const Derived& derived) {
    return derived.service.*Member ? "true" : "false";
}
template <std::uint64_t ServiceSettings::*Member>
std::string count(const Derived& derived) {
    return std::to_string(derived.service.*Member);
}
template <Duration ServiceSettings::*Member>
std::string service_duration(const Derived& derived) {
    return config::duration_text(derived.service.*Member);
}
template <Duration Settings::*Member>
std::string core_duration(const Derived& derived) {
    return config::duration_text(derived.core.*Member);
}
std::string level(const Derived&) {
    return log_level();
}

constexpr std::array<CoreKey, 21> kCore{{
    {"event.trackingEnabled", flag<&ServiceSettings::events_enabled>},
    {"event.requestCapacity", count<&ServiceSettings::request_capacity>},
    {"event.ringBufferCapacity", count<&ServiceSettings::ring_capacity>},
    {"event.maxStreams", count<&ServiceSettings::max_streams>},
    {"event.maxStreamsPerHost", count<&ServiceSettings::max_streams_per_host>},
    {"event.RESTResponseSize", count<&ServiceSettings::response_size>},
    {"health.checkInterval", service_duration<&ServiceSettings::health_interval>},
    {"log.level", level},
    {"service.enableConfigHotRefresh", flag<&ServiceSettings::hot_refresh>},
    {"service.queueCleanInterval", core_duration<&Settings::queue_clean_interval>},
    {"service.expiredPurgeInterval", core_duration<&Settings::expired_purge_interval>},
    {"service.placeholderTimeout", core_duration<&Settings::placeholder_timeout>},
    {"service.completingTimeout", core_duration<&Settings::completing_timeout>},
    {"service.terminatedTimeout", core_duration<&Settings::terminated_timeout>},
    {"service.reservationTimeout", core_duration<&Settings::reservation_timeout>},
    {"service.userCacheValid", service_duration<&ServiceSettings::user_cache_valid>},
    {"service.reservationDelay", core_duration<&Settings::reservation_delay>},
    {"service.preemptionThrottle", core_duration<&Settings::preemption_throttle>},
    {"service.preemptionUnplaced", core_duration<&Settings::preemption_unplaced>},
    {"service.inspectionInterval", core_duration<&Settings::inspection_interval>},
    {"service.releaseConfirmTimeout", core_duration<&Settings::release_confirm>},
}};

constexpr std::array<RmKey, 15> kRm{{
    {"service.clusterId", "mycluster"},
    {"service.policyGroup", "queues"},
    {"service.schedulingInterval", "1s"},
    {"service.eventChannelCapacity", "1048576"},
    {"service.dispatchTimeout", "5m"},
    {"service.volumeBindTimeout", "10m"},
    {"service.disableGangScheduling", "false"},
    {"service.placeholderImage", "registry.k8s.io/pause:3.7"},
    {"service.placeholderRunAsUser", ""},
    {"service.placeholderRunAsGroup", ""},
    {"service.placeholderFsGroup", ""},
    {"service.instanceTypeNodeLabelKey", "node.kubernetes.io/instance-type"},
    {"service.nodeInstanceTypeNodeLabelKey", "node.kubernetes.io/instance-type"},
    {"kubernetes.qps", "1000"},
    {"kubernetes.burst", "1000"},
}};

template <class Table>
auto* find(const Table& table, std::string_view name) {
    const auto found = std::find_if(table.begin(), table.end(), [&](const auto& each) { return each.name == name; });
    return found == table.end() ? nullptr : &*found;
}

} // namespace

const CoreKey* find_core_key(std::string_view name) {
    return find(kCore, name);
}

const RmKey* find_rm_key(std::string_view name) {
    return find(kRm, name);
}

std::span<const std::string_view> core_key_names() {
    static const auto kNames = [] {
        std::array<std::string_view, kCore.size()> list;
        for (std::size_t i = 0; i < list.size(); ++i) list[i] = kCore[i].name;
        return list;
    }();
    return kNames;
}

} // namespace yk::service
