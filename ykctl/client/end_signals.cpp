// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/end_signals.h"

#include <csignal>
#include <cstdlib>
#include <utility>

#include "ykctl/cli/failure.h"

namespace yk::cli {
namespace {

timespec timespec_of(std::chrono::milliseconds time) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    return {seconds.count(), std::chrono::nanoseconds(time - seconds).count()};
}

} // namespace

EndSignals::EndSignals() : thread_([this] { run(); }) {}

EndSignals::~EndSignals() {
    {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
    ::pthread_kill(thread_.native_handle(), SIGTERM); // NOLINT(bugprone-bad-signal-to-kill-thread): it is held back
    thread_.join();
}

void EndSignals::on_signal(std::function<void()> call, std::chrono::milliseconds patience) {
    const std::lock_guard lock(mutex_);
    call_ = std::move(call);
    patience_ = patience;
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
    timespec patience{};
    std::function<void()> call;
    {
        const std::lock_guard lock(mutex_);
        if (ending_) return;
        signal_ = signal;
        call = call_;
        patience = timespec_of(patience_);
    }
    changed_.notify_all();
    if (call) call();
    ::sigtimedwait(&set, nullptr, &patience);
    const std::lock_guard lock(mutex_);
    if (!ending_) std::_Exit(static_cast<int>(signal == SIGINT ? Exit::Interrupted : Exit::Ok));
}

} // namespace yk::cli
