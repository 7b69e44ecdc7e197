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
#include <vector>

#include "protocol/rm/rm_client.h"

namespace yk::bench {

/// Threads: its own, and one that waits.
class StreamReader final : rm::RmProgram {
public:
    /// Polls over a connection of its own for the RM that `owner` has registered: to that request it got `answer`.
    [[nodiscard]] static Result<std::unique_ptr<StreamReader>> start(const wire::Client& owner, std::string rm_id,
                                                                     const std::string& answer);
    ~StreamReader() override;

    /// To be called before the first ask is sent: when (wall_seconds()) the allocation of each ask of the workload
    /// arrived, in its key's order. To be read once wait_for() has returned.
    [[nodiscard]] const std::vector<double>& note_arrivals(std::uint32_t asks) {
        arrivals_.assign(asks, 0);
        return arrivals_;
    }

    /// When (wall_seconds()) allocation number `count` had arrived. Error: what stopped the stream, or a minute without
    /// any allocation.
    [[nodiscard]] Result<double> wait_for(std::uint64_t count);
    /// When the report of a recovery had arrived, which comes behind everything that was restored.
    [[nodiscard]] Result<double> wait_for_report();

private:
    StreamReader(std::unique_ptr<wire::Client> poller, std::string rm_id);
    void poll();
    void publish();
    void stop(std::string fault);
    rm::Handled handle(const si::StreamItem& item) override;
    void daemon_is_gone(const std::string& why) override { stop("the daemon is gone: " + why); }
    bool pause(std::chrono::milliseconds /*time*/) override { return false; } // nothing is tried again

    const std::unique_ptr<wire::Client> poller_;
    rm::ClientLink link_;
    rm::RmClient client_;
    std::uint64_t made_ = 0;       // allocations, since the last publish()
    std::vector<double> arrivals_; // by ask; empty: nobody wants to know
    bool reported_ = false;
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
