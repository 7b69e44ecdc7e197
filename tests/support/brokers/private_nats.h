// SPDX-License-Identifier: Apache-2.0
#pragma once
// PrivateNats: a server of NATS with JetStream that this process starts for its tests, with its files in a folder of
// its own below /tmp, at 127.0.0.1 and a port that was free. It ends with the process, however that ends: a process
// beside it watches.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace yk::testing {

class PrivateNats {
public:
    /// Whether there is a server program; nothing else stands in for it.
    [[nodiscard]] static bool is_installed();

    PrivateNats();
    ~PrivateNats();
    PrivateNats(const PrivateNats&) = delete;
    PrivateNats& operator=(const PrivateNats&) = delete;

    [[nodiscard]] std::string url() const { return "nats://127.0.0.1:" + std::to_string(port_); }
    /// From its next start it refuses whoever does not give this user and password; empty: it takes anyone.
    void demand(std::string user, std::string password) {
        user_ = std::move(user);
        password_ = std::move(password);
    }
    /// From its next start it takes messages of so many bytes; 0: of 1 MB, as a server that nobody has set does.
    void allow_payload(std::size_t bytes) { most_payload_ = bytes; }
    /// The address with a user and a password.
    [[nodiscard]] std::string url_of(const std::string& user, const std::string& password) const {
        return "nats://" + user + ':' + password + "@127.0.0.1:" + std::to_string(port_);
    }
    /// As a crash does. It can be started again, at the same port and with what it had on its disk.
    void kill();
    void start();
    /// What its disk has now, and that once more, as after a power failure. REQUIRES: it was killed.
    void keep_disk() const;
    void restore_disk() const;
    /// Stopped, and later gone on: it hangs meanwhile.
    void signal(int number) const;

private:
    void watch();

    std::string folder_ = "/tmp/yknats.XXXXXX";
    std::string user_, password_;
    std::size_t most_payload_ = 0;
    std::uint16_t port_ = 0;
    pid_t server_ = -1;
    int end_ = -1; // when all of them are closed, the watcher ends the server
    pid_t watcher_ = -1;
};

} // namespace yk::testing
