// SPDX-License-Identifier: Apache-2.0
#pragma once
// McsOperations: what an operator may have MCS do when something seems lost (rs R-157).
//
// Owner: McsApplication. Thread: its owner's.

#include <optional>
#include <string_view>
#include <vector>

#include "libcore/resource_state/state_manager.h"
#include "protocol/databases/housekeeping/mcs_dead_letters.h"

namespace yk::service {

class McsOperations {
public:
    /// Both must outlive it.
    McsOperations(rs::StateManager& manager, rs::SqlConnection& connection)
        : manager_(manager), connection_(connection) {}

    /// Reads every row of a kind, or of all of them (nullopt), and has the reconcilers look.
    void resync(std::optional<rs::Kind> kind, Instant now);
    /// Reads one row and has its handlers called.
    void reconcile(rs::Kind kind, std::string_view id, Instant now);
    /// Tries again at once what failed too often: of a kind or of all, of one id or of all (empty). Returns how many.
    std::size_t retry(std::optional<rs::Kind> kind, std::string_view id, Instant now);
    /// The next ones after a key. It reads the database.
    [[nodiscard]] Result<std::vector<mcs::DeadLetter>, rs::StoreError> dead_letters(const mcs::DeadLetterKey& after,
                                                                                    std::size_t most);

private:
    rs::StateManager& manager_;
    rs::SqlConnection& connection_;
};

} // namespace yk::service
