// SPDX-License-Identifier: Apache-2.0
#pragma once
// A scripted peer for client tests: a REP socket on a thread that shows each request to a function and sends what that
// says. It knows no sessions of its own; Hello is answered from what the test set.

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "protocol/wire/body_reader.h"
#include "protocol/wire/envelope.h"

namespace yk::test {

struct NoReply {}; // no reply ever
struct Cut {};     // the connection is closed instead of a reply
struct Raw {
    std::string bytes;
};
using Answer = std::variant<wire::Value, wire::ErrorReply, NoReply, Cut, Raw>;

/// A request as it came.
struct Seen {
    std::string kind;
    std::uint64_t id = 0;
    std::string sid;
    std::optional<std::uint64_t> seq;
    std::uint32_t ttl_ms = 0;
    wire::Value body;
};

class FakeDaemon {
public:
    /// `answer` runs on the daemon's thread, for every kind but Hello, unless `script_hello`.
    explicit FakeDaemon(const std::string& url, std::function<Answer(const Seen&)> answer);
    ~FakeDaemon();
    FakeDaemon(const FakeDaemon&) = delete;
    FakeDaemon& operator=(const FakeDaemon&) = delete;

    /// What Hello answers from now on.
    void set_hello(wire::Value reply);
    void set_script_hello() { script_hello_ = true; }
    /// Of a tcp listener on port 0.
    [[nodiscard]] int port() const;
    [[nodiscard]] std::vector<Seen> seen() const;
    /// Those of one kind.
    [[nodiscard]] std::vector<Seen> seen(const std::string& kind) const;

private:
    struct Impl;
    void run();
    Answer answer_to(const Seen& request);

    std::function<Answer(const Seen&)> answer_;
    std::atomic<bool> script_hello_{false};
    std::atomic<bool> stopping_{false};
    mutable std::mutex mutex_;
    wire::Value hello_;
    std::vector<Seen> seen_;
    std::unique_ptr<Impl> impl_;
    std::thread thread_;
};

/// A Hello reply: session `sid` and boot `boot` are repeated to 16 bytes.
[[nodiscard]] wire::Value hello_reply(char sid, char boot, bool resumed = false, std::uint64_t last_seq = 0);

} // namespace yk::test
