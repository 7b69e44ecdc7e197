#pragma once
// Reload: the one meaning of that word. SIGHUP, --watch-config and the request Reload (`ykctl config reload`, the
// unit's ExecReload) reread peers and tokens, check every configuration file, give each RM that follows its file what
// the file says now, and reopen the log file. An RM whose configuration came from elsewhere keeps it, and is named
// (C-469).

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykd/runtime/call_watch.h"
#include "ykd/service/rm_table.h"

namespace yk::service {

class Daemon;

struct ReloadRequest {
    std::string rm_id;      // only this one, peers and tokens not; empty: all
    bool from_file = false; // also of those whose configuration came from elsewhere: they follow their file again
    bool dry_run = false;   // nothing is changed
    bool follow_up = false; // the daemon's own, of one RM: only told of when it changes something
};

/// What became of one RM.
struct RmReload {
    enum class Result {
        Active,    // what the file says is active since now, or would be (dry run)
        Unchanged, // it was, before
        Refused,   // keeps what it has, because of the file, its state or its store
        Kept,      // keeps what it has, which is not the file's
        NoFile,    // there is no file for it
        Gone,      // it was unregistered meanwhile, or registered anew
        UnderWay   // not within the time: the RM stores it, or is busy
    };
    std::string rm_id;
    Result result = Result::UnderWay;
    std::string file;    // its group's; empty: none
    std::string origin;  // of what it has
    std::string reason;  // of a refusal
    wire::Value changes; // of a dry run
};

struct ReloadReport {
    struct File {
        std::string path;
        std::string refusal; // empty: it is good
        wire::Value problems = wire::Value::array();
    };
    bool dry_run = false;
    std::optional<std::string>
        access;                // of peers and tokens: why they stay as they were, empty: reread; none: not tried
    std::vector<File> files;   // by path
    std::vector<RmReload> rms; // by id

    /// Nothing was refused.
    [[nodiscard]] bool good() const;
    /// One line for people: what became of each. Why something was refused is logged before.
    [[nodiscard]] std::string text() const;
};

/// For `patience`: until each RM that stores its configurations has answered, or is too late.
inline constexpr auto kStorePatience = std::chrono::duration_cast<std::chrono::milliseconds>(kConfigStoreLimit) * 2;

/// `done` is called once, on any thread, at the latest after `patience`. Logs and remembers the outcome.
void reload(Daemon& daemon, const ReloadRequest& request, std::chrono::milliseconds patience,
            std::function<void(const ReloadReport&)> done);

/// The file that the RM would follow; empty: there is none.
[[nodiscard]] std::string file_of(Daemon& daemon, const RmFacts& facts);
/// Its configuration is another one than the file's on purpose, so that a reload leaves it alone.
[[nodiscard]] bool differs_from_file(Daemon& daemon, const RmFacts& facts);
/// The command by which an RM follows its file again.
[[nodiscard]] std::string way_back(const std::string& rm_id);

} // namespace yk::service
