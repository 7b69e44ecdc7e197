// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the books of an RM as the requests that make a core recover what is in them, in the order of I-220, and as the
// claim that ends the recovery (I-230).

#include <cstddef>
#include <functional>
#include <string>

#include "libcore/base/result.h"
#include "libcore/digest/recovery_kind.h"
#include "protocol/books/book_file.h"
#include "protocol/si/messages.h"
#include "protocol/si/recovery_messages.h"

namespace yk::books {

/// So many elements at most are in one request of a replay, or of a correction of what it restored.
inline constexpr std::size_t kElementsPerRequest = 1000;

/// Takes the requests of a replay, one after the other.
struct ReplaySink {
    using Wants = std::function<bool(RecoveryKind kind, const RecoveryItem& item)>;

    std::function<void(const si::ApplicationRequest&)> applications;
    std::function<void(const si::NodeRequest&)> nodes;
    std::function<void(const si::AllocationRequest&)> allocations;
    Wants wants{};                      // whether an object is sent; it is counted in any case. Empty: all are
    std::function<bool()> wants_asks{}; // whether pending asks are, which come last. Empty: they are
};

/// Sends everything in the file to `sink`, in requests of at most kElementsPerRequest elements. Returns the claim,
/// whose id and attempt are for the caller to set.
[[nodiscard]] Result<si::RecoveryDoneRequest> replay(BookFile& file, const std::string& rm_id, const ReplaySink& sink);

} // namespace yk::books
