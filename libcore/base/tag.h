// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tag: what an application, an ask or a node was marked with. Views: whoever made them owns the text.

#include <string_view>
#include <vector>

namespace yk {

struct Tag {
    std::string_view key;
    std::string_view value;
};
using Tags = std::vector<Tag>; // a key at most once

} // namespace yk
