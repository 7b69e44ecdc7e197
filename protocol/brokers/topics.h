// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which kinds of rows have events at a broker, and what they are called there; and the lanes that events go along.

#include <compare>
#include <cstddef>
#include <string>
#include <vector>

#include "libcore/resource_state/ports/resource.h"

namespace yk::rs {

/// A kind by the name of its topic, or of its subjects, behind the prefix that is common to all.
struct Topic {
    Kind kind{};
    std::string name;
};
using Topics = std::vector<Topic>;

/// What a broker keeps in order: a partition of a topic, or a stream as a whole (part 0).
struct LaneName {
    std::string topic;
    std::size_t part = 0;

    friend auto operator<=>(const LaneName&, const LaneName&) = default;
};

} // namespace yk::rs
