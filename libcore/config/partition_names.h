// SPDX-License-Identifier: Apache-2.0
#pragma once
// The names of the partitions that run, found by the names in a new configuration: there the case of letters
// makes no difference (C-030), while requests name a partition exactly (I-111).

#include <map>
#include <string>

#include "libcore/config/names.h"

namespace yk::config {

class PartitionNames {
public:
    void add(const std::string& name) { by_lower_.emplace(lower(name), name); }
    /// The name of the running partition that `name` means, whatever its case; `name` itself when none runs.
    [[nodiscard]] const std::string& running(const std::string& name) const {
        const auto found = by_lower_.find(lower(name));
        return found == by_lower_.end() ? name : found->second;
    }

private:
    std::map<std::string, std::string> by_lower_;
};

} // namespace yk::config
