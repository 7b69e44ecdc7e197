// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the framework has to know of a resource: one row of one kind, with an id, a uid and a version. Everything else
// of a row is the program's own.
//
// A program describes its row by a struct and a specialisation of ResourceTraits:
//
//     struct Album { rs::ResourceMeta meta; std::string title; };
//     template <> struct yk::rs::ResourceTraits<Album> {
//         static constexpr Kind kKind{1};
//         static constexpr std::string_view kName = "album"; // in notices
//         static constexpr std::string_view kOwner = "shop"; // the only service that may write rows
//         static const ResourceMeta& meta(const Album& album) { return album.meta; }
//         static std::uint64_t content_hash(const Album& album); // equal for equal content, version and times aside
//     };

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace yk::rs {

/// The number of a kind in change events; the program gives them out.
enum class Kind : std::uint32_t {};

/// Who a row is and how new. An id that is created again gets another uid, and its version begins anew at 1.
struct ResourceMeta {
    std::string id;
    std::string uid;
    std::int64_t version = 1;    // 1 at the insert, 1 more with each update
    std::int64_t generation = 1; // as `version`, but of the part that users write
};

/// Specialised for each kind, see above.
template <class T>
struct ResourceTraits;

template <class T>
concept Resource = requires(const T& object) {
    { ResourceTraits<T>::kKind } -> std::convertible_to<Kind>;
    { ResourceTraits<T>::kName } -> std::convertible_to<std::string_view>;
    { ResourceTraits<T>::kOwner } -> std::convertible_to<std::string_view>;
    { ResourceTraits<T>::meta(object) } -> std::convertible_to<const ResourceMeta&>;
    { ResourceTraits<T>::content_hash(object) } -> std::convertible_to<std::uint64_t>;
};

/// An object never changes once it was read from the database, so that whoever holds one may keep it as long as needed,
/// on any thread; a newer row is another object (rs R-057).
template <class T>
using Ptr = std::shared_ptr<const T>;

template <Resource T>
[[nodiscard]] const ResourceMeta& meta_of(const T& object) {
    return ResourceTraits<T>::meta(object);
}

} // namespace yk::rs
