// SPDX-License-Identifier: Apache-2.0
#pragma once
// MemoryWrites: carries out the writes of the Autoscaler on rows in memory, with the answers that
// libcore/mcs/writes.h promises. A test says what goes wrong.

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "libcore/mcs/write_call.h"
#include "tests/support/mcs/row_checks.h"
#include "tests/support/resource_state/memory_database.h"

namespace yk::testing {

class MemoryWrites {
public:
    MemoryWrites(MemoryDatabase& database, MemoryStore<mcs::Deployment>& deployments,
                 MemoryStore<mcs::DeploymentScale>& scales)
        : database_(database), deployments_(deployments), scales_(scales) {}

    [[nodiscard]] mcs::WriteOutcome carry_out(const mcs::WriteRequest& request) {
        if (request.writer.service != mcs::owner_of(request.command)) return mcs::NotOwner{"not its owner"};
        if (request.writer.lease_epoch != lease_epoch) return mcs::Fenced{"another instance leads"};
        if (fault)
            if (auto outcome = fault(request)) return *std::move(outcome);
        const std::uint64_t before = database_.last();
        mcs::WriteOutcome outcome = std::visit([this](const auto& command) { return put(command); }, request.command);
        if (database_.last() != before) log.push_back(line_of(request.command));
        return outcome;
    }

    /// What is wrong with a write, if anything: nothing is written then.
    std::function<std::optional<mcs::WriteOutcome>(const mcs::WriteRequest&)> fault;
    std::uint64_t lease_epoch = 1;
    std::vector<std::string> log; // that changed something: `insert web 3`, `update web 4`, `delete web`

private:
    using What = mcs::Conflict::What;

    template <class Command>
    mcs::WriteOutcome put(const Command&) {
        return mcs::Fatal{"not here"};
    }
    mcs::WriteOutcome put(const mcs::InsertScale& command) {
        const std::string& id = command.row.meta.id;
        if (!has_owner(deployments_, command.row.owner)) return mcs::Conflict{What::OwnerGone, id, 0};
        const auto found = scales_.rows().find(id);
        if (found != scales_.rows().end() && found->second.owner.uid == command.row.owner.uid)
            return mcs::Conflict{What::Exists, id, found->second.meta.version};
        if (found != scales_.rows().end()) scales_.drop(id);
        scales_.create(command.row);
        return written_to(scales_, id, database_);
    }
    mcs::WriteOutcome put(const mcs::UpdateScale& command) {
        const std::string& id = command.row.meta.id;
        if (auto refused = refusal_of(scales_, id, command.expect)) return *std::move(refused);
        scales_.change(id, [&](mcs::DeploymentScale& row) {
            const auto [meta, owner] = std::pair{row.meta, row.owner};
            row = command.row;
            row.meta = meta;
            row.owner = owner;
        });
        return written_to(scales_, id, database_);
    }
    mcs::WriteOutcome put(const mcs::DeleteScale& command) {
        const auto found = scales_.rows().find(command.id);
        if (found == scales_.rows().end()) return mcs::Written{command.expect.uid, 0, {}};
        if (command.only_if_orphaned && has_owner(deployments_, found->second.owner))
            return mcs::Conflict{What::NotOrphaned, command.id, found->second.meta.version};
        if (auto refused = refusal_of(scales_, command.id, command.expect)) return *std::move(refused);
        scales_.drop(command.id);
        return mcs::Written{command.expect.uid, 0, {}};
    }

    [[nodiscard]] static std::string line_of(const mcs::WriteCommand& command) {
        if (const auto* const insert = std::get_if<mcs::InsertScale>(&command))
            return "insert " + insert->row.meta.id + " " + std::to_string(insert->row.desired);
        if (const auto* const update = std::get_if<mcs::UpdateScale>(&command))
            return "update " + update->row.meta.id + " " + std::to_string(update->row.desired);
        return "delete " + mcs::id_of(command);
    }

    MemoryDatabase& database_;
    MemoryStore<mcs::Deployment>& deployments_;
    MemoryStore<mcs::DeploymentScale>& scales_;
};

} // namespace yk::testing
