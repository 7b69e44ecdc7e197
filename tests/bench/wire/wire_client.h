// SPDX-License-Identifier: Apache-2.0
#pragma once
// WireClient: registers a workload's cluster with a daemon and counts the allocations that come back.
//
// Threads: the caller's sends, that of its StreamReader counts.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "protocol/client/client.h"
#include "protocol/si/messages.h"
#include "tests/bench/wire/daemon_process.h"
#include "tests/bench/wire/stream_reader.h"
#include "tests/bench/workloads/workload.h"

namespace yk::bench {

class WireClient {
public:
    /// Connects, registers with the workload's configuration, nodes and applications, and starts to poll.
    [[nodiscard]] static Result<std::unique_ptr<WireClient>> open(const DaemonAddress& address,
                                                                  const Workload& workload);
    WireClient(const WireClient&) = delete;
    WireClient& operator=(const WireClient&) = delete;

    [[nodiscard]] Result<void> send(const si::AllocationRequest& request);
    /// Sends the first `count` asks of the workload, and returns when all of them are placed.
    [[nodiscard]] Result<void> place_first(std::uint32_t count);
    /// The request with asks `from` to `to` of the workload.
    [[nodiscard]] si::AllocationRequest request(std::uint32_t from, std::uint32_t to) const;
    /// The same, and with it the release of as many asks of the workload from `released` on.
    [[nodiscard]] si::AllocationRequest exchange(std::uint32_t from, std::uint32_t to, std::uint32_t released) const;
    /// To be called before the first ask is sent: when (wall_seconds()) the allocation of each ask arrived. To be read
    /// once wait_for() has returned.
    [[nodiscard]] const std::vector<double>& note_arrivals(std::uint32_t asks) { return reader_->note_arrivals(asks); }
    /// Waits until the daemon keeps nothing any more that it sent: all of it has been acknowledged.
    [[nodiscard]] Result<void> wait_until_acknowledged();
    /// As StreamReader::wait_for().
    [[nodiscard]] Result<double> wait_for(std::uint64_t count) { return reader_->wait_for(count); }

private:
    WireClient(std::unique_ptr<wire::Client> client, const Workload& workload)
        : client_(std::move(client)), workload_(workload) {}
    [[nodiscard]] Result<void> register_all();
    [[nodiscard]] Result<void> register_nodes();
    [[nodiscard]] Result<void> call(const char* kind, const std::string& body);
    std::unique_ptr<wire::Client> client_;
    const Workload& workload_;
    std::unique_ptr<StreamReader> reader_;
};

} // namespace yk::bench
