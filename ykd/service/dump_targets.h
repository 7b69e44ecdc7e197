#pragma once
// Whose partitions a dump is about (I-410).

#include <optional>
#include <string>
#include <vector>

#include "ykd/service/call.h"
#include "ykd/service/dump_kinds.h"
#include "ykd/service/rm_table.h"

namespace yk::service {

struct DumpTarget {
    RmPtr rm;
    std::vector<std::string> partitions; // short
};

/// Nothing: the call was answered.
[[nodiscard]] std::optional<std::vector<DumpTarget>> find_targets(const CallPtr& call, const DumpQuery& query);
/// The RMs with a configuration; all when `rm_id` is empty.
[[nodiscard]] std::vector<RmPtr> registered_rms(const CallPtr& call, const std::string& rm_id);

} // namespace yk::service
