// SPDX-License-Identifier: Apache-2.0
#pragma once
// What a core has of an RM that recovers, as a line of text: counts, then what is not as it should be, if there is any:
//
//   nodes=1 apps=1 allocations=2 asks=0
//   quarantined=[allocation app/k on n: APP_UNKNOWN; application app: QUEUE_INVALID; node n: NEGATIVE]
//   incomplete=[n missing=vcore:2 surplus=gpu:1 booked=3 has=2] tombstones=1 faults=[...]
//
// What is in another partition than `default` stands behind `partition:`.

#include <string>

#include "libcore/ports/recovery.h"

namespace yk::testing {

[[nodiscard]] std::string text_of(const RecoveryView& view);

/// The digests of each partition: `default: 3 nodes 8f.. 2 applications 07.. 0 allocations 00..; gpu: ...`.
[[nodiscard]] std::string digest_text(const RecoveryView& view);

} // namespace yk::testing
