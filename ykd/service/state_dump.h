#pragma once
// What SIGUSR1 writes into the state directory (ecosystem.md 5.2): everything, as `ykctl dump all` does.

namespace yk::service {

class Daemon;

/// Has a thread of its own write the dump, list by list and piece by piece, so that it takes no more memory for a
/// million asks than for a few; logs where, or what went wrong. Returns at once. REQUIRES: the settings name a state
/// directory; the daemon lives until the process ends.
void dump_to_state_directory(Daemon& daemon);

} // namespace yk::service
