// SPDX-License-Identifier: Apache-2.0
// Explain of a key of extraConfig (I-354, C-460 to C-468): the value in force, who set it, and what it takes to change
// it.

#include <fmt/format.h>

#include <algorithm>

#include "libcore/config/suggest.h"
#include "ykd/configuration/extra_config_keys.h"
#include "ykd/configuration/service_keys.h"
#include "ykd/explain/explain_kinds.h"
#include "ykd/process/log.h"

namespace yk::service {
namespace {

using Origin = ExtraConfig::Origin;

constexpr std::string_view kAtOnce =
    "at once: extraConfig of a registration or of UpdateConfiguration, or SetExtraConfig; extraConfig of the settings "
    "file is read when ykd starts";
constexpr std::string_view kUntilRestart =
    "as extraConfig, at once; what was false once stays false until ykd starts again (C-466)";
constexpr std::string_view kOfTheRm =
    "ykd carries it for the resource manager and does not read it; there a change needs a restart (C-466)";

/// What the answer has of one key.
struct Setting {
    std::optional<std::string> value; // in force; nothing: unset
    std::string from;
    std::string change;                // what it takes to change it
    std::vector<std::string> warnings; // why the text that was sent is not used
};

std::string origin_text(const ExplainParts& parts, const Origin& origin) {
    switch (origin.source) {
    case ExtraConfig::Source::Overlay: return "SetExtraConfig, until ykd starts again";
    case ExtraConfig::Source::Rm: return "extraConfig of RM " + origin.rm_id;
    case ExtraConfig::Source::File: break;
    }
    return fmt::format("extraConfig of the settings file {}", parts.settings.settings_file);
}

std::vector<std::string> warnings_of(const DerivedSettings& derived, const std::string& key) {
    std::vector<std::string> warnings;
    for (const std::string& warning : derived.warnings)
        if (warning.rfind(key + ": ", 0) == 0) warnings.push_back(warning);
    return warnings;
}

std::string default_level(const ExplainParts& parts) {
    return parts.settings.log_level.empty() ? "default" : "--log-level";
}

/// Where a logger's level comes from: the nearest logger above, or itself, that has a level of its own (C-463).
std::string level_origin(const ExplainParts& parts, std::string logger) {
    const auto sets = [&parts](const std::string& key) -> std::optional<std::string> {
        const auto origin = parts.effective.extra_config().find(key);
        if (!origin || !parse_level(origin->text)) return std::nullopt;
        return fmt::format("{} ({})", key, origin_text(parts, *origin));
    };
    while (!logger.empty()) {
        if (const auto from = sets("log." + logger + ".level")) return *from;
        const std::size_t dot = logger.rfind('.');
        logger = dot == std::string::npos ? std::string{} : logger.substr(0, dot);
    }
    return sets("log.level").value_or(default_level(parts));
}

/// The text of a key; secrets are masked (I-440).
std::string shown(const std::string& key, const std::string& text) {
    return is_secret(key) ? std::string{kMasked} : text;
}

std::optional<Setting> explain_core(const ExplainParts& parts, const std::string& key) {
    const CoreKey* known = find_core_key(key);
    if (known == nullptr) return std::nullopt;
    const DerivedSettings derived = parts.effective.current();
    Setting setting{known->value(derived), "default", std::string{kAtOnce}, warnings_of(derived, key)};
    if (const auto origin = parts.effective.extra_config().find(key))
        setting.from = setting.warnings.empty() ? origin_text(parts, *origin) : "default";
    if (key == "log.level") setting.from = level_origin(parts, {});
    if (key == "service.enableConfigHotRefresh") {
        setting.value = parts.effective.hot_refresh() ? "true" : "false"; // false stays false until a restart
        setting.change = kUntilRestart;
        if (derived.service.hot_refresh && !parts.effective.hot_refresh()) setting.from = "an earlier extraConfig";
    }
    return setting;
}

std::optional<Setting> explain_logger(const ExplainParts& parts, const std::string& key) {
    const auto logger = logger_of(key);
    if (!logger) return std::nullopt;
    return Setting{log_level(*logger), level_origin(parts, *logger), std::string{kAtOnce},
                   warnings_of(parts.effective.current(), key)};
}

/// A key that ykd does not read: it belongs to the RM, or to nobody.
std::optional<Setting> explain_carried(const ExplainParts& parts, const std::string& key) {
    const RmKey* known = find_rm_key(key);
    const auto origin = parts.effective.extra_config().find(key);
    if (known == nullptr && !origin) return std::nullopt;
    Setting setting{std::nullopt, "default", std::string{kOfTheRm}, warnings_of(parts.effective.current(), key)};
    if (origin) {
        setting.value = shown(key, origin->text);
        setting.from = origin_text(parts, *origin);
    } else if (!known->fallback.empty()) {
        setting.value = std::string{known->fallback};
    }
    return setting;
}

std::string not_found_text(const ExplainParts& parts, const std::string& key) {
    std::vector<std::string> sent;
    for (const auto& [name, text] : parts.effective.extra_config().effective()) sent.push_back(name);
    const auto names = core_key_names();
    std::vector<std::string_view> known{names.begin(), names.end()};
    known.insert(known.end(), {"root", "partitions"});
    known.insert(known.end(), sent.begin(), sent.end());
    const std::string near = config::nearest(key, known);
    return fmt::format("there is no setting {}{}; a place in the queue configuration begins with root, partitions or a "
                       "key of a partition",
                       key, near.empty() ? std::string{} : fmt::format(", did you mean {}?", near));
}

std::string verdict_of(const Setting& setting, bool is_sent) {
    if (!setting.warnings.empty()) return "IGNORED";
    return is_sent ? "SET" : "DEFAULT";
}

} // namespace

void explain_setting(const ExplainParts& parts, const CallPtr& call, const std::string& key) {
    auto setting = explain_core(parts, key);
    if (!setting) setting = explain_logger(parts, key);
    if (!setting) setting = explain_carried(parts, key);
    if (!setting) return call->fail(ErrorCode::NotFound, not_found_text(parts, key), "config");
    const auto sent = parts.effective.extra_config().find(key);
    const std::string verdict = verdict_of(*setting, sent.has_value());
    Value details{{"key", key}, {"from", setting->from}, {"change", setting->change}};
    if (setting->value) details["inForce"] = *setting->value;
    if (sent) details["value"] = shown(key, sent->text);
    if (sent) details["source"] = origin_text(parts, *sent);
    Value reasons = Value::array({{{"code", verdict}, {"object", key}, {"text", "from " + setting->from}}});
    for (const std::string& warning : setting->warnings)
        reasons.push_back({{"code", "WARNING"}, {"object", key}, {"text", warning}});
    call->ok({{"verdict", verdict}, {"reasons", std::move(reasons)}, {"details", std::move(details)}});
}

} // namespace yk::service
