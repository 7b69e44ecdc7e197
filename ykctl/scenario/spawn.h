#pragma once
// A private daemon for the length of a command: `--spawn` of scenario run and replay, and tests.

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
    std::chrono::milliseconds timeout{30000}; // until it must have answered Hello; one that ends is noticed at once
};

/// A running ykd of our own on an ipc socket in a fresh directory below /tmp.
///
/// Owner: the command that started it. Thread: any one thread, which must outlive the daemon (the kernel ends the
/// daemon with the thread that started it).
/// Invariant: while the object lives there is one child process and one directory; both are gone when it is destroyed,
/// and also when the command is ended by SIGINT, SIGTERM or SIGHUP.
class PrivateDaemon {
public:
    /// Starts ykd: that of $YKD, else the one beside the running program, else the first on PATH. Returns when it
    /// answers Hello; the error of one that does not start holds what it wrote to stderr.
    [[nodiscard]] static Result<std::unique_ptr<PrivateDaemon>> start(const SpawnOptions& options);
    ~PrivateDaemon();
    PrivateDaemon(const PrivateDaemon&) = delete;
    PrivateDaemon& operator=(const PrivateDaemon&) = delete;

    [[nodiscard]] const std::string& url() const { return url_; }
    [[nodiscard]] pid_t pid() const { return pid_; }
    /// What it wrote to stderr so far, at most the last 64 KiB.
    [[nodiscard]] std::string log() const;
    /// `it was ended by signal 11 (Segmentation fault)`; empty while it runs.
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
    int status_ = 0; // as waitpid() tells it, once pid_ is -1 again
    int log_fd_ = -1;
    int slot_ = -1; // place in the table that the signal handler reads
    std::string directory_, socket_, url_;
};

/// Ends all private daemons and removes their directories. For programs that leave by _exit from a signal of their own.
void kill_private_daemons() noexcept;

} // namespace yk::scenario
