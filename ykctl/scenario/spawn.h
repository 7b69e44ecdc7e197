// SPDX-License-Identifier: Apache-2.0
#pragma once
// PrivateDaemon: a daemon that runs as long as a command, for `--spawn` of scenario run and replay, and for tests.

#include <chrono>
#include <memory>
#include <string>
#include <sys/types.h>
#include <vector>

#include "libcore/base/result.h"

namespace yk::scenario {

struct SpawnOptions {
    bool manual_schedule = false;
    bool virtual_clock = false;
    std::vector<std::string> arguments;       // further ones for ykd, such as {"--config", FILE}
    std::chrono::milliseconds timeout{30000}; // for its answer to Hello; a daemon that ends before is noticed at once
};

/// A running ykd that this process started, on an ipc socket in a new directory below /tmp.
///
/// Owner: the command that started it. Thread: any one thread, which must outlive the daemon (the kernel ends the
/// daemon with the thread that started it).
/// Invariant: while the object lives there is one child process and one directory; both are removed by its
/// destructor, and also when SIGINT, SIGTERM or SIGHUP ends the command.
class PrivateDaemon {
public:
    /// Starts ykd: that of $YKD, else the one beside the running program, else the first on PATH. Returns when it
    /// answers Hello; if it does not start, the error contains what it wrote to stderr.
    [[nodiscard]] static Result<std::unique_ptr<PrivateDaemon>> start(const SpawnOptions& options);
    ~PrivateDaemon();
    PrivateDaemon(const PrivateDaemon&) = delete;
    PrivateDaemon& operator=(const PrivateDaemon&) = delete;

    [[nodiscard]] const std::string& url() const { return url_; }
    [[nodiscard]] pid_t pid() const { return pid_; }
    /// What it wrote to stderr so far, at most the last 64 KiB.
    [[nodiscard]] std::string log() const;
    /// How the daemon ended: `it was ended by signal 11 (Segmentation fault)`; empty while it runs.
    [[nodiscard]] std::string how_it_ended();
    /// Ends it at once (SIGKILL) and removes the directory.
    void stop();

private:
    PrivateDaemon() = default;
    Result<void> make_directory();
    Result<void> launch(const SpawnOptions& options);
    Result<void> wait_until_ready(std::chrono::milliseconds timeout);
    [[nodiscard]] bool has_ended();

    pid_t pid_ = -1;
    int status_ = 0; // from waitpid(), once pid_ is -1 again
    int log_fd_ = -1;
    int slot_ = -1; // index in the table that the signal handler reads
    std::string directory_, socket_, url_;
};

/// Ends all private daemons and removes their directories. For programs that leave by _exit from a signal of their own.
void kill_private_daemons() noexcept;

} // namespace yk::scenario
