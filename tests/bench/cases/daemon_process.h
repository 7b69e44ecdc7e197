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
    /// Starts `program`; it may not listen yet when this returns. Error: why it cannot be started.
    [[nodiscard]] static Result<std::unique_ptr<DaemonProcess>> start(const std::string& program);
    ~DaemonProcess();
    DaemonProcess(const DaemonProcess&) = delete;
    DaemonProcess& operator=(const DaemonProcess&) = delete;

    [[nodiscard]] std::string url() const { return "ipc://" + folder_ + "/socket"; }
    /// What it logged, for an error message.
    [[nodiscard]] std::string log() const;
    /// Processor time so far, seconds.
    [[nodiscard]] double cpu_seconds() const;
    /// Peak resident set so far, bytes.
    [[nodiscard]] std::uint64_t peak_rss() const;

private:
    DaemonProcess(std::string folder, pid_t pid) : folder_(std::move(folder)), pid_(pid) {}

    std::string folder_;
    pid_t pid_;
};

} // namespace yk::bench
