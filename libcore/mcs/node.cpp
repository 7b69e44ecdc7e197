// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/node.h"

#include "libcore/mcs/content_hash.h"

namespace yk::rs {

std::uint64_t ResourceTraits<mcs::Node>::content_hash(const mcs::Node& row) {
    mcs::ContentHash hash;
    return hash.add(row.attributes).add(row.capacity).add(row.occupied).add(row.is_schedulable).value();
}

} // namespace yk::rs
