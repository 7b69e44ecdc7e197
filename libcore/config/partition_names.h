#pragma once
// The names of the partitions that run, found by the names in a new configuration: the case of letters does not tell
// partitions apart there (C-030), while requests name a partition exactly (I-111).

#include <map>
#include <string>

#include "libcore/config/names.h"

namespace yk::config {

class PartitionNames {
public:
    void add(const std::string& name) { by_lower_.emplace(lower(name), name); }
    /// That of the partition which runs, however it is written here; `name` itself when none does.
    [[nodiscard]] const std::string& running(const std::string& name) const {
        const auto found = by_lower_.find(lower(name));
        return found == by_lower_.end() ? name : found->second;
    }

private:
    std::map<std::string, std::string> by_lower_;
};

} // namespace yk::config
