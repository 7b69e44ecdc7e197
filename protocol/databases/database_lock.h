// SPDX-License-Identifier: Apache-2.0
#pragma once
// DatabaseLock: says to other programs of this machine that a process uses a database of SQLite as a daemon does. It is
// a lock on a file beside the database, never on the database itself, whose own locks would be lost by that. The system
// frees it at any end of the process.
//
// Owner: the program, for as long as it uses the database. Thread: any.

#include <functional>
#include <string>
#include <utility>

#include "libcore/base/result.h"

namespace yk::rs {

class DatabaseLock {
public:
    enum class How {
        Shared,   // with others that agree with it by leases
        Exclusive // alone: without leases (rs R-145), or as a tool that needs the database to stay as it is (rs R-028)
    };
    /// For Shared it waits for a second at most, for a while_alone(). The error names a process that has the lock.
    [[nodiscard]] static Result<DatabaseLock> take(const std::string& database, How how);
    /// Calls `use`, which is to be short, if no other process has the lock; none gets it meanwhile. False: another one
    /// has it, and nothing was called.
    bool while_alone(const std::function<void()>& use) const;
    ~DatabaseLock();
    DatabaseLock(DatabaseLock&& other) noexcept : file_(std::exchange(other.file_, -1)), how_(other.how_) {}
    DatabaseLock& operator=(DatabaseLock&&) = delete;
    DatabaseLock(const DatabaseLock&) = delete;
    DatabaseLock& operator=(const DatabaseLock&) = delete;

private:
    DatabaseLock(int file, How how) : file_(file), how_(how) {}

    int file_;
    How how_;
};

} // namespace yk::rs
