// SPDX-License-Identifier: Apache-2.0
#pragma once
// WriteGroup: carries out the writes of services in one transaction, so that many of them cost one wait for
// the disk. One that fails is undone by itself and fails nobody else (rs R-025): mostly none does, so they are tried
// together first, and with a savepoint for each only when one has failed.

#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libcore/mcs/write_port.h"
#include "protocol/databases/mcs_commands.h"

namespace yk::mcs {

/// Who this process is in the table of leases.
struct LeaseHolder {
    std::string name;
    bool has_leases = true; // false: this process alone has the database, and nobody is fenced (rs R-145)
};

/// Owner: whoever owns the connection. Thread: one call at a time.
class WriteGroup final : public WritePort {
public:
    WriteGroup(rs::SqlConnection& connection, LeaseHolder holder)
        : connection_(connection), holder_(std::move(holder)) {}

    [[nodiscard]] GroupOutcome write(std::span<const WriteRequest* const> requests) override;

private:
    using Done = Result<void, rs::StoreError>;
    using Requests = std::span<const WriteRequest* const>;
    enum class Undo : std::uint8_t { Together, Each };

    /// In a transaction of its own. `group`: what is refused already, and Written for what is to be done. Nullopt: one
    /// of several failed, or was in another one's way, and all are undone together and worth a second try.
    [[nodiscard]] std::optional<GroupOutcome> carry_out(Requests requests, GroupOutcome group, Undo undo);
    /// Gives schedules the version that they are owed: the one of this id, or (empty) all.
    void flush(const std::string& id);
    [[nodiscard]] WriteOutcome write_alone(const WriteRequest& request);
    [[nodiscard]] WriteOutcome fence_and_write(const WriteRequest& request);
    [[nodiscard]] WriteOutcome write_in_turn(const WriteRequest& request);
    /// Ends the transaction; the position that its writes have in the change log.
    [[nodiscard]] Result<rs::Cursor, rs::StoreError> end_of_group();

    rs::SqlConnection& connection_;
    const LeaseHolder holder_;
    /// Services with the leases that they have, as this transaction has seen; until its end nobody else gets those.
    std::set<std::pair<std::string, std::uint64_t>> leading_;
    RaisedSchedules raised_;
    Done flushed_; // an error: what was written before cannot be kept
};

} // namespace yk::mcs
