// SPDX-License-Identifier: Apache-2.0
#pragma once
// PlainFiles: what a loss of power does to the files that the daemon writes without SQLite. It hears of each step
// before it is made, and remembers what was not synced: the text of files, and the names that were given and taken
// away, which the disk knows only with their folder.
//
// Owner: Disk. Thread: one.

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/world.h"

namespace yk::sim {

class PlainFiles {
public:
    /// All that was done is on the disk.
    void forget();
    /// A step that nothing prevents.
    void note(FileStep step, const std::string& path, const std::string& to);
    /// Of the names that were not synced those that were changed last are as before, and files that were not synced are
    /// cut somewhere. Returns whether anything was lost.
    bool lose_unsynced(World& world);

private:
    /// A file got another text, or went, with its name.
    struct Renamed {
        std::string path;
        std::optional<std::string> before; // its text; nothing: it was not there
    };
    void remember(const std::string& path);

    std::vector<Renamed> renamed_; // in the order in which it happened
    std::set<std::string> unsynced_;
};

} // namespace yk::sim
