#pragma once
// SI messages as commands of the core. The commands view the message's texts; nothing is copied. Elements of another
// RM's partition are left out and reported (I-111).

#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/scheduler/callbacks.h"
#include "libcore/scheduler/command.h"
#include "protocol/si/messages.h"

namespace yk::service {

/// Keeps the vectors of the last command, so that a batch costs no allocation per element. Owner thread.
class Translator {
public:
    // Each returns a command that is valid until the next call and while the message lives.
    [[nodiscard]] const AllocationRequest& translate(const si::AllocationRequest& message, std::string_view rm_id);
    /// `user_faults`: one text for each of message.add, see UserDirectory::resolve.
    [[nodiscard]] const ApplicationRequest& translate(const si::ApplicationRequest& message, std::string_view rm_id,
                                                      std::span<const std::string> user_faults);
    [[nodiscard]] const NodeRequest& translate(const si::NodeRequest& message, std::string_view rm_id);
    /// Reports what the last translation left out. After the command was applied.
    void report_foreign(Callbacks& callbacks) const;

private:
    void clear_foreign();
    void fill_application(ApplicationSpec& to, const si::AddApplicationRequest& from);
    void fill_queue_tags(ApplicationSpec& to);

    AllocationRequest allocation_;
    ApplicationRequest application_;
    std::deque<std::optional<si::Resources>> quotas_; // what application_ views besides the message
    NodeRequest node_;
    std::vector<RejectedAsk> foreign_asks_, foreign_allocations_;
    std::vector<IgnoredRelease> foreign_releases_;
    std::vector<RejectedApplication> foreign_applications_;
    std::vector<RefusedNode> foreign_nodes_, failed_nodes_;
};

} // namespace yk::service
