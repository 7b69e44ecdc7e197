// SPDX-License-Identifier: Apache-2.0
#include "libcore/mcs/deployment.h"

#include "libcore/mcs/content_hash.h"

namespace yk::mcs {

const Shared<std::string>& default_partition() {
    static const Shared<std::string> kDefault{"default"};
    return kDefault;
}

const Shared<std::string>& no_policy() {
    static const Shared<std::string> kNone{"{}"};
    return kNone;
}

} // namespace yk::mcs

namespace yk::rs {

std::uint64_t ResourceTraits<mcs::Deployment>::content_hash(const mcs::Deployment& row) {
    mcs::ContentHash hash;
    hash.add(row.name).add(*row.partition).add(*row.queue).add(*row.user).add(*row.groups).add(*row.resource);
    hash.add(row.min_replicas).add(row.max_replicas).add(row.replicas.has_value()).add(row.replicas.value_or(0));
    hash.add(std::int64_t{row.priority}).add(*row.policy).add(*row.tags).add(row.is_paused);
    return hash.add(std::uint64_t{static_cast<std::uint8_t>(row.delete_mode)}).value();
}

} // namespace yk::rs
