// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the core reports about a recovery (docs/spec/interface.md, section 3): what was restored, what could not be and
// waits in quarantine, and which nodes do not have what the RM has booked on them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/time.h"
#include "libcore/digest/recovery_kind.h"
#include "libcore/ports/view.h"

namespace yk {

/// Why an object is in quarantine (I-242).
enum class QuarantineReason : std::uint8_t {
    AppUnknown,   // an allocation: its application did not arrive yet
    NodeUnknown,  // an allocation: its node did not arrive yet
    AppRejected,  // an allocation: its application was refused
    QueueInvalid, // an application: no queue takes it, which another configuration may change
    NoResource,
    Negative,
    DuplicateNode, // a node that exists with other content
    PlacedTwice,   // an allocation that is on another node as well
    PlaceholderNoGroup
};
inline constexpr std::size_t kQuarantineReasons = static_cast<std::size_t>(QuarantineReason::PlaceholderNoGroup) + 1;
/// How many objects are quarantined for each reason, by its position.
using QuarantineCounts = std::array<std::uint64_t, kQuarantineReasons>;

/// `APP_UNKNOWN`, `NODE_UNKNOWN` ...
[[nodiscard]] std::string_view text_of(QuarantineReason reason) noexcept;

struct QuarantineView {
    RecoveryKind kind{};
    std::string partition; // short
    std::string node, application, key;
    QuarantineReason reason{};
    Instant since;
};

/// A node that does not have what the RM has booked on it (I-221).
struct IncompleteNodeView {
    std::string partition; // short
    std::string node;
    ResourceMapView missing, surplus; // of what is booked; of what the core has beyond that
    std::uint64_t booked_allocations = 0, allocations = 0;
};

/// What the core has of one RM. Each list is cut at `most` entries and at `most_bytes`; their totals are not.
struct RecoveryView {
    struct Partition {
        RecoveryDigests restored;
        std::uint64_t pending_asks = 0;
    };

    static constexpr std::size_t kPerEntry = 200; // bytes of an entry in a message, beside its names; at most

    std::size_t most = 1000;
    std::size_t most_bytes = 512U << 10;         // as entries take them in a message, about: both lists fit one
    std::map<std::string, Partition> partitions; // by short name
    RecoveryDigests quarantined;                 // what an RM counts, but the core does not
    std::vector<IncompleteNodeView> incomplete;
    std::uint64_t incomplete_total = 0;
    std::size_t incomplete_bytes = 0;
    std::vector<QuarantineView> quarantine; // in the order of their arrival, by partition
    std::uint64_t quarantine_total = 0;
    std::size_t quarantine_bytes = 0;
    std::uint64_t unused_tombstones = 0;
    std::vector<std::string> faults; // health checks that failed, in words

    /// Over all partitions.
    [[nodiscard]] recovery::Digest restored(RecoveryKind kind) const;
    [[nodiscard]] std::uint64_t pending_asks() const;
};

/// How far a recovery is.
struct RecoveryProgress {
    std::uint64_t nodes = 0, applications = 0, allocations = 0, pending_asks = 0, quarantined = 0;
    QuarantineCounts quarantined_for{}; // the same, by reason
};

} // namespace yk
