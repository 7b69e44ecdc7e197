// SPDX-License-Identifier: Apache-2.0
#pragma once
// StateDumper: the file that SIGUSR1 writes into the state directory: everything, as `ykctl dump all` writes it.

#include <string>

#include "ykd/dump/dump_making.h"

namespace yk::service {

/// Owner: Daemon. It must live until its threads have ended: in the program, until the process ends. Thread: any.
class StateDumper {
public:
    StateDumper(std::string directory, const RmTable& rms, DumpSnapshots& snapshots, DumpMaker& maker)
        : directory_(std::move(directory)), rms_(rms), snapshots_(snapshots), maker_(maker) {}

    /// Starts a thread that writes the dump, list by list and chunk by chunk, so that a million asks take no more
    /// memory than a hundred, and logs the file's name, or what failed. Returns at once. Without a state directory
    /// nothing happens.
    void write();

private:
    void write_file(const Value& brief);

    const std::string directory_; // empty: none
    const RmTable& rms_;
    DumpSnapshots& snapshots_;
    DumpMaker& maker_;
};

} // namespace yk::service
