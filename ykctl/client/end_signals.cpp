// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/end_signals.h"

#include <csignal>
#include <cstdlib>

#include "ykctl/cli/failure.h"

namespace yk::cli {
namespace {

constexpr timespec kGrace{1, 0};

} // namespace

EndSignals::EndSignals() : thread_([this] { run(); }) {}

EndSignals::~EndSignals() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    ::pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
}

int EndSignals::wait(std::chrono::milliseconds time) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, time, [this] { return signal_ != 0; });
    return signal_;
}

void EndSignals::run() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    int signal = 0;
    ::sigwait(&set, &signal);
    {
        const std::lock_guard lock(mutex_);
        if (ending_) return;
        signal_ = signal;
    }
    changed_.notify_all();
    ::sigtimedwait(&set, nullptr, &kGrace);
    const std::lock_guard lock(mutex_);
    if (!ending_) std::_Exit(static_cast<int>(signal == SIGINT ? Exit::Interrupted : Exit::Ok));
}

} // namespace yk::cli
