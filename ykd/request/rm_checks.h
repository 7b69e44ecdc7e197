// SPDX-License-Identifier: Apache-2.0
#pragma once
// The checks of the RM that a request names, in the order registered, not lost, owned by the session (I-366).
// Thread: any, if nothing else is said.

#include "ykd/process/daemon_settings.h"
#include "ykd/process/memory_guard.h"
#include "ykd/request/call.h"
#include "ykd/rm/rm_table.h"

namespace yk::service {

/// Who may send the request.
enum class Ownership {
    Owner,        // the session that registered the RM, or an admin with `impersonate`
    OwnerOrAdmin, // the same, or any admin (I-180)
    Viewer,       // every session that sees the RM's objects (I-412)
};

/// Whether the session sees the RM's objects (I-412); false: the call was answered.
[[nodiscard]] bool sees_rm(const CallPtr& call, const std::string& rm_id);

/// The refusal of what a lost RM is asked to do: E_RESYNC_REQUIRED, with why it is lost, also apart from the words
/// (I-371).
[[nodiscard]] wire::ErrorReply resync_required(const std::string& rm_id, const std::string& why);

/// Finds the RM and checks that the session may use it; nullptr: the call was answered. Counts as a sign of life of the
/// RM when its owner asks. `rm_id` is not empty.
[[nodiscard]] RmPtr find_rm(const RmTable& rms, const CallPtr& call, const std::string& rm_id, bool impersonate,
                            Ownership ownership);

/// Whether an input whose turn has come on the owner thread is still meant for this registration. If another session
/// registered the RM since, it was meant for the former one. `epoch`: of the registration that find_rm() found.
[[nodiscard]] bool is_meant_for(const Call& call, const Rm& rm, std::uint64_t epoch);

/// Whether it is the RM of MCS, which is the daemon itself, and somebody else asks.
[[nodiscard]] bool is_daemons_own(const McsSettings& mcs, const Call& call, const std::string& rm_id);

/// Whether a process serves the RM: the session that registered it last has an open connection.
[[nodiscard]] bool is_served(SessionTable& sessions, const RmFacts& facts);

/// Whether an RM may grow to about `bytes` bytes in all; if memory is too short for that, the call was answered.
[[nodiscard]] bool has_memory(const MemoryGuard& memory, const CallPtr& call, std::uint64_t bytes);

/// The `on_closed` of a closure for the RM's owner thread: answers E_RM_UNKNOWN when the RM was closed before its turn.
[[nodiscard]] RmThread::Gone rm_left(const CallPtr& call, const std::string& rm_id);

} // namespace yk::service
