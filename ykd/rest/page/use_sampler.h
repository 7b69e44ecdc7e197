// SPDX-License-Identifier: Apache-2.0
#pragma once
// UseSampler: asks the daemon every ten seconds how much of the cluster each queue has, and keeps that for the time
// line of its page.
//
// Owner: OwnPage. Thread: any; it asks on a thread of its own.

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "ykd/rest/exchange/rest_caller.h"
#include "ykd/rest/page/use_history.h"

namespace yk::service {

/// The shares of the queues of one partition, from their documents: the root's maximum is what the cluster has. Pure.
[[nodiscard]] QueueShares shares_of(const wire::Value& queues);

class UseSampler {
public:
    explicit UseSampler(const RestPort& port) : port_(port) {}
    ~UseSampler() { stop(); }
    UseSampler(const UseSampler&) = delete;
    UseSampler& operator=(const UseSampler&) = delete;

    /// Begins; once.
    void start();
    void stop();
    /// As UseHistory::value().
    [[nodiscard]] std::optional<wire::Value> value(const std::string& rm_id, const std::string& partition,
                                                   std::string_view span) const;

private:
    void run();
    void sample(RestCaller& caller);

    const RestPort& port_;
    mutable std::mutex mutex_; // guards the following
    std::condition_variable stopping_;
    std::thread thread_;
    UseHistory history_;
    bool is_stopped_ = false;
};

} // namespace yk::service
