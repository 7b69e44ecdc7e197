// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which RMs and partitions a dump is about (I-410). Thread: any.

#include <optional>
#include <string>
#include <vector>

#include "ykd/dump/dump_kinds.h"
#include "ykd/request/call.h"
#include "ykd/rm/rm_table.h"

namespace yk::service {

/// Who the dump is for.
struct Viewer {
    SessionPtr session; // null: the daemon itself, which may see everything

    [[nodiscard]] bool may_see(const std::string& rm_id) const { return !session || session->may_see(rm_id); }
};
[[nodiscard]] inline Viewer viewer_of(const Call& call) {
    return {call.session};
}

/// The partitions of one RM that a dump is about.
struct DumpTarget {
    RmPtr rm;
    std::vector<std::string> partitions; // short names
};

/// Whether it is a dump of names and totals, which a session of role rm may have of every RM (I-412).
[[nodiscard]] bool is_open_to_all(const DumpQuery& query);
/// Whether the session may see the RM that the query names, if it names one. False: the call was answered.
[[nodiscard]] bool check_visible(const CallPtr& call, const DumpQuery& query);
/// The partitions that the query means and the session may see. Nothing: the call was answered.
[[nodiscard]] std::optional<std::vector<DumpTarget>> find_targets(const RmTable& rms, const CallPtr& call,
                                                                  const DumpQuery& query);
/// All partitions of all RMs.
[[nodiscard]] std::vector<DumpTarget> all_targets(const RmTable& rms);
/// The registered RMs that the query means and the viewer may see in such a dump; all of these when the query names no
/// RM.
[[nodiscard]] std::vector<RmPtr> registered_rms(const RmTable& rms, const Viewer& viewer, const DumpQuery& query);

} // namespace yk::service
