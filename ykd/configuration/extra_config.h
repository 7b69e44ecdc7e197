// SPDX-License-Identifier: Apache-2.0
#pragma once
// ExtraConfig: the flat settings of RMs and operators (I-022, I-023, C-460 to C-463, C-468) as one map, and what the
// daemon derives from it.
//
// Owner: EffectiveSettings. Thread: any.

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ykd/configuration/derived_settings.h"

namespace yk::service {

/// True or false in the spellings of C-461; nullopt: it is neither.
[[nodiscard]] std::optional<bool> to_bool(std::string_view text);
/// `base`: the core's settings that no extraConfig decides (reservations off, manual schedule).
[[nodiscard]] DerivedSettings derive_settings(const TextMap& map, const Settings& base);

/// The names of all loggers (C-464, I-740).
[[nodiscard]] std::span<const std::string_view> known_loggers();

class ExtraConfig {
public:
    /// `base`: the map of the settings file, used for keys that no RM has.
    explicit ExtraConfig(TextMap base) : base_(std::move(base)) {}

    /// Replaces the RM's map as a whole; among those of all RMs it becomes the newest.
    void set(const std::string& rm_id, TextMap map);
    /// Drops the RM's map. True: it had one.
    bool forget(const std::string& rm_id);
    /// Sets these keys above all maps until the daemon ends (SetExtraConfig). A level of a logger with an empty text
    /// goes.
    void overlay(const TextMap& map);
    /// The levels of known loggers that stand above all maps.
    [[nodiscard]] TextMap overlaid_levels() const;
    /// All keys with the values in force: the overlay's, then the newest RM's, then the settings file's. Costs a copy.
    [[nodiscard]] TextMap effective() const;

    enum class Source { File, Rm, Overlay };
    struct Origin {
        std::string text;
        Source source{};
        std::string rm_id; // only for Source::Rm
    };
    /// The value of a key in force and where it comes from; nothing: no map has the key.
    [[nodiscard]] std::optional<Origin> find(const std::string& key) const;

private:
    mutable std::mutex mutex_;
    const TextMap base_;
    TextMap overlay_;
    std::list<std::pair<std::string, TextMap>> rms_; // newest last
};

} // namespace yk::service
