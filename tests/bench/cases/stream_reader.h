// SPDX-License-Identifier: Apache-2.0
#pragma once
// StreamReader: polls the stream of an RM on a thread of its own, acknowledges and counts. Errors of that thread end
// the waiting.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "protocol/client/client.h"

namespace yk::bench {

/// Threads: its own, and one that waits.
class StreamReader {
public:
    /// Polls over a connection of its own to the session of `owner`.
    [[nodiscard]] static Result<std::unique_ptr<StreamReader>> start(const wire::Client& owner, std::string rm_id,
                                                                     std::uint64_t stream_epoch);
    ~StreamReader();
    StreamReader(const StreamReader&) = delete;
    StreamReader& operator=(const StreamReader&) = delete;

    /// When (wall_seconds()) allocation number `count` had arrived. Error: what stopped the stream, or a minute without
    /// any allocation.
    [[nodiscard]] Result<double> wait_for(std::uint64_t count);
    /// When the report of a recovery had arrived, which comes behind everything that was restored.
    [[nodiscard]] Result<double> wait_for_report();

private:
    StreamReader(std::string rm_id, std::uint64_t stream_epoch) : rm_id_(std::move(rm_id)), epoch_(stream_epoch) {}
    void poll(wire::Client& poller);
    [[nodiscard]] Result<std::uint64_t> poll_once(wire::Client& poller, std::uint64_t ack);
    void arrived(std::uint64_t allocations, bool reported);

    const std::string rm_id_;
    const std::uint64_t epoch_;
    std::thread thread_;

    std::mutex mutex_; // guards the rest
    std::condition_variable changed_;
    std::uint64_t received_ = 0;
    double last_ = 0, report_ = 0; // when
    std::string fault_;
    bool closing_ = false;
};

/// The error of a call, for a note.
[[nodiscard]] Error to_error(const wire::CallError& error);

} // namespace yk::bench
