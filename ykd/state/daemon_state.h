// SPDX-License-Identifier: Apache-2.0
#pragma once
// DaemonState: what the daemon itself keeps in the state directory, beside the books of detached RMs: how often it was
// started, the levels of loggers that were set while it ran, and of each RM that a process serves the active
// configuration with its history (docs/spec/interface.md, I-270 to I-272).
//
// Owner: Daemon. Thread: any; open() and stop() by the one that starts and ends the daemon. A file that cannot be used
// is set aside, or left alone when a newer daemon wrote it, named in the log and in Degraded, and never half used.

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/books/book_file.h"
#include "ykd/process/degraded.h"
#include "ykd/state/kept_files.h"

namespace yk::service {

/// The configurations of an RM.
struct KeptConfigurations {
    std::string policy_group;
    bool from_file = false;                     // the active one is that of the policy group's file
    std::vector<books::KeptConfiguration> list; // the oldest first, at least one
};

class DaemonState {
public:
    using Levels = std::map<std::string, std::string>; // extraConfig: `log.level`, `log.NAME.level`

    /// `directory`: the state directory; empty: nothing is kept.
    DaemonState(std::string directory, Degraded& degraded);
    ~DaemonState() { stop(); }
    DaemonState(const DaemonState&) = delete;
    DaemonState& operator=(const DaemonState&) = delete;

    /// Reads what an earlier daemon left, and counts this start. REQUIRES: this process alone uses the directory.
    [[nodiscard]] Result<void> open();
    [[nodiscard]] bool is_open() const { return open_; }
    /// Writes what waits. Nothing is kept afterwards.
    void stop() { files_.stop(); }
    /// How often a daemon was started with this directory, this time included; 0: that is not kept.
    [[nodiscard]] std::uint64_t boots() const { return boots_; }

    [[nodiscard]] Levels levels() const;
    /// Keeps all levels that were set, as `levels` returns them. Calls `done` when they are written, or cannot be
    /// written at once; `kept`: they outlive the daemon. REQUIRES: a later call of `levels`, by whichever thread,
    /// returns no earlier levels.
    void keep_levels(const std::function<Levels()>& levels, std::function<void(bool kept)> done);

    /// What is kept of an RM; nothing: none, or it cannot be used, which is reported. May wait for the disk.
    [[nodiscard]] std::optional<KeptConfigurations> configurations(const std::string& rm_id);
    /// `make` is called on a thread that writes files.
    void keep_configurations(const std::string& rm_id, std::function<KeptConfigurations()> make);
    void forget_configurations(const std::string& rm_id);
    /// As KeptFiles::when_written().
    void when_written(std::function<void()> call) { files_.when_written(std::move(call)); }

private:
    [[nodiscard]] std::string folder() const { return directory_ + "/kept"; }
    [[nodiscard]] std::string daemon_file() const { return folder() + "/daemon"; }
    [[nodiscard]] std::string path_of(const std::string& rm_id) const;
    [[nodiscard]] std::optional<std::string> read(const std::string& path, std::string_view what);
    void read_daemon_file();
    void look_at_configurations();
    void put_daemon_file();
    [[nodiscard]] std::string daemon_text() const;
    void set_aside(const std::string& path, const std::string& why);
    [[nodiscard]] bool may_write(const std::string& path) const;

    const std::string directory_;
    Degraded& degraded_;
    KeptFiles files_;
    bool open_ = false;
    std::uint64_t boots_ = 0;
    mutable std::mutex mutex_; // guards the rest
    Levels levels_;
    std::set<std::string> foreign_; // files that are left alone
};

} // namespace yk::service
