// SPDX-License-Identifier: Apache-2.0
#pragma once
// WriteGroup: carries out the writes of services in one transaction, so that many of them cost one wait for
// the disk. One that fails is undone by itself and fails nobody else (rs R-025).

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

    /// Gives schedules the version that they are owed: the one of this id, or (empty) all.
    void flush(const std::string& id);
    [[nodiscard]] WriteOutcome write_alone(const WriteRequest& request);
    [[nodiscard]] WriteOutcome fence_and_write(const WriteRequest& request);
    /// Ends the transaction; the position that its writes have in the change log.
    [[nodiscard]] Result<rs::Cursor, rs::StoreError> end_of_group();

    rs::SqlConnection& connection_;
    const LeaseHolder holder_;
    RaisedSchedules raised_;
    Done flushed_; // an error: what was written before cannot be kept
};

} // namespace yk::mcs
