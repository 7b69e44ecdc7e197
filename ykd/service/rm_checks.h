#pragma once
// The checks of an rmID, in the order of I-366: registered, not lost, owned by the session.

#include "ykd/service/call.h"
#include "ykd/service/rm_table.h"

namespace yk::service {

enum class Ownership {
    Owner,        // the session that registered it, or an admin who says `impersonate`
    OwnerOrAdmin, // an admin need not say so (I-180)
    Viewer,       // who sees its objects (I-412)
};

/// Whether the session sees the RM's objects (I-412); false: the call was answered.
[[nodiscard]] bool sees_rm(const CallPtr& call, const std::string& rm_id);

/// The RM, or nullptr after the call was answered. `rm_id` is not empty.
[[nodiscard]] RmPtr find_rm(const CallPtr& call, const std::string& rm_id, bool impersonate, Ownership ownership);

/// An input comes up on the owner thread, perhaps behind a registration: if that was another session's, the input was
/// meant for what the RM was before. `epoch`: of the registration that find_rm() looked at.
[[nodiscard]] bool is_meant_for(const Call& call, const Rm& rm, std::uint64_t epoch);

/// Whether a process serves the RM: the session that registered it last has a connection (B13).
[[nodiscard]] bool is_served(Daemon& daemon, const RmFacts& facts);

/// Whether an RM may come to hold `bytes`, in all and roughly; if not, for want of memory, the call is answered.
[[nodiscard]] bool has_memory(const CallPtr& call, std::uint64_t bytes);

/// For what is posted to the RM's owner thread: answers E_RM_UNKNOWN when the RM has left before its turn came.
[[nodiscard]] RmOwner::Gone rm_left(const CallPtr& call, const std::string& rm_id);

} // namespace yk::service
