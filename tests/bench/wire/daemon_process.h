// SPDX-License-Identifier: Apache-2.0
#pragma once
// A private ykd in a folder of its own, ended with its owner.

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libcore/base/result.h"

namespace yk::bench {

/// Where a daemon listens, and what a client shows there.
struct DaemonAddress {
    std::string url;
    std::string token; // empty: none is needed
};

struct DaemonSetup {
    bool has_state = false;    // it keeps the books of detached RMs
    bool has_tcp = false;      // it listens there, too
    std::string settings = {}; // the text of its settings file
};

class DaemonProcess {
public:
    /// Starts `program`; it may not listen yet when this returns. Error: why it cannot be started.
    [[nodiscard]] static Result<std::unique_ptr<DaemonProcess>> start(const std::string& program,
                                                                      const DaemonSetup& setup = {});
    ~DaemonProcess();
    DaemonProcess(const DaemonProcess&) = delete;
    DaemonProcess& operator=(const DaemonProcess&) = delete;

    [[nodiscard]] std::string url() const { return "ipc://" + folder_ + "/socket"; }
    [[nodiscard]] DaemonAddress address() const { return {url(), {}}; }
    /// REQUIRES: it was set up so.
    [[nodiscard]] DaemonAddress tcp_address() const;
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
    DaemonProcess(std::string program, std::string folder, bool has_state, int tcp_port)
        : program_(std::move(program)), folder_(std::move(folder)), has_state_(has_state), tcp_port_(tcp_port) {}
    [[nodiscard]] std::vector<std::string> arguments() const;
    [[nodiscard]] Result<void> launch();
    void end(int signal);

    const std::string program_, folder_;
    const bool has_state_;
    const int tcp_port_; // 0: it does not listen there
    pid_t pid_ = -1;
};

} // namespace yk::bench
