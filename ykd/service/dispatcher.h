#pragma once
// The way of a request through the checks, in the order of I-333: bytes, envelope, version, session, kind, role,
// sequence number; then its service.

#include "ykd/service/call.h"

namespace yk::service {

/// Takes a new request through all checks and runs it. A worker thread.
void dispatch(Daemon& daemon, const CallPtr& call);

/// Runs a call whose turn has come, in its session or among large answers, on a worker thread.
void execute_later(Daemon& daemon, const CallPtr& call);

} // namespace yk::service
