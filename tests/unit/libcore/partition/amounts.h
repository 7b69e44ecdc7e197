// SPDX-License-Identifier: Apache-2.0
#pragma once
// Resources from text for the tables of this folder: `a:5,b:-3`; `-` is absent, the empty text is empty.

#include <optional>
#include <string>

#include "libcore/resources/limit.h"
#include "libcore/resources/resource.h"
#include "tests/support/command_text.h"

namespace yk::testing {

inline ResourceNames& table_names() {
    static ResourceNames names;
    return names;
}

inline Resource amounts(std::string_view text) {
    Resource resource;
    for (const Quantity& q : quantities(text)) resource.set(table_names().intern(q.name), q.value);
    return resource;
}

inline std::optional<Resource> maybe(std::string_view text) {
    return text == "-" ? std::nullopt : std::optional(amounts(text));
}

/// As `map[a:5 b:-3]` (S-032).
inline std::string text_of(const Resource& resource) {
    return NamedResource{&resource, &table_names()}.text();
}

} // namespace yk::testing
