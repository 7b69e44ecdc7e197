// SPDX-License-Identifier: Apache-2.0
#pragma once
// Translator: turns SI messages into commands of the core. A command refers to the message's texts by string_view; none
// is copied.

#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/ports/command.h"
#include "protocol/si/messages.h"
#include "ykd/core_gateway/call_reply.h"

namespace yk {

/// Reuses the vectors of the last command, so that a batch costs no memory allocation per element.
/// Owner: CoreGateway. Thread: the owner thread of the RM.
class Translator {
public:
    /// Called for a value that is ignored or replaced: the logger's name and a sentence.
    using Warn = std::function<void(std::string_view logger, const std::string& sentence)>;

    explicit Translator(Warn warn) : warn_(std::move(warn)) {}

    // Each returns a command that is valid until the next call and while the message lives.
    [[nodiscard]] const AllocationRequest& translate(const si::AllocationRequest& message);
    /// `user_faults`: one text for each of message.add, see UserDirectory::resolve.
    [[nodiscard]] const ApplicationRequest& translate(const si::ApplicationRequest& message,
                                                      std::span<const std::string> user_faults);
    [[nodiscard]] const NodeRequest& translate(const si::NodeRequest& message);
    /// The answer to call number `call`; it refers to the texts of `reply`.
    [[nodiscard]] static CallAnswer translate(std::uint64_t call, const CallReply& reply);

private:
    void fill_application(ApplicationSpec& to, const si::AddApplicationRequest& from);
    void fill_queue_tags(ApplicationSpec& to);

    Warn warn_;
    AllocationRequest allocation_;
    ApplicationRequest application_;
    std::deque<std::optional<si::Resources>> quotas_; // what application_ views besides the message
    NodeRequest node_;
};

} // namespace yk
