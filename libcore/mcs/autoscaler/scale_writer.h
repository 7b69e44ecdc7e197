// SPDX-License-Identifier: Apache-2.0
#pragma once
// ScaleWriter: hands out the writes of the Autoscaler, one at a time for each scale, and none any more once another
// instance has its lease.
//
// Owner: Autoscaler. Thread: its owner's.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "libcore/mcs/write_call.h"
#include "libcore/resource_state/event_handler.h"

namespace yk::mcs {

class ScaleWriter {
public:
    using Take = std::function<void(const WriteOutcome& outcome, Instant now)>;

    /// Both must outlive the writes that were handed out.
    explicit ScaleWriter(WriteQueue& queue) : queue_(queue) {}

    /// Whether a write of the scale is under way.
    [[nodiscard]] bool is_writing(std::string_view id) const { return writing_.contains(id); }
    /// Whether the database has refused this lease: another instance leads, and nothing is to be written (rs R-090).
    [[nodiscard]] bool is_fenced(const rs::Lease& lease) const { return fenced_ && lease.epoch <= *fenced_; }
    /// REQUIRES: no write of this scale is under way.
    void write(const rs::Lease& lease, WriteCommand command, Take take);

private:
    WriteQueue& queue_;
    std::set<std::string, std::less<>> writing_; // ids of scales
    std::optional<std::uint64_t> fenced_;        // the latest lease that was refused
};

/// What the outcome of a write of a scale means for the handler that wanted it (rs R-090). A row that is there already,
/// or whose Deployment has gone or is there after all, needs nothing: an event of its own says what comes next.
[[nodiscard]] rs::HandlerResult result_of(const WriteOutcome& outcome, bool is_delete);

} // namespace yk::mcs
