#pragma once
// Whether a full dump agrees with itself (S-181): sums over allocations, and that what is named is there.

#include <string>
#include <vector>

#include "protocol/wire/value.h"

namespace yk::cli {

struct DumpFault {
    std::string place;  // `[rm]partition`
    std::string object; // `node n-1`, `alloc web/w-1`
    std::string text;

    friend bool operator==(const DumpFault&, const DumpFault&) = default;
};

/// `full`: the data of `dump all`. In the order of the dump.
[[nodiscard]] std::vector<DumpFault> verify_dump(const wire::Value& full);

} // namespace yk::cli
