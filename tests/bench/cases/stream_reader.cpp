// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/cases/stream_reader.h"

#include <chrono>

#include <fmt/format.h>

#include "protocol/wire/codec.h"
#include "tests/bench/cases/decode.h"
#include "tests/bench/measure/measure.h"

namespace yk::bench {

Error to_error(const wire::CallError& error) {
    return {0, error.name + " " + error.message, error.path};
}

Result<std::unique_ptr<StreamReader>> StreamReader::start(const wire::Client& owner, std::string rm_id,
                                                          std::uint64_t stream_epoch) {
    auto attached = wire::Client::attach(owner);
    if (!attached.ok()) return to_error(attached.error());
    std::unique_ptr<StreamReader> reader{new StreamReader{std::move(rm_id), stream_epoch}};
    reader->thread_ =
        std::thread{[self = reader.get(), poller = std::shared_ptr<wire::Client>{std::move(attached).value()}] {
            self->poll(*poller);
        }};
    return reader;
}

StreamReader::~StreamReader() {
    {
        const std::lock_guard lock{mutex_};
        closing_ = true;
    }
    if (thread_.joinable()) thread_.join(); // a poll waits for a tenth of a second at most
}

Result<double> StreamReader::wait_for(std::uint64_t count) {
    std::unique_lock lock{mutex_};
    while (received_ < count && fault_.empty()) {
        const std::uint64_t before = received_;
        changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return received_ != before || !fault_.empty(); });
        if (received_ == before && fault_.empty())
            fault_ = fmt::format("no allocation for a minute, after {} of {}", received_, count);
    }
    if (!fault_.empty()) return Error{0, fault_, {}};
    return last_;
}

Result<double> StreamReader::wait_for_report() {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, std::chrono::minutes{1}, [&] { return report_ > 0 || !fault_.empty(); });
    if (fault_.empty() && report_ <= 0) fault_ = "no report of the recovery for a minute";
    if (!fault_.empty()) return Error{0, fault_, {}};
    return report_;
}

void StreamReader::poll(wire::Client& poller) {
    std::uint64_t ack = 0;
    while (true) {
        {
            const std::lock_guard lock{mutex_};
            if (closing_) return;
        }
        const auto polled = poll_once(poller, ack);
        if (!polled.ok()) {
            const std::lock_guard lock{mutex_};
            fault_ = "Poll: " + polled.error().text();
            changed_.notify_all();
            return;
        }
        ack = polled.value();
    }
}

/// The number of the last item handled.
Result<std::uint64_t> StreamReader::poll_once(wire::Client& poller, std::uint64_t ack) {
    si::PollRequest request;
    request.rm_id = rm_id_;
    request.stream_epoch = epoch_;
    request.ack = ack;
    request.wait_ms = 100;
    const auto answer = poller.call_raw("Poll", wire::encoded(request));
    if (!answer.ok()) return to_error(answer.error());
    YK_TRY(reply, decode<si::PollReply>(answer.value()));
    std::uint64_t allocations = 0;
    bool reported = false;
    for (const si::StreamItem& item : reply.items) {
        ack = item.n;
        reported = reported || item.kind == "RecoveryReport";
        if (item.kind != "UpdateAllocation") continue;
        YK_TRY(response, decode<si::AllocationResponse>(item.body.bytes));
        allocations += response.made.size();
        if (!response.rejected.empty()) return Error{0, "an ask was rejected: " + response.rejected.front().reason, {}};
    }
    if (allocations > 0 || reported) arrived(allocations, reported);
    return ack;
}

void StreamReader::arrived(std::uint64_t allocations, bool reported) {
    const std::lock_guard lock{mutex_};
    const double now = wall_seconds();
    received_ += allocations;
    if (allocations > 0) last_ = now;
    if (reported) report_ = now;
    changed_.notify_all();
}

} // namespace yk::bench
