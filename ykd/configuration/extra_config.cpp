// SPDX-License-Identifier: Apache-2.0
#include "ykd/configuration/extra_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "libcore/base/number.h"
#include "libcore/config/duration.h"
#include "libcore/config/names.h"
#include "libcore/config/suggest.h"
#include "ykd/configuration/extra_config_keys.h"
#include "ykd/configuration/service_keys.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

constexpr std::string_view kHotRefresh =
    "service.enableConfigHotRefresh"; // the one of C-465 that may change at run time

/// The names of all loggers (C-464, I-740).
constexpr std::array<std::string_view, 36> kLoggers{"core",
                                                    "test",
                                                    "deprecation",
                                                    "core.config",
                                                    "core.diagnostics",
                                                    "core.entrypoint",
                                                    "core.events",
                                                    "core.metrics",
                                                    "core.opentracing",
                                                    "core.resources",
                                                    "core.rest",
                                                    "core.rmproxy",
                                                    "core.rpc",
                                                    "core.scheduler",
                                                    "core.scheduler.allocation",
                                                    "core.scheduler.application",
                                                    "core.scheduler.application.usage",
                                                    "core.scheduler.context",
                                                    "core.scheduler.fsm",
                                                    "core.scheduler.health",
                                                    "core.scheduler.node",
                                                    "core.scheduler.nodesusage",
                                                    "core.scheduler.partition",
                                                    "core.scheduler.preemption",
                                                    "core.scheduler.preemption.quotachange",
                                                    "core.scheduler.preemption.requirednode",
                                                    "core.scheduler.queue",
                                                    "core.scheduler.reservation",
                                                    "core.scheduler.ugm",
                                                    "core.security",
                                                    "core.utils",
                                                    "wire",
                                                    "wire.session",
                                                    "wire.stream",
                                                    "recovery",
                                                    "mcs"};

/// Whether the key sets the level of a logger that there is, or of all.
bool is_level_key(const std::string& key) {
    if (key == "log.level") return true;
    const auto logger = logger_of(key);
    return logger && std::find(kLoggers.begin(), kLoggers.end(), *logger) != kLoggers.end();
}

/// Whether the key belongs to the resource manager: ykd carries it and does not read it (C-465).
bool is_of_the_rm(std::string_view key) {
    return key == kHotRefresh || find_rm_key(key) != nullptr || key.rfind("kubernetes.", 0) == 0 ||
           key.rfind("admissionController.", 0) == 0;
}

/// Whether somebody reads or carries the key. Configuration texts, `NAME.yaml` and `NAME.gz`, are carried, too (C-466).
bool is_known_key(std::string_view key) {
    const auto ends_with = [&](std::string_view tail) {
        return key.size() > tail.size() && key.substr(key.size() - tail.size()) == tail;
    };
    return find_core_key(key) != nullptr || is_of_the_rm(key) || ends_with(".yaml") || ends_with(".gz");
}

/// Reads values out of the map into settings. A bad value leaves the setting as it is and adds a warning.
class Reader {
public:
    Reader(const TextMap& map, std::vector<std::string>& warnings) : map_(map), warnings_(warnings) {}

    void flag(const std::string& key, bool& to) {
        if (const std::string* text = find(key)) take(key, *text, to_bool(*text), to);
    }
    void count(const std::string& key, std::uint64_t& to, std::uint64_t most, bool zero_means_default) {
        const std::string* text = find(key);
        if (text == nullptr) return;
        const auto value = to_number<std::uint64_t>(*text);
        if (value == 0U && zero_means_default) {
            warnings_.push_back(fmt::format("{}: 0 is not possible, {} is used", key, to));
            return;
        }
        if (value && *value > most) {
            warnings_.push_back(fmt::format("{}: {} is too many, {} is used", key, *value, most));
            to = most;
            return;
        }
        take(key, *text, value, to);
    }
    void duration(const std::string& key, Duration& to, bool positive) {
        const std::string* text = find(key);
        if (text == nullptr) return;
        const auto parsed = config::parse_duration(*text);
        const bool usable = parsed.ok() && (!positive || *parsed > Duration{0});
        take(key, *text, usable ? std::optional<Duration>(*parsed) : std::nullopt, to);
    }
    /// Adds a warning for each key that nobody reads; the key is kept (B-04).
    void look_for_unknown_keys() {
        for (const auto& [key, text] : map_) {
            if (key.rfind("log.", 0) == 0) {
                check_log_level(key, text);
            } else if (key == "event.ringbufferCapacity") {
                warnings_.push_back(key + ": has no effect, the key is event.ringBufferCapacity");
            } else if (!is_known_key(key)) {
                warn_unknown(key);
            }
        }
    }

private:
    void warn_unknown(const std::string& key) {
        const std::string near = config::nearest(key, core_key_names());
        warnings_.push_back(fmt::format("{}: unknown key, kept and not used{}", key,
                                        near.empty() ? std::string{} : fmt::format("; did you mean {}?", near)));
    }
    void check_log_level(const std::string& key, const std::string& text) {
        if (!parse_level(text))
            warnings_.push_back(fmt::format(
                "{}: bad level '{}', ignored; levels are debug, info, warn, error, dpanic, panic, fatal or -1 to 5",
                key, text));
        if (key == "log.level") return;
        const auto logger = logger_of(key);
        if (!logger) {
            warnings_.push_back(key + ": ignored; the form is log.LOGGER.level, LOGGER without blanks and empty parts");
        } else if (std::find(kLoggers.begin(), kLoggers.end(), *logger) == kLoggers.end()) {
            const std::string near = config::nearest(*logger, kLoggers);
            warnings_.push_back(fmt::format("{}: there is no logger {}{}", key, *logger,
                                            near.empty() ? std::string{} : fmt::format("; did you mean {}?", near)));
        }
    }
    [[nodiscard]] const std::string* find(const std::string& key) const {
        const auto found = map_.find(key);
        return found == map_.end() ? nullptr : &found->second;
    }
    template <class T>
    void take(const std::string& key, const std::string& text, const std::optional<T>& value, T& to) {
        if (value) {
            to = *value;
        } else {
            warnings_.push_back(fmt::format("{}: bad value '{}', the default is used", key, text));
        }
    }

    const TextMap& map_;
    std::vector<std::string>& warnings_;
};

} // namespace

std::optional<bool> to_bool(std::string_view text) {
    for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"})
        if (text == yes) return true;
    for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"})
        if (text == no) return false;
    return std::nullopt;
}

bool is_secret(std::string_view key) {
    std::string name = config::lower(key);
    std::erase_if(name, [](char c) { return c == '-' || c == '_'; });
    for (const std::string_view word :
         {"password", "passwd", "passphrase", "secret", "token", "credential", "privatekey", "apikey", "accesskey"})
        if (name.find(word) != std::string::npos) return true;
    return false;
}

std::vector<std::string> changes_ignored(const TextMap& before, const TextMap& now) {
    const auto text_in = [](const TextMap& map, const std::string& key) {
        const auto found = map.find(key);
        if (found != map.end()) return found->second;
        if (key == kHotRefresh) return std::string{"true"};
        const RmKey* known = find_rm_key(key);
        return known == nullptr || known->fallback.empty() ? std::string{"(unset)"} : std::string{known->fallback};
    };
    TextMap both = before;
    both.insert(now.begin(), now.end());
    std::vector<std::string> warnings;
    for (const auto& [key, text] : both) {
        if (!is_of_the_rm(key) || text_in(before, key) == text_in(now, key)) continue;
        if (key == kHotRefresh && to_bool(text_in(before, key)) != false) continue; // true may become false
        std::string warning =
            fmt::format("ignoring non-reloadable configuration change (restart required to update): {}", key);
        if (!is_secret(key)) warning += fmt::format(": {} -> {}", text_in(before, key), text_in(now, key));
        warnings.push_back(std::move(warning));
    }
    return warnings;
}

DerivedSettings derive_settings(const TextMap& map, const Settings& base) {
    DerivedSettings derived;
    derived.core = base;
    Reader reader(map, derived.warnings);
    ServiceSettings& service = derived.service;
    reader.flag("event.trackingEnabled", service.events_enabled);
    reader.count("event.requestCapacity", service.request_capacity, 1'000'000, true);
    reader.count("event.ringBufferCapacity", service.ring_capacity, 1'000'000, true);
    reader.count("event.maxStreams", service.max_streams, 10'000, false);
    reader.count("event.maxStreamsPerHost", service.max_streams_per_host, 10'000, false);
    reader.count("event.RESTResponseSize", service.response_size, 1'000'000, true);
    reader.flag(std::string{kHotRefresh}, service.hot_refresh);
    reader.duration("health.checkInterval", service.health_interval, false);
    reader.duration("service.userCacheValid", service.user_cache_valid, true);
    Settings& core = derived.core;
    core.events_enabled = service.events_enabled;
    reader.duration("service.queueCleanInterval", core.queue_clean_interval, true);
    reader.duration("service.expiredPurgeInterval", core.expired_purge_interval, true);
    reader.duration("service.placeholderTimeout", core.placeholder_timeout, true);
    reader.duration("service.completingTimeout", core.completing_timeout, true);
    reader.duration("service.terminatedTimeout", core.terminated_timeout, true);
    reader.duration("service.reservationTimeout", core.reservation_timeout, true);
    reader.duration("service.reservationDelay", core.reservation_delay, false);
    reader.duration("service.preemptionThrottle", core.preemption_throttle, false);
    reader.duration("service.preemptionUnplaced", core.preemption_unplaced, false);
    reader.duration("service.inspectionInterval", core.inspection_interval, true);
    reader.duration("service.releaseConfirmTimeout", core.release_confirm, false);
    reader.look_for_unknown_keys();
    return derived;
}

std::span<const std::string_view> known_loggers() {
    return kLoggers;
}

void ExtraConfig::set(const std::string& rm_id, TextMap map) {
    const std::lock_guard lock(mutex_);
    rms_.remove_if([&](const auto& entry) { return entry.first == rm_id; });
    rms_.emplace_back(rm_id, std::move(map));
}

bool ExtraConfig::forget(const std::string& rm_id) {
    const std::lock_guard lock(mutex_);
    return rms_.remove_if([&](const auto& entry) { return entry.first == rm_id; }) != 0;
}

void ExtraConfig::overlay(const TextMap& map) {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, value] : map) {
        if (value.empty() && is_level_key(key))
            overlay_.erase(key);
        else
            overlay_[key] = value;
    }
}

TextMap ExtraConfig::overlaid_levels() const {
    const std::lock_guard lock(mutex_);
    TextMap levels;
    for (const auto& [key, value] : overlay_)
        if (is_level_key(key) && parse_level(value)) levels[key] = value;
    return levels;
}

std::optional<ExtraConfig::Origin> ExtraConfig::find(const std::string& key) const {
    const std::lock_guard lock(mutex_);
    const auto in = [&key](const TextMap& map, Source source, const std::string& rm_id) -> std::optional<Origin> {
        const auto found = map.find(key);
        return found == map.end() ? std::nullopt : std::optional<Origin>{{found->second, source, rm_id}};
    };
    if (auto found = in(overlay_, Source::Overlay, {})) return found;
    for (auto rm = rms_.rbegin(); rm != rms_.rend(); ++rm)
        if (auto found = in(rm->second, Source::Rm, rm->first)) return found;
    return in(base_, Source::File, {});
}

TextMap ExtraConfig::effective() const {
    const std::lock_guard lock(mutex_);
    TextMap all = base_;
    for (const auto& [rm, map] : rms_)
        for (const auto& [key, value] : map) all[key] = value;
    for (const auto& [key, value] : overlay_) all[key] = value;
    return all;
}

} // namespace yk::service
