// SPDX-License-Identifier: Apache-2.0
#pragma once
// What libcore/mcs/writes.h promises of each write of a row, for rows in memory.

#include <optional>
#include <string>

#include "libcore/mcs/writes.h"
#include "tests/support/resource_state/memory_database.h"

namespace yk::testing {

/// Why the row cannot be written; nullopt: it is the one that is expected.
template <class T>
[[nodiscard]] std::optional<mcs::WriteOutcome> refusal_of(MemoryStore<T>& store, const std::string& id,
                                                          const rs::Expect& expect) {
    using What = mcs::Conflict::What;
    const auto found = store.rows().find(id);
    if (found == store.rows().end() || found->second.meta.uid != expect.uid) return mcs::Conflict{What::RowGone, id, 0};
    const std::int64_t version = found->second.meta.version;
    if (expect.version != 0 && expect.version != version) return mcs::Conflict{What::RowChanged, id, version};
    return std::nullopt;
}

/// The row was written just now.
template <class T>
[[nodiscard]] mcs::Written written_to(MemoryStore<T>& store, const std::string& id, const MemoryDatabase& database) {
    const rs::ResourceMeta& meta = store.rows().find(id)->second.meta;
    return {meta.uid, meta.version, database.head()};
}

/// Whether the owner is there, with its uid.
[[nodiscard]] inline bool has_owner(MemoryStore<mcs::Deployment>& deployments, const mcs::Owner& owner) {
    const auto found = deployments.rows().find(owner.id);
    return found != deployments.rows().end() && found->second.meta.uid == owner.uid;
}

} // namespace yk::testing
