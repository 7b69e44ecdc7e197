// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/page/use_sampler.h"

#include <algorithm>

#include "protocol/si/tool_requests.h"
#include "ykd/rest/exchange/rest_lists.h"
#include "ykd/runtime/clock.h"

namespace yk::service {
namespace {

using wire::Value;

std::string name_of(const std::string& rm_id, const std::string& partition) {
    return rm_id + " " + partition;
}

} // namespace

QueueShares shares_of(const Value& queues) {
    QueueShares shares;
    if (queues.empty()) return shares;
    const auto all = queues.front().find("maxResource");
    if (all == queues.front().end() || !all->is_object()) return shares;
    for (const Value& queue : queues) {
        double most = 0;
        if (const auto used = queue.find("allocatedResource"); used != queue.end() && used->is_object())
            for (const auto& [name, amount] : used->items())
                if (const auto whole = all->value(name, std::int64_t{0}); whole > 0)
                    most = std::max(most, static_cast<double>(amount.get<std::int64_t>()) / static_cast<double>(whole));
        shares[queue["queuename"].get<std::string>()] = static_cast<std::int16_t>(std::min(most * 1000, 30'000.0));
    }
    return shares;
}

void UseSampler::start() {
    const std::lock_guard lock(mutex_);
    if (!thread_.joinable() && !is_stopped_) thread_ = std::thread([this] { run(); });
}

void UseSampler::stop() {
    {
        const std::lock_guard lock(mutex_);
        is_stopped_ = true;
    }
    stopping_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void UseSampler::run() {
    RestCaller caller(port_, "http");
    std::unique_lock lock(mutex_);
    while (!is_stopped_) {
        lock.unlock();
        sample(caller);
        lock.lock();
        stopping_.wait_for(lock, std::chrono::seconds{UseHistory::kEvery}, [this] { return is_stopped_; });
    }
}

/// What cannot be asked now is missing.
void UseSampler::sample(RestCaller& caller) {
    si::DumpRequest request;
    request.what = "clusters";
    const RestReply clusters = caller.ask(request);
    if (!clusters.ok) return;
    for (const Value& one : clusters.body["data"]) {
        request.what = "queues";
        request.partition = one["partition"].get<std::string>();
        request.rm_id = one["rmBuildInformation"].front().value("rmId", std::string{});
        request.flat = request.brief = true;
        request.limit = UseHistory::kMostQueues;
        RestReply queues = caller.ask(request);
        if (!queues.ok) continue;
        const QueueShares shares = shares_of(elements_of(queues.body));
        const std::lock_guard lock(mutex_);
        history_.add(name_of(request.rm_id, request.partition), shares, real_now());
    }
}

std::optional<Value> UseSampler::value(const std::string& rm_id, const std::string& partition,
                                       std::string_view span) const {
    const std::lock_guard lock(mutex_);
    return history_.value(name_of(rm_id, partition), span);
}

} // namespace yk::service
