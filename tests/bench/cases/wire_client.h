// SPDX-License-Identifier: Apache-2.0
#pragma once
// WireClient: registers a workload's cluster with a daemon and counts the allocations that come back.
//
// Threads: the caller's sends; one of its own polls, acknowledges and counts. Errors of that thread end the waiting.

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "protocol/client/client.h"
#include "protocol/si/messages.h"
#include "tests/bench/workloads/workload.h"

namespace yk::bench {

class WireClient {
public:
    /// Connects, registers with the workload's configuration, nodes and applications, and starts to poll.
    [[nodiscard]] static Result<std::unique_ptr<WireClient>> open(const std::string& url, const Workload& workload);
    ~WireClient();
    WireClient(const WireClient&) = delete;
    WireClient& operator=(const WireClient&) = delete;

    [[nodiscard]] Result<void> send(const si::AllocationRequest& request);
    /// The request with asks `from` to `to` of the workload.
    [[nodiscard]] si::AllocationRequest request(std::uint32_t from, std::uint32_t to) const;
    /// When (wall_seconds()) allocation number `count` had arrived. Error: what stopped the stream, or a minute without
    /// any allocation.
    [[nodiscard]] Result<double> wait_for(std::uint64_t count);

private:
    WireClient(std::unique_ptr<wire::Client> client, const Workload& workload)
        : client_(std::move(client)), workload_(workload) {}
    [[nodiscard]] Result<void> register_all();
    [[nodiscard]] Result<void> register_nodes();
    [[nodiscard]] Result<void> call(const char* kind, const std::string& body);
    void poll(wire::Client& poller);
    [[nodiscard]] Result<std::uint64_t> poll_once(wire::Client& poller, std::uint64_t ack);
    void arrived(std::uint64_t allocations);

    std::unique_ptr<wire::Client> client_;
    const Workload& workload_;
    std::uint64_t stream_epoch_ = 0;
    std::thread poller_;

    std::mutex mutex_; // guards the rest
    std::condition_variable changed_;
    std::uint64_t received_ = 0;
    double last_ = 0; // when
    std::string fault_;
    bool closing_ = false;
};

} // namespace yk::bench
