// SPDX-License-Identifier: Apache-2.0
#pragma once
// AtWork: what a thread is doing, for the message that the process prints when it ends by an exception.
//
// An exception that leaves an owner thread's turn has interrupted a change of the core: its sums may be inconsistent.
// So nothing catches it, and the process ends where it was thrown, which a core dump shows; the supervisor starts it
// anew. So that nobody has to guess what the thread was doing, each thread notes it here, and the message names it.

#include <string>

namespace yk {

struct AtWork {
    const char* what = "something";     // a literal
    const std::string* whose = nullptr; // the RM's id, which outlives the thread; nullptr: the work is of no RM
};

/// What the calling thread is doing; to be written by that thread. Costs nothing.
[[nodiscard]] inline AtWork& at_work() {
    static thread_local AtWork mine;
    return mine;
}

/// Installs a terminate handler: an exception that nobody catches, on whatever thread, is reported on stderr with what
/// the thread was doing, before the process aborts.
void install_last_words();

} // namespace yk
