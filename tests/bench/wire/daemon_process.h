// SPDX-License-Identifier: Apache-2.0
#pragma once
// A private ykd in a folder of its own, ended with its owner.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "libcore/base/result.h"

namespace yk::bench {

class DaemonProcess {
public:
    /// Starts `program`; it may not listen yet when this returns. `with_state`: it keeps the books of detached RMs.
    /// `settings`: the text of its settings file. Error: why it cannot be started.
    [[nodiscard]] static Result<std::unique_ptr<DaemonProcess>>
    start(const std::string& program, bool with_state = false, const std::string& settings = {});
    ~DaemonProcess();
    DaemonProcess(const DaemonProcess&) = delete;
    DaemonProcess& operator=(const DaemonProcess&) = delete;

    [[nodiscard]] std::string url() const { return "ipc://" + folder_ + "/socket"; }
    /// Ends it with SIGKILL and starts it anew, with the state it has.
    [[nodiscard]] Result<void> kill_and_start();
    /// Sends a signal by which it ends, and does not wait for that.
    void signal(int number) const;
    /// What it logged, for an error message.
    [[nodiscard]] std::string log() const;
    /// Processor time so far, seconds.
    [[nodiscard]] double cpu_seconds() const;
    /// Peak resident set so far, bytes.
    [[nodiscard]] std::uint64_t peak_rss() const;

private:
    DaemonProcess(std::string program, std::string folder, bool with_state)
        : program_(std::move(program)), folder_(std::move(folder)), with_state_(with_state) {}
    [[nodiscard]] Result<void> launch();
    void end(int signal);

    const std::string program_, folder_;
    const bool with_state_;
    pid_t pid_ = -1;
};

} // namespace yk::bench
