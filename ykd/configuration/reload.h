// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reload: what SIGHUP, --watch-config and the request Reload (`ykctl config reload`, the unit's ExecReload) do, all the
// same. It rereads peers and tokens, checks every configuration file, applies each file to the RMs that follow it, and
// reopens the log file. An RM whose configuration came from elsewhere keeps it, and the report names it (C-469).

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykd/configuration/config_change.h"
#include "ykd/rm/rm_table.h"
#include "ykd/runtime/call_watch.h"
#include "ykd/runtime/deadlines.h"
#include "ykd/session/access_files.h"

namespace yk::service {

struct ReloadRequest {
    std::string rm_id;      // only this RM, without peers and tokens; empty: everything
    bool from_file = false; // also RMs whose configuration came from elsewhere: they follow their file again
    bool dry_run = false;   // nothing is changed
    std::string message{};  // why, for the history
    bool follow_up = false; // begun by the daemon for one RM: logged only when it changes or refuses something
};

/// The outcome for one RM.
struct RmReload {
    enum class Result {
        Active,    // the file's configuration has become active, or would in a dry run
        Unchanged, // the file's configuration was active before
        Refused,   // it keeps what it has, because of the file, its state or its store
        Kept,      // it keeps what it has, which did not come from the file
        NoFile,    // there is no file for it
        Left,      // it was unregistered meanwhile, or registered anew
        UnderWay   // it was not done in time: the RM is still storing the text, or is busy
    };
    std::string rm_id;
    Result result = Result::UnderWay;
    std::string file;    // of its policy group; empty: none
    std::string origin;  // of the configuration that it had before
    std::string reason;  // why it was refused, or why it is Left
    wire::Value changes; // only in a dry run, as changes_of() has them
};

struct ReloadReport {
    struct File {
        std::string path;
        std::string refusal; // empty: it is good
        wire::Value problems = wire::Value::array();
    };
    bool dry_run = false;
    std::optional<std::string> access; // why peers and tokens stay as they were; empty: reread; nothing: not tried
    std::vector<File> files;           // by path
    std::vector<RmReload> rms;         // by id

    /// Whether nothing was refused.
    [[nodiscard]] bool good() const;
    /// One line for people with all outcomes. The reasons of refusals are not in it; they were logged before.
    [[nodiscard]] std::string text() const;
};

/// A `patience` in which each RM that stores its configurations has answered, or is too late.
inline constexpr auto kStorePatience = std::chrono::duration_cast<std::chrono::milliseconds>(kConfigStoreLimit) * 2;

/// Carries reloads out. Owner: Daemon. Thread: any.
class Reloader {
public:
    struct Parts {
        ConfigFiles& files;
        AccessFiles& access;
        ConfigChanger& changer;
        RmTable& rms;
        Deadlines& deadlines;
        Workers& workers;
    };
    explicit Reloader(const Parts& parts) : parts_(parts) {}

    /// Begins a reload. `done` is called once, on any thread, soon after `patience` at the latest. Logs and remembers
    /// the outcome.
    void reload(const ReloadRequest& request, std::chrono::milliseconds patience,
                std::function<void(const ReloadReport&)> done);
    /// How the last reload ended, for the service manager; empty: there was none.
    [[nodiscard]] std::string last() const;

private:
    class UnderWay;

    void remember(std::string text);

    const Parts parts_;
    mutable std::mutex mutex_;
    std::string last_;
};

/// The report as the answer to a Reload request.
[[nodiscard]] wire::Value report_value(const ReloadReport& report);

/// The path of the file that the RM would follow; empty: there is none.
[[nodiscard]] std::string file_of(const ConfigFiles& files, const RmFacts& facts);
/// Whether the RM's configuration came from elsewhere although there is a file for it: a reload leaves it alone.
[[nodiscard]] bool differs_from_file(const ConfigFiles& files, const RmFacts& facts);
/// The command that makes an RM follow its file again.
[[nodiscard]] std::string way_back(const std::string& rm_id);

} // namespace yk::service
