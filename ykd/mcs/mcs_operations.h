// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsOperations: what an operator may have MCS do when something seems lost (rs R-157).
//
// Owner: McsApplication. Thread: its owner's.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/mcs/kinds.h"
#include "libcore/resource_state/state_manager.h"
#include "protocol/databases/housekeeping/mcs_dead_letters.h"
#include "ykd/mcs/mcs_connections.h"
#include "ykd/mcs/row_inspection.h"

namespace yk::service {

class McsOperations {
public:
    using Kinds = std::array<const rs::Informer*, mcs::kKinds.size()>;

    /// All must outlive it.
    McsOperations(rs::StateManager& manager, const McsConnections& connections, Kinds kinds)
        : manager_(manager), connections_(connections), kinds_(kinds) {}

    /// Whether there is a row with this id, or something is to be done for one.
    [[nodiscard]] bool knows(rs::Kind kind, std::string_view id) const;
    /// Why the row cannot be understood as it was last read; empty: it can, or is not known.
    [[nodiscard]] std::string fault_of(rs::Kind kind, std::string_view id) const { return look_at(kind, id).broken; }
    /// Reads every row of a kind, or of all of them (nullopt), and has the reconcilers look.
    void resync(std::optional<rs::Kind> kind, Instant now);
    /// Reads one row and has its handlers called.
    void reconcile(rs::Kind kind, std::string_view id, Instant now);
    /// Tries again at once what failed too often: of a kind or of all, of one id or of all (empty). Returns how many.
    std::size_t retry(std::optional<rs::Kind> kind, std::string_view id, Instant now);
    /// Gives the change log another name, as after a restore: all processes that follow it read every row anew, and a
    /// relay has those behind it do so (rs R-032, rs R-048). It writes the database.
    [[nodiscard]] Result<void, rs::StoreError> bump_epoch(std::string_view name);
    /// The next ones after a key. It reads the database.
    [[nodiscard]] Result<std::vector<mcs::DeadLetter>, rs::StoreError> dead_letters(const mcs::DeadLetterKey& after,
                                                                                    std::size_t most);
    /// One key in the cache, in the database, and with the handlers (rs R-156). It reads the database.
    [[nodiscard]] Result<RowInspection, rs::StoreError> inspect(rs::Kind kind, const std::string& id) const;

private:
    [[nodiscard]] rs::KeyStatus look_at(rs::Kind kind, std::string_view id) const;

    rs::StateManager& manager_;
    const McsConnections& connections_;
    const Kinds kinds_;
};

} // namespace yk::service
