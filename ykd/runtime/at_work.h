#pragma once
// AtWork: what a thread is doing, for the last words of the process.
//
// An exception that leaves an owner thread's turn has interrupted a change of the core: accounts may be half booked. So
// nothing catches it and the process ends, at the place where it was thrown (a core dump shows it); the supervisor
// starts it anew. What ends it is not guessed afterwards: each thread says what it is at, and the last words name it.

#include <string>

namespace yk {

/// `what` is a literal; `whose` outlives the thread, nullptr: nobody's.
struct AtWork {
    const char* what = "something";
    const std::string* whose = nullptr;
};

/// This thread's.
[[nodiscard]] inline AtWork& at_work() {
    static thread_local AtWork mine;
    return mine;
}

/// From now on an exception that nobody catches, on whatever thread, is told on stderr with what was at work, before
/// the process aborts.
void install_last_words();

} // namespace yk
