// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the Scheduler asks the core for, as messages of the interface: requests that stand together and are of one kind
// go into one message, so that the order between kinds stays. Values.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/mcs/replicas/core_requests.h"
#include "protocol/wire/encoded_request.h"

namespace yk::service {

/// Requests of one kind, in their order; at least one.
using CoreBatch = std::vector<mcs::CoreRequest>;

/// Takes the first requests, as many as one message is to hold. REQUIRES: the queue is not empty.
[[nodiscard]] CoreBatch take_batch(mcs::CoreRequests& requests);

/// Of whom the message is.
struct CoreSender {
    std::string rm_id;
    std::string recovery_id; // the label of the recovery
    bool recovers = false;   // it is under way
};
[[nodiscard]] wire::EncodedRequest message_of(const CoreBatch& batch, const CoreSender& sender);

/// What it means for each of them that the message was refused. The release of a replica has no notice for that.
[[nodiscard]] std::vector<mcs::CoreNotice> refusals_of(const CoreBatch& batch, const std::string& reason);

} // namespace yk::service
