#pragma once
// The flat settings of RMs and operators (I-022, I-023, C-460 to C-463, C-468) as one map, and what the daemon derives
// from it. Thread: any.

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/scheduler/settings.h"

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
    Duration health_interval = std::chrono::seconds{30};   // 0 or less: no background checks
    bool hot_refresh = true;                               // service.enableConfigHotRefresh, for --watch-config (C-466)
    Duration user_cache_valid = std::chrono::seconds{300}; // C-365
};

struct DerivedSettings {
    Settings core;
    ServiceSettings service;
    std::vector<std::string> warnings; // keys with bad values, unknown keys that look like a typing error
};

/// `true` in the spellings of C-461; nullopt: neither that nor false.
[[nodiscard]] std::optional<bool> to_bool(std::string_view text);
/// `base`: what is not of extraConfig (reservations off, manual schedule).
[[nodiscard]] DerivedSettings derive_settings(const TextMap& map, const Settings& base);

/// Every logger there is (C-464, I-740).
[[nodiscard]] std::span<const std::string_view> known_loggers();

class ExtraConfig {
public:
    /// The settings file's map: used for a key that no RM has.
    explicit ExtraConfig(TextMap base) : base_(std::move(base)) {}

    /// The RM's map, as a whole; it becomes the newest.
    void set(const std::string& rm_id, TextMap map);
    /// Whether it had a map.
    bool forget(const std::string& rm_id);
    /// Overlays all, key by key, until restart (SetExtraConfig).
    void overlay(const TextMap& map);
    [[nodiscard]] TextMap effective() const;

    enum class Source { File, Rm, Overlay };
    struct Origin {
        std::string text;
        Source source{};
        std::string rm_id; // of Rm
    };
    /// Who has the last word on a key; nothing: nobody says anything.
    [[nodiscard]] std::optional<Origin> find(const std::string& key) const;

private:
    mutable std::mutex mutex_;
    const TextMap base_;
    TextMap overlay_;
    std::list<std::pair<std::string, TextMap>> rms_; // newest last
};

} // namespace yk::service
