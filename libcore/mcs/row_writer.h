// SPDX-License-Identifier: Apache-2.0
#pragma once
// RowWriter: hands out the writes of a service, one at a time for each row, and none any more once another instance has
// the service's lease.
//
// Owner: the service. Thread: its owner's.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/mcs/refused_lease.h"
#include "libcore/mcs/write_call.h"
#include "libcore/resource_state/event_handler.h"

namespace yk::mcs {

class RowWriter {
public:
    using Take = std::function<void(const WriteOutcome& outcome, Instant now)>;

    /// `queue` and this must outlive the writes that were handed out.
    RowWriter(WriteQueue& queue, std::string_view service) : queue_(queue), service_(service) {}

    /// Whether a write of the row is under way.
    [[nodiscard]] bool is_writing(std::string_view id) const { return writing_.contains(id); }
    /// Whether the database has refused this lease: another instance leads, and nothing is to be written (rs R-090).
    [[nodiscard]] bool is_fenced(const rs::Lease& lease) const { return refused_.is(lease.epoch); }
    /// Why the service cannot write the row now, as the result of a handler that wanted to; nullopt: it can.
    [[nodiscard]] std::optional<rs::HandlerResult> refusal(std::string_view id, const rs::Lease& lease) const;
    /// REQUIRES: no write of this row is under way.
    void write(const rs::Lease& lease, WriteCommand command, Take take);

private:
    WriteQueue& queue_;
    const std::string service_;
    std::set<std::string, std::less<>> writing_; // ids of rows
    RefusedLease refused_;
};

/// What the outcome of a write of a row means for the handler that wanted it (rs R-090). A row that is there already,
/// or whose Deployment has gone or is there after all, needs nothing: an event of its own says what comes next.
[[nodiscard]] rs::HandlerResult result_of(const WriteOutcome& outcome, bool is_delete);

} // namespace yk::mcs
