// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cgroups: a cgroup (version 2) for each command, where this process may make some: below its own cgroup, if that was
// delegated to it. All that a command starts stays in its cgroup and ends with it, whatever process groups it makes.
// Where the controllers are delegated too, memory and processor time have a limit.

#include <cstdint>
#include <optional>
#include <string>

#include "libcore/base/result.h"
#include "protocol/posix/descriptor.h"

namespace yk::work {

struct Limits {
    std::optional<std::int64_t> memory_bytes{};
    std::optional<std::int64_t> cpu_milli{}; // 1000: one processor
};

/// Owner: Commands. Thread: one.
class Cgroups {
public:
    /// Those below the cgroup of this process, which it goes into a child of so that the controllers can be handed on.
    /// An error says why there are none.
    [[nodiscard]] static Result<Cgroups> below_own();
    /// Those below this folder, an absolute path without a slash at its end, whose controllers are handed on.
    [[nodiscard]] static Cgroups below(std::string folder);

    /// Empty: limits are enforced. Else why not.
    [[nodiscard]] const std::string& no_limits() const { return no_limits_; }
    /// Ends what is in those whose names begin so, and removes them.
    void end_all(const std::string& prefix) const;
    /// Makes a cgroup of this name, which nothing of this process has. One that is there is of another one that had the
    /// same number and is gone: what it left is ended.
    [[nodiscard]] Result<void> make(const std::string& name, const Limits& limits) const;
    /// Sets the limits of one that is there; what is absent stays as it is. Nothing is set while there is no_limits().
    [[nodiscard]] Result<void> limit(const std::string& name, const Limits& limits) const;
    /// Its cgroup.procs, for a process to go into it.
    [[nodiscard]] Result<Descriptor> entrance(const std::string& name) const;
    /// Ends all that is in it, at once.
    void kill(const std::string& name) const;
    /// False: something in it has not ended yet.
    [[nodiscard]] bool remove(const std::string& name) const;

private:
    void end(const std::string& name) const;

    explicit Cgroups(std::string folder) : folder_(std::move(folder)) {}
    [[nodiscard]] std::string path(const std::string& name, const char* file) const {
        return folder_ + "/" + name + "/" + file;
    }

    std::string folder_;
    std::string no_limits_;
};

} // namespace yk::work
