// SPDX-License-Identifier: Apache-2.0
#pragma once
// Two kinds of resources for tests, which have nothing to do with scheduling: albums, that a shop sells, and the cover
// that a painter makes for each of them.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/resource_state/ports/resource.h"

namespace yk::testing {

struct Album {
    rs::ResourceMeta meta;
    std::string title;
    int year = 2000;
};

struct Cover {
    rs::ResourceMeta meta;
    std::string album_uid; // the one it was made for
    std::string colour;
};

inline Album album(std::string id, std::string title = "Untitled", int year = 2000) {
    Album made;
    made.meta.id = std::move(id);
    made.title = std::move(title);
    made.year = year;
    return made;
}

} // namespace yk::testing

template <>
struct yk::rs::ResourceTraits<yk::testing::Album> {
    static constexpr Kind kKind{1};
    static constexpr std::string_view kName = "album";
    static constexpr std::string_view kOwner = "shop";
    static const ResourceMeta& meta(const testing::Album& album) { return album.meta; }
    static std::uint64_t content_hash(const testing::Album& album) {
        return std::hash<std::string>{}(album.title + '/' + std::to_string(album.year));
    }
};

template <>
struct yk::rs::ResourceTraits<yk::testing::Cover> {
    static constexpr Kind kKind{2};
    static constexpr std::string_view kName = "cover";
    static constexpr std::string_view kOwner = "painter";
    static const ResourceMeta& meta(const testing::Cover& cover) { return cover.meta; }
    static std::uint64_t content_hash(const testing::Cover& cover) {
        return std::hash<std::string>{}(cover.album_uid + '/' + cover.colour);
    }
};
