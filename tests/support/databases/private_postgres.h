// SPDX-License-Identifier: Apache-2.0
#pragma once
// PrivatePostgres: a server of PostgreSQL that this process starts for its tests, in a folder of its own below /tmp,
// reached by a socket there and by no network. It ends with the process, however that ends: a process beside it watches
// (rs R-149).
// What fails is thrown as std::runtime_error.

#include <sys/types.h>

#include <string>
#include <vector>

namespace yk::testing {

class PrivatePostgres {
public:
    /// The server of this process, started when it is first asked for; nullptr: its programs are not installed.
    [[nodiscard]] static PrivatePostgres* get();

    /// What libpq takes.
    [[nodiscard]] std::string url(const std::string& database) const;
    /// Runs statements in the database that every server has.
    void type(const std::string& sql) const;

    /// To all processes of the server.
    void signal_all(int number) const;
    /// Ends it as a crash does, or in order, and starts it again. Only what was stopped in order has kept all that was
    /// committed while it ran with Disk::Ignored.
    void stop_at_once() const;
    void stop() const;
    enum class Disk { Ignored, Waited }; // the first is fast and keeps nothing for certain
    void start(Disk disk) const;

    /// Crashes, and is a replica afterwards; and then the one that writes.
    void become_replica() const;
    void promote() const;

    /// Copies all files of the server, of all its databases, while it is stopped for that. It runs afterwards. The copy
    /// replaces an earlier one, and takes about 100 MiB of the disk.
    void keep_copy() const;
    /// Stops it and puts the copy, which is used up by that, in the place of its files: what was committed since then
    /// is lost, as by a restore (a Primary), or by a failover to a replica that lagged behind (a Replica, to be
    /// promoted).
    enum class Role { Primary, Replica };
    void go_back_to_copy(Role role) const;

    explicit PrivatePostgres(std::string programs);
    ~PrivatePostgres();
    PrivatePostgres(const PrivatePostgres&) = delete;
    PrivatePostgres& operator=(const PrivatePostgres&) = delete;

private:
    [[nodiscard]] std::string data() const { return folder_ + "/data"; }
    [[nodiscard]] std::string copy() const { return folder_ + "/copy"; }
    /// It begins as a replica when it is started next.
    void mark_as_replica() const;
    void watch();
    /// Runs a program of the server, or of the system by its whole path, as a user that the server accepts, and
    /// requires that it succeeds.
    void run(const std::vector<std::string>& command) const;

    const std::string programs_; // the folder that has them
    std::string folder_ = "/tmp/ykpg.XXXXXX";
    int end_ = -1; // when all of them are closed, the watcher stops the server
    pid_t watcher_ = -1;
};

} // namespace yk::testing
