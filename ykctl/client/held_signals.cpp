// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/held_signals.h"

#include <csignal>
#include <ctime>

namespace yk::cli {
namespace {

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

} // namespace

HeldSignals::HeldSignals() {
    const auto set = ending_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

HeldSignals::~HeldSignals() {
    const auto set = ending_signals();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

int HeldSignals::wait(std::chrono::milliseconds time) const {
    const auto set = ending_signals();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const timespec limit{seconds.count(), std::chrono::nanoseconds(time - seconds).count()};
    const int signal = sigtimedwait(&set, nullptr, &limit);
    return signal > 0 ? signal : 0;
}

} // namespace yk::cli
