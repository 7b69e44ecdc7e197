// SPDX-License-Identifier: Apache-2.0
#pragma once
// The number by which clients of Kafka choose the partition of a key; all who write a topic have to choose alike.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace yk::rs {

/// Murmur2 with the seed that the Java client has.
[[nodiscard]] std::uint32_t murmur2(std::string_view key);

/// The partition of a key among `count`, as the Java client chooses it. REQUIRES: count > 0.
[[nodiscard]] inline std::size_t part_of(std::string_view key, std::size_t count) {
    return (murmur2(key) & 0x7fffffffU) % count;
}

} // namespace yk::rs
