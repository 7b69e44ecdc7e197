// SPDX-License-Identifier: Apache-2.0
#pragma once
// Disk: what the daemon writes to, with the faults of disks. It is a layer (a "VFS" of SQLite) above files in a folder
// of memory, and remembers what was written and not synced, so that a loss of power can take it back. Of files that the
// daemon writes without SQLite it hears by the World, step by step.
//
// Owner: main(), one for all seeds, since SQLite knows it for as long as the process lives. Thread: one.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/sim/plain_files.h"
#include "tests/sim/world.h"

namespace yk::sim {

/// Probabilities, of each operation.
struct DiskFaults {
    double full = 0, short_write = 0, failed_sync = 0, failed_read = 0;
    [[nodiscard]] bool any() const { return full + short_write + failed_sync + failed_read > 0; }
};

class Disk {
public:
    /// Registers itself with SQLite.
    Disk();
    ~Disk();
    Disk(const Disk&) = delete;
    Disk& operator=(const Disk&) = delete;

    /// An empty disk for a run.
    void begin(World& world);
    /// The state directory.
    [[nodiscard]] const std::string& folder() const { return folder_; }
    [[nodiscard]] DiskFaults& faults() { return faults_; }

    /// From now on nothing reaches it.
    void die() { dead_ = true; }
    /// The same, after so many more operations, in the midst of whatever the daemon does then; calls `died`.
    void die_in(std::uint64_t operations, std::function<void()> died);
    /// How often a fault struck.
    [[nodiscard]] std::uint64_t strikes() const { return strikes_; }
    /// What the daemon does: faults are counted with it.
    void set_state(std::function<std::string()> state) { state_ = std::move(state); }
    /// `power`: what was not synced is lost, or a part of it.
    void revive(bool power);

    // --- for the layer itself -------------------------------------------------------------------
    [[nodiscard]] bool is_dead() const { return dead_; }
    /// An operation begins. False: nothing comes of it.
    [[nodiscard]] bool works();
    /// Pages in the log of SQLite after which it goes into the file.
    [[nodiscard]] int checkpoint_pages() const { return checkpoint_pages_; }
    [[nodiscard]] World& world() { return *world_; }
    /// Before `size` bytes at `at` change: what is there, for a loss of power.
    void remember(const std::string& path, std::int64_t at, std::string before, std::int64_t size_before);
    void synced(const std::string& path);
    void forget(const std::string& path) { unsynced_.erase(path); }
    /// Whether the fault happens now. `what`: for the counters.
    [[nodiscard]] bool strikes(double probability, const char* what);

private:
    struct Change {
        std::int64_t at = 0;
        std::string before;
        std::int64_t size_before = 0;
    };
    void lose_unsynced(const std::string& path, const std::vector<Change>& changes);
    [[nodiscard]] int before(FileStep step, const std::string& path, const std::string& to);
    [[nodiscard]] int fault_of(FileStep step);

    World* world_ = nullptr;
    std::string root_, folder_;
    DiskFaults faults_;
    bool dead_ = false;
    std::uint64_t strikes_ = 0, dies_in_ = 0; // 0: it does not
    std::function<void()> died_;
    std::function<std::string()> state_;
    int checkpoint_pages_ = 0;
    std::map<std::string, std::vector<Change>> unsynced_; // by path, in the order in which they were made
    PlainFiles plain_;
};

} // namespace yk::sim
