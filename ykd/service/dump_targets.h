#pragma once
// Whose partitions a dump is about (I-410).

#include <optional>
#include <string>
#include <vector>

#include "ykd/service/call.h"
#include "ykd/service/dump_kinds.h"
#include "ykd/service/rm_table.h"

namespace yk::service {

/// Who looks.
struct Viewer {
    Daemon& daemon;
    SessionPtr session; // null: the daemon itself, which sees everything

    [[nodiscard]] bool may_see(const std::string& rm_id) const { return !session || session->may_see(rm_id); }
};
[[nodiscard]] inline Viewer viewer_of(const Call& call) {
    return {call.daemon(), call.session};
}

struct DumpTarget {
    RmPtr rm;
    std::vector<std::string> partitions; // short
};

/// I-412: dumps of names and totals, which a session of role rm may have of every RM.
[[nodiscard]] bool is_open_to_all(const DumpQuery& query);
/// False: it asks for objects of an RM that the session may not see, and was answered.
[[nodiscard]] bool check_visible(const CallPtr& call, const DumpQuery& query);
/// Only those that the session may see. Nothing: the call was answered.
[[nodiscard]] std::optional<std::vector<DumpTarget>> find_targets(const CallPtr& call, const DumpQuery& query);
/// All partitions of all RMs.
[[nodiscard]] std::vector<DumpTarget> all_targets(Daemon& daemon);
/// The RMs with a configuration that the viewer may see as far as the dump goes; all when the query names none.
[[nodiscard]] std::vector<RmPtr> registered_rms(const Viewer& viewer, const DumpQuery& query);

} // namespace yk::service
