// SPDX-License-Identifier: Apache-2.0
#pragma once
// Starts a shell with a command, in two steps: first a child that waits, so that whoever has to know of its process
// group can be informed before anything runs, then the command in it.
//
// The child is a session and process group of its own. It has the default signal mask and dispositions, no descriptor
// but the first three, and nothing of the environment but what it is given. One that gets another identity keeps no
// capability of the caller, and can gain no rights by what it executes. Between fork and exec only
// async-signal-safe calls are made, so any thread of a program with many may call this.

#include <sys/resource.h>
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/posix/descriptor.h"

namespace yk::work {

/// As whom a command runs. Never root.
struct Identity {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups{};
};

struct Launch {
    std::string text;                     // for /bin/sh -c
    std::vector<std::string> environment; // NAME=value, all of it
    int input = -1;                       // standard input; -1: /dev/null
    int output = -1;                      // standard output and error; -1: /dev/null
    int cgroup = -1;                      // an open cgroup.procs, into which it goes; -1: none
    std::optional<Identity> identity{};   // absent: that of the caller
    std::string directory{};              // empty: that of the caller; one that it may not enter: /
    std::optional<rlimit> files{};        // its limit of open files; absent: that of the caller
    bool may_be_root = false;             // whether it may run with the uid 0 of the caller
    bool drops_rights = false;            // it keeps no capability and gains none, also without another identity
};

/// A child that waits for release(). When this ends before that, so does the child.
class HeldChild {
public:
    [[nodiscard]] static Result<HeldChild> fork(const Launch& launch);
    ~HeldChild();
    HeldChild(HeldChild&& other) noexcept;
    HeldChild& operator=(HeldChild&&) = delete;
    HeldChild(const HeldChild&) = delete;
    HeldChild& operator=(const HeldChild&) = delete;

    /// Also of its process group and session.
    [[nodiscard]] pid_t pid() const { return pid_; }
    /// Lets the command begin, and returns a pidfd for its end. An error: it could not be started, or did not begin in
    /// 3 seconds, and the child is gone.
    [[nodiscard]] Result<Descriptor> release();

private:
    HeldChild(pid_t pid, uid_t uid, Descriptor channel) : pid_(pid), uid_(uid), channel_(std::move(channel)) {}
    void end();

    pid_t pid_ = -1;
    uid_t uid_ = 0;      // that it is to have
    Descriptor channel_; // a byte lets the child go on; what comes back is why it could not
};

} // namespace yk::work
