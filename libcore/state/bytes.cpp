// SPDX-License-Identifier: Apache-2.0
#include "libcore/state/bytes.h"

namespace yk {

std::uint64_t bytes_of(const Node& node) {
    std::uint64_t bytes = bytes_of(node.id);
    for (const auto& [key, value] : node.attributes) bytes += bytes_of_tag(key, value);
    if (node.devices) bytes += node.devices->kinds().size() * kDeviceKindBytes;
    return bytes;
}

std::uint64_t bytes_of(const Application& application) {
    std::uint64_t bytes = 2 * bytes_of(application.id) + bytes_of(application.user);
    for (const auto& [key, value] : application.tags) bytes += bytes_of_tag(key, value);
    for (const auto& [type, totals] : application.seconds) bytes += bytes_of(type) + kPerEntry;
    return bytes + kPerEntry * application.gang.groups.size();
}

} // namespace yk
