// SPDX-License-Identifier: Apache-2.0
#pragma once
// The comparison at the heart of the framework: what a row that was just read means for the cache (section 9 of
// docs/spec/resource-state.md, the table). Pure.

#include <cstdint>
#include <optional>
#include <string_view>

namespace yk::rs {

enum class Verdict : std::uint8_t {
    Nothing,     // neither here nor there
    Insert,      // in the database only
    Remove,      // in the cache only
    Update,      // a newer version with other content
    VersionOnly, // a newer version, but nothing that anybody would care for
    Same,        //
    SameVersion, // other content under the same version: somebody wrote around the rules; the database is right
    Stale,       // older than what the cache has: a lagging replica, or a database that was restored
    Reborn       // another life of the id: the old one is gone and a new one has come
};

/// What is compared of a row or of an object in the cache.
struct Sight {
    std::string_view uid;
    std::int64_t version = 0;
    std::int64_t generation = 0;
    std::uint64_t content = 0; // hash
    std::uint32_t era = 0;     // of the database: versions of two eras cannot be compared (rs R-031)
};

[[nodiscard]] inline Verdict compare(const std::optional<Sight>& row, const std::optional<Sight>& cached) {
    if (!row) return cached ? Verdict::Remove : Verdict::Nothing;
    if (!cached) return Verdict::Insert;
    if (row->uid != cached->uid) return Verdict::Reborn;
    const bool same = row->content == cached->content && row->generation == cached->generation;
    if (row->version == cached->version) return same ? Verdict::Same : Verdict::SameVersion;
    if (row->version < cached->version && row->era <= cached->era) return Verdict::Stale;
    return same ? Verdict::VersionOnly : Verdict::Update;
}

} // namespace yk::rs
