// SPDX-License-Identifier: Apache-2.0
#pragma once
// Whether a full dump agrees with itself (S-181): sums over allocations are right, and every object named in it exists.

#include <string>
#include <vector>

#include "protocol/wire/value.h"

namespace yk::cli {

struct DumpFault {
    std::string partition; // `[rm]partition`
    std::string object;    // `node n-1`, `alloc web/w-1`
    std::string text;

    friend bool operator==(const DumpFault&, const DumpFault&) = default;
};

/// The faults of `full`, the data of `dump all`, in the order of the dump.
[[nodiscard]] std::vector<DumpFault> verify_dump(const wire::Value& full);

} // namespace yk::cli
